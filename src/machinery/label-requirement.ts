// One condition on a label: its rules, its text, and whether labels meet it.
import { signedOf } from '../lib/values/int64.js';
import { aggregateText, FieldPath, type FieldError, fieldErrorText, invalid } from './field-error.js';
import { isQualifiedName, isValidLabelValue } from './validation/names.js';

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

export type Labels = Readonly<Record<string, string>>;

/** Text or object that is no selector; the message is meant for the client. */
export class SelectorError extends Error {}

export function requirementMatches(
  { key, operator, values }: LabelRequirement,
  labels: Labels | null | undefined,
): boolean {
  const present = labels !== undefined && labels !== null && Object.hasOwn(labels, key);
  const value = present ? (labels[key] as string) : '';
  switch (operator) {
    case 'in':
    case '=':
    case '==':
      return present && values.includes(value);
    case 'notin':
    case '!=':
      return !present || !values.includes(value);
    case 'exists':
      return present;
    case '!':
      return !present;
    case 'gt':
    case 'lt': {
      const [left, right] = [parseInt64(value), parseInt64(values[0] ?? '')];
      if (!present || left === undefined || right === undefined) return false;
      return operator === 'gt' ? left > right : left < right;
    }
  }
}

export function requirementText({ key, operator, values }: LabelRequirement): string {
  if (operator === '!') return `!${key}`;
  if (operator === 'exists') return key;
  const list = values.toSorted().join(',');
  if (operator === 'in' || operator === 'notin') return `${key} ${operator} (${list})`;
  if (operator === 'gt') return `${key}>${list}`;
  if (operator === 'lt') return `${key}<${list}`;
  return key + operator + list;
}

/** Throws SelectorError. */
export function newRequirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  const errors: FieldError[] = [];
  const path = FieldPath.of('values');
  const keyError = checkKey(key, FieldPath.of('key'));
  if (keyError !== undefined) errors.push(keyError);
  const refuseValues = (detail: string): void => {
    errors.push(invalid(path, values.length === 0 ? null : values, detail));
  };
  if (operator === 'in' || operator === 'notin') {
    if (values.length === 0) refuseValues("for 'in', 'notin' operators, values set can't be empty");
  } else if (operator === 'exists' || operator === '!') {
    if (values.length > 0) refuseValues('values set must be empty for exists and does not exist');
  } else if (operator === 'gt' || operator === 'lt') {
    if (values.length !== 1) refuseValues("for 'Gt', 'Lt' operators, exactly one value is required");
    values.forEach((value, position) => {
      if (parseInt64(value) !== undefined) return;
      errors.push(invalid(path.index(position), value, "for 'Gt', 'Lt' operators, the value must be an integer"));
    });
  }
  values.forEach((value, position) => {
    const problems = isValidLabelValue(value);
    if (problems.length > 0) errors.push(invalid(path.index(position).key(key), value, problems.join('; ')));
  });
  if (errors.length > 0) throw new SelectorError(aggregateText(errors.map(fieldErrorText)));
  return { key, operator, values };
}

export function checkKey(key: string, path: FieldPath | undefined): FieldError | undefined {
  const problems = isQualifiedName(key);
  return problems.length === 0 ? undefined : invalid(path, key, problems.join('; '));
}

export function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined;
  return signedOf(text);
}
