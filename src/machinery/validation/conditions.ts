// The rules of metav1 conditions in a status.
import { append } from '../../lib/values/append.js';
import {
  duplicate,
  type FieldErrors,
  type FieldPath,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../field-error.js';
import { validateLabelName } from './label-selector.js';
import { patternMessage } from './names.js';

export interface Condition {
  type: string;
  status: string;
  observedGeneration?: number;
  lastTransitionTime: string | null;
  reason: string;
  message: string;
}

const REASON_MAX_BYTES = 1024;
const MESSAGE_MAX_BYTES = 32 * 1024;
const REASON = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const reasonPattern = new RegExp(`^${REASON}$`);
const REASON_MESSAGE = patternMessage(
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
  REASON,
  'my_name',
  'MY_NAME',
  'MyName',
  'ReasonA,ReasonB',
  'ReasonA:ReasonB',
);

export function validateConditions(conditions: readonly Condition[] | null | undefined, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const seen = new Set<string>();
  for (const [position, condition] of (conditions ?? []).entries()) {
    const at = path.index(position);
    if (seen.has(condition.type)) errors.push(duplicate(at.child('type'), condition.type));
    seen.add(condition.type);
    append(errors, validateCondition(condition, at));
  }
  return errors;
}

function validateCondition(condition: Readonly<Condition>, path: FieldPath): FieldErrors {
  const errors = validateLabelName(condition.type, path.child('type'));
  const statuses = ['False', 'True', 'Unknown'];
  if (!statuses.includes(condition.status)) {
    errors.push(notSupported(path.child('status'), condition.status, statuses));
  }
  const { observedGeneration } = condition;
  if (observedGeneration !== undefined && observedGeneration < 0) {
    errors.push(invalid(path.child('observedGeneration'), observedGeneration, 'must be greater than or equal to zero'));
  }
  if (!condition.lastTransitionTime) errors.push(required(path.child('lastTransitionTime')));
  if (condition.reason === '') errors.push(required(path.child('reason')));
  else {
    if (!reasonPattern.test(condition.reason)) {
      errors.push(invalid(path.child('reason'), condition.reason, REASON_MESSAGE));
    }
    if (Buffer.byteLength(condition.reason) > REASON_MAX_BYTES) {
      errors.push(tooLong(path.child('reason'), REASON_MAX_BYTES));
    }
  }
  if (Buffer.byteLength(condition.message) > MESSAGE_MAX_BYTES) {
    errors.push(tooLong(path.child('message'), MESSAGE_MAX_BYTES));
  }
  return errors;
}
