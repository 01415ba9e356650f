// Labels and the selectors over them, as they stand in objects.
import { append } from '../../lib/values/append.js';
import { type FieldErrors, type FieldPath, forbidden, invalid, required, named } from '../field-error.js';
import { invalidEach } from './fields.js';
import { isQualifiedName, isValidLabelValue } from './names.js';

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: SelectorRequirement[];
}

export interface SelectorRequirement {
  key: string;
  operator: string;
  values?: string[];
}

export interface LabelSelectorOptions {
  /** For objects stored before label values in selectors were checked. */
  readonly allowInvalidLabelValue?: boolean;
  readonly allowUnknownOperator?: boolean;
}

export function validateLabelSelector(
  selector: Readonly<LabelSelector> | null | undefined,
  options: LabelSelectorOptions,
  path: FieldPath,
): FieldErrors {
  if (!selector) return [];
  const errors = validateLabels(selector.matchLabels, path.child('matchLabels'));
  for (const [position, requirement] of (selector.matchExpressions ?? []).entries()) {
    const at = path.child('matchExpressions').index(position);
    append(errors, validateLabelSelectorRequirement(requirement, options, at));
  }
  return errors;
}

export function validateLabelSelectorRequirement(
  requirement: Readonly<SelectorRequirement>,
  options: LabelSelectorOptions,
  path: FieldPath,
): FieldErrors {
  const errors = validateSelectorOperator(requirement, options.allowUnknownOperator === true, path);
  append(errors, validateLabelName(requirement.key, path.child('key')));
  if (options.allowInvalidLabelValue) return errors;
  for (const [position, value] of (requirement.values ?? []).entries()) {
    append(errors, invalidEach(path.child('values').index(position), value, isValidLabelValue(value)));
  }
  return errors;
}

/** The requirement of a field selector in an access review. */
export function validateFieldSelectorRequirement(
  requirement: Readonly<SelectorRequirement>,
  options: { readonly allowUnknownOperator?: boolean },
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  if (requirement.key === '') errors.push(required(path.child('key'), 'must be specified'));
  append(errors, validateSelectorOperator(requirement, options.allowUnknownOperator === true, path));
  return errors;
}

export const validateLabelName = (name: string, path: FieldPath): FieldErrors =>
  invalidEach(path, name, isQualifiedName(name));

export function validateLabels(
  labels: Readonly<Record<string, string>> | null | undefined,
  path: FieldPath,
): FieldErrors {
  if (!labels) return [];
  const keys = Object.keys(labels);
  const errors = labelErrors(labels, keys, path);
  // hot: labels are nearly always right, and only errors have an order.
  return errors.length > 1 ? labelErrors(labels, keys.sort(), path) : errors;
}

function labelErrors(labels: Readonly<Record<string, string>>, keys: readonly string[], path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  for (const key of keys) {
    const value = labels[key] ?? '';
    for (const message of isQualifiedName(key)) errors.push(invalid(path, key, message));
    for (const message of isValidLabelValue(value)) errors.push(invalid(path, value, message));
  }
  return errors;
}

export const selectorHasInvalidLabelValue = (selector: Readonly<LabelSelector> | null | undefined): boolean =>
  (selector?.matchExpressions ?? []).some((requirement) =>
    (requirement.values ?? []).some((value) => isValidLabelValue(value).length > 0),
  );

export const isEmptySelector = (selector: Readonly<LabelSelector>): boolean =>
  Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0;

function validateSelectorOperator(
  requirement: Readonly<SelectorRequirement>,
  allowUnknown: boolean,
  path: FieldPath,
): FieldErrors {
  const count = (requirement.values ?? []).length;
  switch (requirement.operator) {
    case 'In':
    case 'NotIn':
      if (count > 0) return [];
      return [required(path.child('values'), "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      if (count === 0) return [];
      return [forbidden(path.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    default:
      if (allowUnknown) return [];
      return [invalid(path.child('operator'), named(requirement.operator), 'not a valid selector operator')];
  }
}
