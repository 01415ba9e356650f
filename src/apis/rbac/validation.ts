import { append } from '../../lib/values/append.js';
import { RBAC_GROUP } from '../../authz/rbac-objects.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { type FieldErrors, FieldPath, invalid, required, plainNotSupported } from '../../machinery/field-error.js';
import { invalidEach } from '../../machinery/validation/fields.js';
import { validateLabelSelector } from '../../machinery/validation/label-selector.js';
import { nameIsDnsSubdomain, pathSegmentName } from '../../machinery/validation/names.js';
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  Subject,
} from '../../schema/generated/rbac.v1.js';
import type { MetadataErrors } from '../../registry/kind.js';

export function validateRole(role: Readonly<Role>): FieldErrors {
  return validateRules(role.rules, true);
}

/** An update is checked as a new object twice, as kube-apiserver does. */
export const validateRoleUpdate = (role: Readonly<Role>, metadata: MetadataErrors): FieldErrors =>
  twice(validateRole(role), metadata);

const twice = (own: FieldErrors, { whole, change }: MetadataErrors): FieldErrors => [
  ...whole,
  ...own,
  ...whole,
  ...own,
  ...change,
];

export function validateClusterRole(role: Readonly<ClusterRole>, allowInvalidLabelValue = false): FieldErrors {
  const errors = validateRules(role.rules, false);
  if (role.aggregationRule === undefined) return errors;
  const path = FieldPath.of('aggregationRule', 'clusterRoleSelectors');
  const selectors = role.aggregationRule.clusterRoleSelectors ?? [];
  if (selectors.length === 0) {
    errors.push(required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil'));
  }
  for (const [position, selector] of selectors.entries()) {
    const at = path.index(position);
    append(errors, validateLabelSelector(selector, { allowInvalidLabelValue }, at));
    if (validateLabelSelector(selector, {}, at).length > 0) errors.push(invalid(at, null, 'invalid label selector.'));
  }
  return errors;
}

export function validateClusterRoleUpdate(
  role: Readonly<ClusterRole>,
  old: Readonly<ClusterRole>,
  metadata: MetadataErrors,
): FieldErrors {
  const oldSelectors = old.aggregationRule?.clusterRoleSelectors ?? [];
  const tolerant = oldSelectors.some((selector) => validateLabelSelector(selector, {}, FieldPath.of('old')).length > 0);
  return twice(validateClusterRole(role, tolerant), metadata);
}

export const validateRoleBinding = (binding: Readonly<RoleBinding>): FieldErrors => validateBinding(binding, true);
export const validateClusterRoleBinding = (binding: Readonly<ClusterRoleBinding>): FieldErrors =>
  validateBinding(binding, false);

export function validateBindingUpdate(
  binding: Readonly<RoleBinding>,
  old: Readonly<RoleBinding>,
  namespaced: boolean,
  metadata: MetadataErrors,
): FieldErrors {
  const errors = twice(validateBinding(binding, namespaced), metadata);
  if (!deepEqual(binding.roleRef, old.roleRef)) {
    const { apiGroup, kind, name } = binding.roleRef;
    const value = { APIGroup: apiGroup, Kind: kind, Name: name };
    errors.push(invalid(FieldPath.of('roleRef'), value, 'cannot change roleRef'));
  }
  return errors;
}

function validateRules(rules: readonly PolicyRule[] | null, namespaced: boolean): FieldErrors {
  return (rules ?? []).flatMap((rule, position) =>
    validateRule(rule, namespaced, FieldPath.of('rules').index(position)),
  );
}

function validateRule(rule: PolicyRule, namespaced: boolean, path: FieldPath): FieldErrors {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const errors: FieldErrors = [];
  if ((verbs ?? []).length === 0) errors.push(required(path.child('verbs'), 'verbs must contain at least one value'));
  if (nonResourceURLs.length > 0) {
    const at = path.child('nonResourceURLs');
    if (namespaced) errors.push(invalid(at, nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs'));
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      const text = 'rules cannot apply to both regular resources and non-resource URLs';
      errors.push(invalid(at, nonResourceURLs, text));
    }
    return errors;
  }
  if (apiGroups.length === 0) {
    errors.push(required(path.child('apiGroups'), 'resource rules must supply at least one api group'));
  }
  if (resources.length === 0) {
    errors.push(required(path.child('resources'), 'resource rules must supply at least one resource'));
  }
  return errors;
}

function validateBinding(binding: Readonly<RoleBinding>, namespaced: boolean): FieldErrors {
  const errors: FieldErrors = [];
  const { apiGroup, kind, name } = binding.roleRef;
  const path = FieldPath.of('roleRef');
  if (apiGroup !== RBAC_GROUP) errors.push(plainNotSupported(path.child('apiGroup'), apiGroup, [RBAC_GROUP]));
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  if (!kinds.includes(kind)) errors.push(plainNotSupported(path.child('kind'), kind, kinds));
  if (name === '') errors.push(required(path.child('name')));
  else append(errors, invalidEach(path.child('name'), name, pathSegmentName(name, false)));
  for (const [position, subject] of (binding.subjects ?? []).entries()) {
    append(errors, validateSubject(subject, namespaced, FieldPath.of('subjects').index(position)));
  }
  return errors;
}

function validateSubject(subject: Subject, namespaced: boolean, path: FieldPath): FieldErrors {
  const { kind, name, apiGroup = '', namespace = '' } = subject;
  const errors: FieldErrors = [];
  if (name === '') errors.push(required(path.child('name')));
  switch (kind) {
    case 'ServiceAccount':
      if (name !== '') append(errors, invalidEach(path.child('name'), name, nameIsDnsSubdomain(name, false)));
      if (apiGroup !== '') errors.push(plainNotSupported(path.child('apiGroup'), apiGroup, ['']));
      if (!namespaced && namespace === '') errors.push(required(path.child('namespace')));
      break;
    case 'User':
    case 'Group':
      if (apiGroup !== RBAC_GROUP) errors.push(plainNotSupported(path.child('apiGroup'), apiGroup, [RBAC_GROUP]));
      break;
    default:
      errors.push(plainNotSupported(path.child('kind'), kind, ['ServiceAccount', 'User', 'Group']));
  }
  return errors;
}
