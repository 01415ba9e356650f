// When pods' failures or successes decide over the whole job.
import { append } from '../../../lib/values/append.js';
import { goQuote } from '../../../lib/go/quote.js';
import {
  duplicate,
  type FieldError,
  type FieldErrors,
  type FieldPath,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
} from '../../../machinery/field-error.js';
import { validateNonNegative } from '../../../machinery/validation/fields.js';
import type {
  JobSpec,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
  SuccessPolicyRule,
} from '../../../schema/generated/batch.v1.js';
import { validateQualifiedName } from '../../core/pod/validation/names.js';
import { countIndexes } from './indexes.js';

const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;
const MAX_PATTERNS = 20;
const MAX_INDEXES_LENGTH = 64 * 1024;
const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const OPERATORS = ['In', 'NotIn'];
const STATUSES = ['False', 'True', 'Unknown'];

export function validateFailurePolicy(spec: Readonly<JobSpec>, path: FieldPath): FieldErrors {
  const rules = spec.podFailurePolicy?.rules ?? [];
  const at = path.child('rules');
  const errors: FieldErrors = [];
  if (rules.length > MAX_RULES) errors.push(tooMany(at, rules.length, MAX_RULES));
  for (const [position, rule] of rules.entries()) append(errors, validateRule(spec, rule, at.index(position)));
  return errors;
}

export function validateSuccessPolicy(spec: Readonly<JobSpec>, path: FieldPath): FieldErrors {
  const rules = spec.successPolicy?.rules ?? [];
  const at = path.child('rules');
  const errors: FieldErrors = [];
  if (rules.length === 0) {
    errors.push(required(at, 'at least one rules must be specified when the successPolicy is specified'));
  }
  if (rules.length > MAX_RULES) errors.push(tooMany(at, rules.length, MAX_RULES));
  for (const [position, rule] of rules.entries()) {
    append(errors, validateSuccessRule(rule, spec.completions ?? 0, at.index(position)));
  }
  return errors;
}

const validValues = (values: readonly string[]): string => `valid values: [${values.map(goQuote).join(' ')}]`;

/** An error about a value that is not shown, being too long or of no help. */
export function withoutValue(path: FieldPath, detail: string): FieldError {
  return { type: 'FieldValueInvalid', field: path.toString(), body: `Invalid value: ${detail}` };
}

function validateRule(spec: Readonly<JobSpec>, rule: Readonly<PodFailurePolicyRule>, path: FieldPath): FieldErrors {
  const { action, onExitCodes, onPodConditions = [] } = rule;
  const at = path.child('action');
  const errors: FieldErrors = [];
  if (action === '') errors.push(required(at, validValues(ACTIONS)));
  else if (action === 'FailIndex') {
    if (spec.backoffLimitPerIndex === undefined) {
      errors.push(invalid(at, action, 'requires the backoffLimitPerIndex to be set'));
    }
  } else if (!ACTIONS.includes(action)) errors.push(notSupported(at, action, ACTIONS));
  if (onExitCodes) append(errors, validateExitCodes(onExitCodes, spec, path.child('onExitCodes')));
  append(errors, validatePatterns(onPodConditions, path.child('onPodConditions')));
  if (onExitCodes && onPodConditions.length > 0) {
    errors.push(withoutValue(path, 'specifying both OnExitCodes and OnPodConditions is not supported'));
  }
  if (!onExitCodes && onPodConditions.length === 0) {
    errors.push(withoutValue(path, 'specifying one of OnExitCodes and OnPodConditions is required'));
  }
  return errors;
}

function validatePatterns(patterns: readonly PodFailurePolicyOnPodConditionsPattern[], path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  if (patterns.length > MAX_PATTERNS) errors.push(tooMany(path, patterns.length, MAX_PATTERNS));
  for (const [position, { type, status }] of patterns.entries()) {
    const at = path.index(position);
    append(errors, validateQualifiedName(type, at.child('type')));
    if (status === '') errors.push(required(at.child('status'), validValues(STATUSES)));
    else if (!STATUSES.includes(status)) errors.push(notSupported(at.child('status'), status, STATUSES));
  }
  return errors;
}

function validateExitCodes(
  { operator, containerName, values: given }: Readonly<PodFailurePolicyOnExitCodesRequirement>,
  { template }: Readonly<JobSpec>,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  if (operator === '') errors.push(required(path.child('operator'), validValues(OPERATORS)));
  else if (!OPERATORS.includes(operator)) errors.push(notSupported(path.child('operator'), operator, OPERATORS));
  const containers = [...(template.spec.containers ?? []), ...(template.spec.initContainers ?? [])];
  if (containerName !== undefined && !containers.some(({ name }) => name === containerName)) {
    const why = 'must be one of the container or initContainer names in the pod template';
    errors.push(invalid(path.child('containerName'), containerName, why));
  }
  const at = path.child('values');
  const values = given ?? [];
  if (values.length === 0) errors.push(invalid(at, given, 'at least one value is required'));
  else if (values.length > MAX_EXIT_CODES) errors.push(tooMany(at, values.length, MAX_EXIT_CODES));
  const seen = new Set<number>();
  for (const [position, value] of values.entries()) {
    if (operator === 'In' && value === 0) {
      errors.push(invalid(at.index(position), value, 'must not be 0 for the In operator'));
    }
    if (seen.has(value)) errors.push(duplicate(at.index(position), value));
    seen.add(value);
  }
  const ordered = values.every((value, position) => position === 0 || (values[position - 1] ?? 0) <= value);
  if (!ordered) errors.push(invalid(at, values, 'must be ordered'));
  return errors;
}

function validateSuccessRule(
  { succeededCount: count, succeededIndexes: indexes }: Readonly<SuccessPolicyRule>,
  completions: number,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  if (count === undefined && indexes === undefined) {
    errors.push(required(path, 'at least one of succeededCount or succeededIndexes must be specified'));
  }
  let total = 0;
  if (indexes !== undefined) {
    const at = path.child('succeededIndexes');
    if (indexes.length > MAX_INDEXES_LENGTH) errors.push(tooLong(at, MAX_INDEXES_LENGTH));
    const counted = countIndexes(indexes, completions);
    if (typeof counted === 'number') total = counted;
    else errors.push(invalid(at, indexes, `error parsing succeededIndexes: ${counted}`));
  }
  if (count !== undefined) {
    const at = path.child('succeededCount');
    append(errors, validateNonNegative(count, at));
    const most = 'must be less than or equal to';
    if (count > completions) {
      errors.push(invalid(at, count, `${most} ${completions} (the number of specified completions)`));
    }
    if (indexes !== undefined && count > total) {
      const what = 'the number of indexes in the specified succeededIndexes field';
      errors.push(invalid(at, count, `${most} ${total} (${what})`));
    }
  }
  return errors;
}
