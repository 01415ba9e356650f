import { append } from '../../lib/values/append.js';
import type { Rule } from '../../authn/jwt/user-of-claims.js';
import { type FieldErrors, type FieldPath, duplicate, invalid, required } from '../../machinery/field-error.js';
import type { ClaimValidationRule, UserValidationRule } from '../../schema/generated/apiserverconfig.v1.js';
import { compileExpression } from './compile-expression.js';
import type { CompilationState } from './validate-claim-mappings.js';
import type { ValidationContext } from './validation-context.js';

const WITHOUT_GATE = 'not supported when StructuredAuthenticationConfiguration feature gate is disabled';

export interface ValidatedClaimRules {
  readonly errors: FieldErrors;
  readonly rules: readonly Rule[];
  readonly requiredClaims: readonly { readonly claim: string; readonly value: string }[];
}

export function validateClaimRules(
  list: readonly ClaimValidationRule[],
  path: FieldPath,
  context: ValidationContext,
  state: CompilationState,
): ValidatedClaimRules {
  const errors: FieldErrors = [];
  const rules: Rule[] = [];
  const requiredClaims = new Map<string, string>();
  const expressions = new Set<string>();
  list.forEach(({ claim = '', requiredValue = '', expression = '', message = '' }, index) => {
    const at = path.index(index);
    if (expression !== '' && !context.features.enabled('StructuredAuthenticationConfiguration')) {
      errors.push(invalid(at.child('expression'), expression, WITHOUT_GATE));
    }
    if (claim !== '' && expression !== '') {
      errors.push(invalid(at, claim, "claim and expression can't both be set"));
    } else if (claim !== '') {
      if (message !== '') errors.push(invalid(at.child('message'), message, 'may not be specified when claim is set'));
      if (requiredClaims.has(claim)) errors.push(duplicate(at.child('claim'), claim));
      requiredClaims.set(claim, requiredValue);
    } else if (expression === '') {
      errors.push(required(at, 'claim or expression is required'));
    } else {
      if (requiredValue !== '') {
        const why = 'may not be specified when expression is set';
        errors.push(invalid(at.child('requiredValue'), requiredValue, why));
      }
      if (expressions.has(expression)) {
        errors.push(duplicate(at.child('expression'), expression));
        return;
      }
      expressions.add(expression);
      const compiled = compileExpression(context.compiler, {
        text: expression,
        subject: 'claims',
        returns: 'bool',
        path: at.child('expression'),
      });
      append(errors, compiled.errors);
      if (compiled.expression === undefined) return;
      state.usesEmailVerified ||= compiled.expression.selects('email_verified');
      rules.push({ expression: compiled.expression, message });
    }
  });
  return { errors, rules, requiredClaims: Array.from(requiredClaims, ([claim, value]) => ({ claim, value })) };
}

export function validateUserRules(
  list: readonly UserValidationRule[],
  path: FieldPath,
  context: ValidationContext,
): { readonly errors: FieldErrors; readonly rules: readonly Rule[] } {
  const errors: FieldErrors = [];
  const rules: Rule[] = [];
  if (list.length > 0 && !context.features.enabled('StructuredAuthenticationConfiguration')) {
    errors.push(invalid(path, '', `user validation rules are ${WITHOUT_GATE}`));
  }
  const expressions = new Set<string>();
  list.forEach(({ expression, message = '' }, index) => {
    const at = path.index(index).child('expression');
    if (expression === '') errors.push(required(at));
    else if (expressions.has(expression)) errors.push(duplicate(at, expression));
    else {
      expressions.add(expression);
      const compiled = compileExpression(context.compiler, {
        text: expression,
        subject: 'user',
        returns: 'bool',
        path: at,
      });
      append(errors, compiled.errors);
      if (compiled.expression !== undefined) rules.push({ expression: compiled.expression, message });
    }
  });
  return { errors, rules };
}
