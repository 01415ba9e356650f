import { append } from '../../../lib/values/append.js';
import {
  duplicate,
  type FieldErrors,
  type FieldPath,
  invalid,
  notSupported,
  required,
  withMore,
} from '../../../machinery/field-error.js';
import { validateLabelName } from '../../../machinery/validation/label-selector.js';
import { isValidLabelValue } from '../../../machinery/validation/names.js';
import type { Taint } from '../../../schema/generated/core.v1.js';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function validateTaints(taints: readonly Taint[], path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const seen = new Set<string>();
  for (const [position, taint] of taints.entries()) {
    const at = path.index(position);
    append(errors, validateLabelName(taint.key, at.child('key')));
    const wrong = isValidLabelValue(taint.value ?? '');
    if (wrong.length > 0) errors.push(invalid(at.child('value'), taint.value ?? '', wrong.join(';')));
    if (taint.effect === '') errors.push(required(at.child('effect')));
    else if (!EFFECTS.includes(taint.effect)) errors.push(notSupported(at.child('effect'), taint.effect, EFFECTS));
    const key = `${taint.effect} ${taint.key}`;
    if (seen.has(key)) errors.push(duplicateTaint(taint, at));
    seen.add(key);
  }
  return errors;
}

function duplicateTaint(taint: Readonly<Taint>, path: FieldPath): FieldErrors[number] {
  const shown = {
    Key: taint.key,
    Value: taint.value ?? '',
    Effect: taint.effect,
    TimeAdded: taint.timeAdded ?? null,
  };
  return withMore(duplicate(path, shown), 'taints must be unique by key and effect pair');
}
