import { append } from '../../lib/values/append.js';
import { type FieldErrors, type FieldPath, invalid, notSupported, required } from '../../machinery/field-error.js';
import { invalidEach } from '../../machinery/validation/fields.js';
import { validateLabelName } from '../../machinery/validation/label-selector.js';
import { isValidLabelValue } from '../../machinery/validation/names.js';
import type { DeviceTaint, DeviceToleration } from '../../schema/generated/resource.v1.js';

const EFFECTS = ['NoExecute', 'NoSchedule'];
const OPERATORS = ['Equal', 'Exists'];

export function validateTaint({ key, value = '', effect }: Readonly<DeviceTaint>, path: FieldPath): FieldErrors {
  return [
    ...validateLabelName(key, path.child('key')),
    ...(value === '' ? [] : invalidEach(path.child('value'), value, isValidLabelValue(value))),
    ...(effect === '' ? [required(path.child('effect'))] : validateEffect(effect, path.child('effect'))),
  ];
}

export function validateToleration(toleration: Readonly<DeviceToleration>, path: FieldPath): FieldErrors {
  const { key = '', operator = '', value = '', effect = '' } = toleration;
  const errors = key === '' ? [] : validateLabelName(key, path.child('key'));
  const valuePath = path.child('value');
  switch (operator) {
    case 'Exists':
      if (value !== '') errors.push(invalid(valuePath, value, 'must be empty for operator `Exists`'));
      break;
    case 'Equal':
      append(errors, invalidEach(valuePath, value, isValidLabelValue(value)));
      break;
    case '':
      errors.push(required(path.child('operator')));
      break;
    default:
      errors.push(notSupported(path.child('operator'), operator, OPERATORS));
  }
  return effect === '' ? errors : [...errors, ...validateEffect(effect, path.child('effect'))];
}

const validateEffect = (effect: string, path: FieldPath): FieldErrors =>
  EFFECTS.includes(effect) ? [] : [notSupported(path, effect, EFFECTS)];
