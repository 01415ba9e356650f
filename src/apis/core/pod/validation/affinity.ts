import { append } from '../../../../lib/values/append.js';
import {
  type FieldErrors,
  type FieldPath,
  forbidden,
  invalid,
  required,
  named,
} from '../../../../machinery/field-error.js';
import { invalidEach } from '../../../../machinery/validation/fields.js';
import { validateLabelName, validateLabelSelector } from '../../../../machinery/validation/label-selector.js';
import { isDns1123Label, isDns1123Subdomain, isValidLabelValue } from '../../../../machinery/validation/names.js';
import type {
  Affinity,
  NodeAffinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
  PodSpec,
} from '../../../../schema/generated/core.v1.js';
import type { PodRules } from './pod-rules.js';
import { validateMatchLabelKeys } from './topology-spread.js';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const WEIGHT = 'must be in the range 1-100';

export function validateAffinity(
  affinity: Readonly<Affinity> | undefined,
  path: FieldPath,
  rules: PodRules,
): FieldErrors {
  if (affinity === undefined) return [];
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity;
  return [
    ...(nodeAffinity ? validateNodeAffinity(nodeAffinity, path.child('nodeAffinity'), rules) : []),
    ...(podAffinity ? validatePodAffinity(podAffinity, path.child('podAffinity'), rules) : []),
    ...(podAntiAffinity ? validatePodAffinity(podAntiAffinity, path.child('podAntiAffinity'), rules) : []),
  ];
}

/** Every term on other pods, required and preferred, for and against. */
export function podAffinityTerms({ affinity }: Readonly<PodSpec>): PodAffinityTerm[] {
  if (affinity === undefined) return [];
  return [affinity.podAffinity, affinity.podAntiAffinity].flatMap((each) => [
    ...(each?.[REQUIRED] ?? []),
    ...(each?.[PREFERRED] ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
  ]);
}

export function validateNodeSelector(
  selector: Readonly<NodeSelector>,
  allowInvalidValue: boolean,
  path: FieldPath,
): FieldErrors {
  const terms = selector.nodeSelectorTerms ?? [];
  const at = path.child('nodeSelectorTerms');
  if (terms.length === 0) return [required(at, 'must have at least one node selector term')];
  return terms.flatMap((term, position) => validateNodeSelectorTerm(term, allowInvalidValue, at.index(position)));
}

function validateNodeAffinity(affinity: Readonly<NodeAffinity>, path: FieldPath, rules: PodRules): FieldErrors {
  const errors: FieldErrors = [];
  const needed = affinity[REQUIRED];
  if (needed) {
    append(errors, validateNodeSelector(needed, rules.allowInvalidNodeAffinityValue, path.child(REQUIRED)));
  }
  for (const [position, { weight, preference }] of (affinity[PREFERRED] ?? []).entries()) {
    const at = path.child(PREFERRED).index(position);
    if (weight <= 0 || weight > 100) errors.push(invalid(at.child('weight'), weight, WEIGHT));
    append(errors, validateNodeSelectorTerm(preference, true, at.child('preference')));
  }
  return errors;
}

function validateNodeSelectorTerm(
  term: Readonly<NodeSelectorTerm>,
  allowInvalidValue: boolean,
  path: FieldPath,
): FieldErrors {
  const expressions = path.child('matchExpressions');
  const fields = path.child('matchFields');
  return [
    ...(term.matchExpressions ?? []).flatMap((each, position) =>
      validateNodeRequirement(each, allowInvalidValue, expressions.index(position)),
    ),
    ...(term.matchFields ?? []).flatMap((each, position) => validateNodeField(each, fields.index(position))),
  ];
}

function validateNodeRequirement(
  { key, operator, values = [] }: Readonly<NodeSelectorRequirement>,
  allowInvalidValue: boolean,
  path: FieldPath,
): FieldErrors {
  const errors = validateNodeOperator(operator, values.length, path);
  append(errors, validateLabelName(key, path.child('key')));
  if (allowInvalidValue) return errors;
  for (const [position, value] of values.entries()) {
    append(errors, invalidEach(path.child('values').index(position), value, isValidLabelValue(value)));
  }
  return errors;
}

function validateNodeOperator(operator: string, count: number, path: FieldPath): FieldErrors {
  const values = path.child('values');
  switch (operator) {
    case 'In':
    case 'NotIn':
      return count > 0 ? [] : [required(values, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      if (count === 0) return [];
      return [forbidden(values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    case 'Gt':
    case 'Lt':
      if (count === 1) return [];
      return [required(values, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
    default:
      return [invalid(path.child('operator'), named(operator), 'not a valid selector operator')];
  }
}

/** Nodes can be chosen by one field: their name. */
function validateNodeField(
  { key, operator, values = [] }: Readonly<NodeSelectorRequirement>,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.push(invalid(path.child('operator'), named(operator), 'not a valid selector operator'));
  } else if (values.length !== 1) {
    const why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.push(required(path.child('values'), why));
  }
  if (key !== 'metadata.name') errors.push(invalid(path.child('key'), key, 'not a valid field selector key'));
  else {
    for (const [position, value] of values.entries()) {
      append(errors, invalidEach(path.child('values').index(position), value, isDns1123Subdomain(value)));
    }
  }
  return errors;
}

function validatePodAffinity(affinity: Readonly<PodAffinity>, path: FieldPath, rules: PodRules): FieldErrors {
  const errors: FieldErrors = [];
  for (const [position, term] of (affinity[REQUIRED] ?? []).entries()) {
    append(errors, validatePodAffinityTerm(term, path.child(REQUIRED).index(position), rules));
  }
  for (const [position, { weight, podAffinityTerm }] of (affinity[PREFERRED] ?? []).entries()) {
    const at = path.child(PREFERRED).index(position);
    if (weight <= 0 || weight > 100) errors.push(invalid(at.child('weight'), weight, WEIGHT));
    append(errors, validatePodAffinityTerm(podAffinityTerm, at.child('podAffinityTerm'), rules));
  }
  return errors;
}

function validatePodAffinityTerm(term: Readonly<PodAffinityTerm>, path: FieldPath, rules: PodRules): FieldErrors {
  const options = { allowInvalidLabelValue: rules.allowInvalidAffinityLabelValue };
  const errors = [
    ...validateLabelSelector(term.labelSelector, options, path.child('labelSelector')),
    ...validateLabelSelector(term.namespaceSelector, options, path.child('namespaceSelector')),
  ];
  for (const name of term.namespaces ?? []) {
    append(errors, invalidEach(path.child('namespace'), name, isDns1123Label(name)));
  }
  append(errors, validateMatchLabelKeys(term.matchLabelKeys, term.mismatchLabelKeys, term.labelSelector, path));
  if (term.topologyKey === '') errors.push(required(path.child('topologyKey'), 'can not be empty'));
  append(errors, validateLabelName(term.topologyKey, path.child('topologyKey')));
  return errors;
}
