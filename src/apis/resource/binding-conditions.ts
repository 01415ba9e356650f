import { duplicate, type FieldErrors, type FieldPath, invalid } from '../../machinery/field-error.js';
import { validateLabelName } from '../../machinery/validation/label-selector.js';
import { validateList } from './collection-rules.js';

const MAX_CONDITIONS = 4;

export interface BindingConditions {
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
}

/** What must be true of a device before a pod is bound to it, and what says that it never will be: both or neither. */
export function validateBindingConditions(of: BindingConditions, path: FieldPath): FieldErrors {
  const { bindingConditions: success = [], bindingFailureConditions: failure = [] } = of;
  const successPath = path.child('bindingConditions');
  const failurePath = path.child('bindingFailureConditions');
  const errors = [
    ...validateList(success, successPath, validateLabelName, MAX_CONDITIONS),
    ...validateList(failure, failurePath, validateLabelName, MAX_CONDITIONS),
    ...success.flatMap((each, i) => (success.indexOf(each) < i ? [duplicate(successPath.index(i), each)] : [])),
  ];
  for (const [position, condition] of failure.entries()) {
    const at = failurePath.index(position);
    if (failure.indexOf(condition) < position) errors.push(duplicate(at, condition));
    if (success.includes(condition)) {
      errors.push(invalid(at, condition, 'bindingFailureConditions must not overlap with bindingConditions'));
    }
  }
  if (success.length === 0 && failure.length > 0) {
    const why = 'bindingConditions are required to use bindingFailureConditions';
    errors.push(invalid(successPath, of.bindingConditions, why));
  }
  if (failure.length === 0 && success.length > 0) {
    const why = 'bindingFailureConditions are required to use bindingConditions';
    errors.push(invalid(failurePath, of.bindingFailureConditions, why));
  }
  return errors;
}
