// `x-kubernetes-validations`: rules in expressions, on a node of a schema.
import { append } from '../../lib/values/append.js';
import { MAX_REQUEST_BYTES } from '../../cel/environments/declared-type.js';
import type { CompiledRule } from '../../cel/environments/schema-rules.js';
import { MAX_FAULTS } from '../../cel/expression-limits.js';
import type { ExpressionChecker } from '../../cel/expression-check.js';
import {
  type FieldErrors,
  type FieldPath,
  forbidden,
  internal,
  invalid,
  notSupported,
  required,
} from '../../machinery/field-error.js';
import type { ValidationRule } from '../../schema/generated/apiextensions.v1.js';
import { findField } from './field-path-in-schema.js';
import { shownRule } from './internal-form.js';
import type { RuleContext } from './rule-context.js';
import { EXPRESSION_COST_LIMIT, tooCostly } from './rule-cost.js';
import type { Schema } from './schema-walk.js';
import { structuralMistake } from './structural-schema.js';

export interface ExpressionRules {
  readonly checker: ExpressionChecker;
  readonly stored: StoredExpressions;
  /** The version's schema is as it was before. */
  readonly unchanged: boolean;
}

/** The expressions of the stored definition. */
export interface StoredExpressions {
  readonly rules: ReadonlySet<string>;
  readonly messages: ReadonlySet<string>;
}

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

export function validateRuleTexts(schema: Schema, path: FieldPath): FieldErrors {
  return (schema['x-kubernetes-validations'] ?? []).flatMap((rule, i) =>
    validateRuleText(rule, schema, path.child('x-kubernetes-validations').index(i)),
  );
}

function validateRuleText(rule: Readonly<ValidationRule>, schema: Schema, path: FieldPath): FieldErrors {
  const { message = '', messageExpression = '', reason, fieldPath = '' } = rule;
  const errors: FieldErrors = [];
  const text = rule.rule.trim();
  if (text === '') errors.push(required(path.child('rule'), 'rule is not specified'));
  else if (message !== '' && message.trim() === '') {
    errors.push(invalid(path.child('message'), message, 'must be non-empty if specified'));
  } else if (hasLineBreak(message.trim())) {
    errors.push(invalid(path.child('message'), message, 'must not contain line breaks'));
  } else if (hasLineBreak(text) && message.trim() === '') {
    errors.push(required(path.child('message'), 'message must be specified if rule contains line breaks'));
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.push(required(path.child('messageExpression'), 'messageExpression must be non-empty if specified'));
  }
  if (reason !== undefined && !REASONS.includes(reason)) {
    errors.push(notSupported(path.child('reason'), reason, REASONS));
  }
  if (fieldPath === '') return errors;
  const at = path.child('fieldPath');
  if (fieldPath.trim() === '') errors.push(invalid(at, fieldPath, 'must be non-empty if specified'));
  if (hasLineBreak(fieldPath)) errors.push(invalid(at, fieldPath, 'must not contain line breaks'));
  if (structuralMistake(schema) === undefined && 'error' in findField(fieldPath, schema, { brackets: true })) {
    errors.push(invalid(at, fieldPath, 'must be a valid path'));
  }
  return errors;
}

const hasLineBreak = (text: string): boolean => /[\n\r]/.test(text);

/** Whether the rules of a node compile, and what they cost. */
export function checkRules(schema: Schema, context: RuleContext, rules: ExpressionRules, path: FieldPath): FieldErrors {
  const at = path.child('x-kubernetes-validations');
  const found = context.type();
  if ('error' in found) {
    const why = `failed to construct type information for x-kubernetes-validations rules: ${found.error}`;
    return [internal(at, `internal error: ${why}`)];
  }
  if (found.type === undefined) return [internal(at, 'failed to convert to declType for CEL validation rules')];
  const compile = rules.checker.rulesOn(found.type);
  const times = context.cardinality ?? Math.floor(MAX_REQUEST_BYTES / (found.type.minSize + 1));
  return (schema['x-kubernetes-validations'] ?? []).flatMap((rule, i) => {
    if (context.total.faults > MAX_FAULTS) return [];
    const stored = {
      rule: rules.stored.rules.has(rule.rule),
      message: rules.stored.messages.has(rule.messageExpression ?? ''),
    };
    return checkRule(rule, compile(rule, stored), { times, context, rules, path: at.index(i) });
  });
}

interface RulePlace {
  /** How often the rule may run for one object. */
  readonly times: number;
  readonly context: RuleContext;
  readonly rules: ExpressionRules;
  readonly path: FieldPath;
}

function checkRule(rule: Readonly<ValidationRule>, compiled: CompiledRule, place: RulePlace): FieldErrors {
  const { times, context, path } = place;
  const errors = checkCost('estimated rule cost', compiled.cost * times, path.child('rule'), place);
  if (compiled.fault !== undefined || compiled.message?.fault !== undefined) context.total.faults += 1;
  if (compiled.fault !== undefined) errors.push(invalid(path.child('rule'), shownRule(rule), compiled.fault));
  const { message } = compiled;
  if (message?.fault !== undefined) {
    errors.push(invalid(path.child('messageExpression'), shownRule(rule), message.fault));
  } else if (message !== undefined) {
    append(errors, checkCost('estimated messageExpression cost', message.cost, path.child('messageExpression'), place));
  }
  if (compiled.usesOldSelf) {
    if (context.uncorrelated !== undefined) {
      const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${context.uncorrelated.toString()}`;
      errors.push(invalid(path.child('rule'), rule.rule, why));
    }
  } else if (rule.optionalOldSelf !== undefined) {
    const why = 'may not be set if oldSelf is not used in rule';
    errors.push(invalid(path.child('optionalOldSelf'), rule.optionalOldSelf, why));
  }
  return errors;
}

function checkCost(what: string, cost: number, path: FieldPath, { context, rules }: RulePlace): FieldErrors {
  context.total.add(path, cost);
  // What was accepted once stays, even if estimates have become stricter.
  if (rules.unchanged || cost <= EXPRESSION_COST_LIMIT) return [];
  return [forbidden(path, tooCostly(what, cost, EXPRESSION_COST_LIMIT))];
}
