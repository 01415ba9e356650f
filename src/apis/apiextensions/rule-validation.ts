// `x-kubernetes-validations`: rules in expressions, on a node of a schema.
import type { ExpressionChecker, SchemaEnvironment } from '../../cel/expression-check.js';
import { type FieldErrors, type FieldPath, invalid, notSupported, required } from '../../machinery/field-error.js';
import type { ValidationRule } from '../../schema/generated/apiextensions.v1.js';
import { findField } from './field-path-in-schema.js';
import { shownRule } from './internal-form.js';
import type { Schema } from './schema-walk.js';
import { structuralMistake } from './structural-schema.js';

export interface ExpressionRules {
  readonly checker: ExpressionChecker | undefined;
  /** Rules and message expressions of the stored definition. */
  readonly stored: ReadonlySet<string>;
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

/** Whether the rules compile on their node. */
export function checkRules(schema: Schema, { checker, stored }: ExpressionRules, path: FieldPath): FieldErrors {
  if (checker === undefined) return [];
  const errors: FieldErrors = [];
  for (const [i, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    const at = path.child('x-kubernetes-validations').index(i);
    const check = (use: SchemaEnvironment['use'], expression: string, member: string): void => {
      const optionalOldSelf = rule.optionalOldSelf === true;
      const why = checker.check(expression, { use, schema, optionalOldSelf, stored: stored.has(expression) });
      if (why !== undefined) errors.push(invalid(at.child(member), shownRule(rule), why));
    };
    check('schema-rule', rule.rule, 'rule');
    if (rule.messageExpression) check('schema-message', rule.messageExpression, 'messageExpression');
  }
  return errors;
}
