import { append } from '../../lib/values/append.js';
import { type ExpressionChecker, checkExpression } from '../../cel/expression-check.js';
import { type FieldErrors, type FieldPath, duplicate, required, tooMany } from '../../machinery/field-error.js';
import { invalidEach } from '../../machinery/validation/fields.js';
import { isQualifiedName } from '../../machinery/validation/names.js';
import type { MatchCondition } from '../../schema/generated/admissionregistration.v1.js';

const MAX_CONDITIONS = 64;

export interface MatchConditionRules {
  readonly checker: ExpressionChecker | undefined;
  /** The conditions may use `params`. */
  readonly params: boolean;
  /** Expressions of the stored object. */
  readonly stored: ReadonlySet<string>;
}

export function validateMatchConditions(
  conditions: readonly MatchCondition[] | undefined,
  { checker, params, stored }: MatchConditionRules,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  const names = new Set<string>();
  const count = conditions?.length ?? 0;
  if (count > MAX_CONDITIONS) errors.push(tooMany(path, count, MAX_CONDITIONS));
  for (const [i, { name, expression }] of (conditions ?? []).entries()) {
    const at = path.index(i);
    const trimmed = expression.trim();
    if (trimmed === '') errors.push(required(at.child('expression')));
    else {
      const known = { params, authorizer: true, composed: false, variables: [] };
      const environment = { use: 'match-condition', ...known, stored: stored.has(trimmed) } as const;
      append(errors, checkExpression(checker, { expression: trimmed, environment, path: at.child('expression') }));
    }
    if (name === '') {
      errors.push(required(at.child('name')));
      continue;
    }
    append(errors, invalidEach(at.child('name'), name, isQualifiedName(name)));
    if (names.has(name)) errors.push(duplicate(at.child('name'), name));
    names.add(name);
  }
  return errors;
}

export const expressionsOf = (conditions: readonly MatchCondition[] | undefined): Set<string> =>
  new Set((conditions ?? []).map(({ expression }) => expression));
