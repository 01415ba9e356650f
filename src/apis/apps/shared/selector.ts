import { type FieldErrors, type FieldPath, invalid, required } from '../../../machinery/field-error.js';
import { deepEqual } from '../../../lib/values/deep-equal.js';
import { selectorValue } from '../../core/internal-form/internal-value.js';
import { IMMUTABLE } from '../../../machinery/validation/fields.js';
import { SelectorError } from '../../../machinery/label-requirement.js';
import { type LabelSelector, labelSelectorAsSelector } from '../../../machinery/label-selector.js';
import { isEmptySelector, validateLabelSelector } from '../../../machinery/validation/label-selector.js';
import type { LabelSelector as SelectorField } from '../../../schema/generated/meta.v1.js';

/** A workload's selector: given, well-formed and not for everything. `kind` is named in the error. */
export function validateOwnSelector(
  selector: Readonly<SelectorField> | null,
  kind: string,
  path: FieldPath,
): FieldErrors {
  if (!selector) return [required(path)];
  const errors = validateLabelSelector(selector, {}, path);
  if (isEmptySelector(selector))
    errors.push(invalid(path, selectorValue(selector), `empty selector is invalid for ${kind}`));
  return errors;
}

export const validateImmutableSelector = (
  selector: Readonly<SelectorField> | null | undefined,
  old: Readonly<SelectorField> | null | undefined,
  path: FieldPath,
): FieldErrors => (deepEqual(selector, old) ? [] : [invalid(path, selectorValue(selector), IMMUTABLE)]);

/** Undefined when the selector is malformed. */
export function compiledSelector(selector: Readonly<SelectorField> | null | undefined): LabelSelector | undefined {
  try {
    return labelSelectorAsSelector(selector);
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}
