import { append } from '../../../lib/values/append.js';
import { ownMember } from '../../../lib/values/plain-object.js';
import { type FieldErrors, FieldPath, invalid, required, named } from '../../../machinery/field-error.js';
import { asGiven } from '../../../machinery/explicit-empty.js';
import { IMMUTABLE } from '../../../machinery/validation/fields.js';
import type { ResourceQuota, ResourceQuotaSpec, ScopeSelector } from '../../../schema/generated/core.v1.js';
import { validateResourceName } from '../pod/validation/resource-names.js';
import { validateResourceQuantity } from '../pod/validation/resources.js';
import { sortedKeys } from '../shared/key-values.js';
import type { ResourceList } from '../shared/resource-list.js';

const SPEC = FieldPath.of('spec');

export const validateQuota = ({ spec }: Readonly<ResourceQuota>): FieldErrors => [
  ...validateAmounts(spec.hard, SPEC.child('hard')),
  ...validateScopes(spec),
  ...validateScopeSelector(spec),
];

export function validateQuotaUpdate(object: Readonly<ResourceQuota>, old: Readonly<ResourceQuota>): FieldErrors {
  const errors = validateQuota(object);
  const now = new Set(object.spec.scopes);
  const before = new Set(old.spec.scopes);
  if (now.size !== before.size || [...now].some((scope) => !before.has(scope))) {
    errors.push(invalid(SPEC.child('scopes'), asGiven(object.spec, 'scopes', []), IMMUTABLE));
  }
  return errors;
}

export const validateQuotaStatus = ({ status }: Readonly<ResourceQuota>): FieldErrors => [
  ...validateAmounts(status.hard, FieldPath.of('status', 'hard')),
  ...validateAmounts(status.used, FieldPath.of('status', 'used')),
];

const QUOTA_RESOURCES: ReadonlySet<string> = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'persistentvolumeclaims',
  'configmaps',
  'services.nodeports',
  'services.loadbalancers',
]);

const isQuotaResource = (name: string): boolean =>
  QUOTA_RESOURCES.has(name) || name.startsWith('hugepages-') || name.startsWith('requests.hugepages-');

function validateAmounts(amounts: Readonly<ResourceList> | undefined, path: FieldPath): FieldErrors {
  return sortedKeys(amounts).flatMap((name) => {
    const at = path.key(name);
    const errors = validateResourceName(name, at);
    if (!name.includes('/') && !isQuotaResource(name)) {
      errors.push(invalid(at, named(name), 'must be a standard resource for quota'));
    }
    append(errors, validateResourceQuantity(name, amounts?.[name] ?? '0', at));
    return errors;
  });
}

const POD_RESOURCES = ['pods', 'cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'];

/** What each scope can count. */
const COUNTED: Readonly<Record<string, readonly string[]>> = {
  Terminating: POD_RESOURCES,
  NotTerminating: POD_RESOURCES,
  NotBestEffort: POD_RESOURCES,
  PriorityClass: POD_RESOURCES,
  CrossNamespacePodAffinity: POD_RESOURCES,
  BestEffort: ['pods'],
  VolumeAttributesClass: ['persistentvolumeclaims', 'requests.storage'],
};

const uncounted = (scope: string, { hard }: Readonly<ResourceQuotaSpec>): number => {
  const counted = ownMember(COUNTED, scope);
  if (counted === undefined) return 0;
  return sortedKeys(hard).filter((name) => isQuotaResource(name) && !counted.includes(name)).length;
};

const OPPOSITES = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

function validateScopes(spec: Readonly<ResourceQuotaSpec>): FieldErrors {
  const path = SPEC.child('scopes');
  const scopes = spec.scopes ?? [];
  const errors: FieldErrors = [];
  for (const scope of scopes) {
    if (ownMember(COUNTED, scope) === undefined) errors.push(invalid(path, scopes, 'unsupported scope'));
    for (let times = uncounted(scope, spec); times > 0; times--) {
      errors.push(invalid(path, scopes, 'unsupported scope applied to resource'));
    }
  }
  append(errors, conflictingScopes(scopes, path, spec.scopes));
  return errors;
}

const ONLY_EXISTS =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
const EXISTENCE_SCOPES = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity'];

function validateScopeSelector(spec: Readonly<ResourceQuotaSpec>): FieldErrors {
  if (spec.scopeSelector === undefined) return [];
  const path = SPEC.child('scopeSelector', 'matchExpressions');
  const requirements = spec.scopeSelector.matchExpressions ?? [];
  const errors: FieldErrors = [];
  for (const { scopeName, operator, values } of requirements) {
    if (ownMember(COUNTED, scopeName) === undefined)
      errors.push(invalid(path.child('scopeName'), named(scopeName), 'unsupported scope'));
    for (let times = uncounted(scopeName, spec); times > 0; times--) {
      errors.push(invalid(path, shownSelector(spec.scopeSelector), 'unsupported scope applied to resource'));
    }
    if (EXISTENCE_SCOPES.includes(scopeName) && operator !== 'Exists') {
      errors.push(invalid(path.child('operator'), operator, ONLY_EXISTS));
    }
    append(errors, validateOperator(operator, values ?? [], path));
  }
  const scopes = requirements.map(({ scopeName }) => scopeName);
  append(errors, conflictingScopes(scopes, path, spec.scopes));
  return errors;
}

function validateOperator(operator: string, values: readonly string[], path: FieldPath): FieldErrors {
  switch (operator) {
    case 'In':
    case 'NotIn': {
      const why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
      return values.length === 0 ? [required(path.child('values'), why)] : [];
    }
    case 'Exists':
    case 'DoesNotExist': {
      const why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
      return values.length > 0 ? [invalid(path.child('values'), values, why)] : [];
    }
    default:
      return [invalid(path.child('operator'), named(operator), 'not a valid selector operator')];
  }
}

const conflictingScopes = (
  scopes: readonly string[],
  path: FieldPath,
  shown: readonly string[] | undefined,
): FieldErrors =>
  OPPOSITES.filter(([one, other]) => scopes.includes(one) && scopes.includes(other)).map(() =>
    invalid(path, shown, 'conflicting scopes'),
  );

/** The selector in the shape kube-apiserver shows it in errors. */
const shownSelector = ({ matchExpressions }: Readonly<ScopeSelector>) => ({
  MatchExpressions: (matchExpressions ?? []).map(({ scopeName, operator, values }) => ({
    ScopeName: scopeName,
    Operator: operator,
    Values: values ?? null,
  })),
});
