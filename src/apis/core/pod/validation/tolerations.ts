import { append } from '../../../../lib/values/append.js';
import {
  type FieldErrors,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  named,
} from '../../../../machinery/field-error.js';
import { validateLabelName } from '../../../../machinery/validation/label-selector.js';
import { isValidLabelValue } from '../../../../machinery/validation/names.js';
import type { Toleration } from '../../../../schema/generated/core.v1.js';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function validateTolerations(tolerations: readonly Toleration[] | undefined, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  for (const [position, toleration] of (tolerations ?? []).entries()) {
    const at = path.index(position);
    const { key = '', operator = '', value = '', effect = '' } = toleration;
    if (key !== '') append(errors, validateLabelName(key, at.child('key')));
    else if (operator !== 'Exists') {
      const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.push(invalid(at.child('operator'), named(operator), why));
    }
    if (toleration.tolerationSeconds !== undefined && effect !== 'NoExecute') {
      const why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
      errors.push(invalid(at.child('effect'), named(effect), why));
    }
    append(errors, validateOperator(operator, value, at.child('operator')));
    if (effect !== '' && !EFFECTS.includes(effect)) errors.push(notSupported(at.child('effect'), effect, EFFECTS));
  }
  return errors;
}

/** A running pod may tolerate more, but not less; only the seconds of what it tolerates may change. */
export function validateOnlyAddedTolerations(
  tolerations: readonly Toleration[] | undefined,
  old: readonly Toleration[] | undefined,
  path: FieldPath,
): FieldErrors {
  const now = new Set((tolerations ?? []).map(withoutSeconds));
  for (const before of old ?? []) {
    if (!now.has(withoutSeconds(before))) {
      return [forbidden(path, 'existing toleration can not be modified except its tolerationSeconds')];
    }
  }
  return validateTolerations(tolerations, path);
}

const withoutSeconds = ({ key, operator, value, effect }: Toleration): string =>
  JSON.stringify([key ?? '', operator ?? '', value ?? '', effect ?? '']);

function validateOperator(operator: string, value: string, path: FieldPath): FieldErrors {
  switch (operator) {
    case 'Equal':
    case '': {
      const messages = isValidLabelValue(value);
      return messages.length === 0 ? [] : [invalid(path, value, messages.join(';'))];
    }
    case 'Exists':
      return value === '' ? [] : [invalid(path, value, "value must be empty when `operator` is 'Exists'")];
    default:
      return [notSupported(path, operator, ['Equal', 'Exists'])];
  }
}
