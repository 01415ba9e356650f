import { append } from '../../../../lib/values/append.js';
import { ownMember } from '../../../../lib/values/plain-object.js';
import {
  duplicate,
  type FieldError,
  type FieldErrors,
  type FieldPath,
  forbidden,
  invalid,
  notFound,
  required,
  withMore,
} from '../../../../machinery/field-error.js';
import { wasExplicitEmpty } from '../../../../machinery/explicit-empty.js';
import { QuantityError, int64Value, parseQuantity, quantitySign, scaledValue } from '../../../../machinery/quantity.js';
import { NOT_NEGATIVE } from '../../../../machinery/validation/fields.js';
import type {
  PodResourceClaim,
  PodSpec,
  ResourceClaim,
  ResourceList,
  ResourceRequirements,
} from '../../../../schema/generated/core.v1.js';
import { aggregateContainers } from '../aggregate-resources.js';
import { allContainers } from '../containers.js';
import { validateDnsLabel } from './names.js';
import type { PodRules } from './pod-rules.js';
import { equals, exceeds, isNegative, isWhole } from './quantities.js';
import {
  isHugePages,
  isIntegerResource,
  isOvercommitAllowed,
  validateContainerResourceName,
  validatePodResourceName,
} from './resource-names.js';

type ResourceNameRule = (name: string, path: FieldPath) => FieldErrors;

export const validateContainerResources = (
  resources: Readonly<ResourceRequirements>,
  claimNames: ReadonlySet<string>,
  path: FieldPath,
  rules: PodRules,
): FieldErrors =>
  validateRequirements(resources, { validateName: validateContainerResourceName, claimNames, path, rules });

export const claimNamesOf = (claims: readonly PodResourceClaim[] | undefined): ReadonlySet<string> =>
  new Set((claims ?? []).map(({ name }) => name).filter((name) => name !== ''));

/** Resources of the pod as a whole, which bound those of its containers. */
export function validatePodResources(
  spec: Readonly<PodSpec>,
  claimNames: ReadonlySet<string>,
  specPath: FieldPath,
  rules: PodRules,
): FieldErrors {
  const { resources } = spec;
  if (resources === undefined) return [];
  const path = specPath.child('resources');
  if (spec.os?.name === 'windows') return [forbidden(path, 'may not be set for a windows pod')];
  const errors: FieldErrors = [];
  if (resources.claims || wasExplicitEmpty(resources, 'claims')) {
    errors.push(forbidden(path.child('claims'), 'claims may not be set for Resources at pod-level'));
  }
  append(
    errors,
    validateRequirements(resources, { validateName: validatePodResourceName, claimNames, path, rules }),
    validateContainersFit(spec, resources, path),
  );
  return errors;
}

/** A quantity of the named resource: not negative, and whole where the resource comes in whole numbers. */
export function validateResourceQuantity(name: string, quantity: string, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  if (isNegative(quantity)) errors.push(invalid(path, quantity, NOT_NEGATIVE));
  if (isIntegerResource(name) && !isWhole(quantity)) errors.push(invalid(path, quantity, 'must be an integer'));
  return errors;
}

export const hugePagesAreIndivisible = (spec: Readonly<PodSpec>): boolean =>
  [spec.overhead, ...allContainers(spec).flatMap(({ resources }) => [resources.limits, resources.requests])].some(
    (list) => Object.entries(list ?? {}).some(([name, quantity]) => isHugePages(name) && !isDivisible(name, quantity)),
  );

const byName = (list: Readonly<ResourceList> | undefined): readonly (readonly [string, string])[] => {
  if (list === undefined) return [];
  const entries = Object.entries(list);
  return entries.length < 2 ? entries : entries.sort(([a], [b]) => (a < b ? -1 : 1));
};

interface RequirementsCheck {
  readonly validateName: ResourceNameRule;
  readonly claimNames: ReadonlySet<string>;
  readonly path: FieldPath;
  readonly rules: PodRules;
}

function validateRequirements(
  { limits, requests, claims }: Readonly<ResourceRequirements>,
  { validateName, claimNames, path, rules }: RequirementsCheck,
): FieldErrors {
  if (limits === undefined && requests === undefined && claims === undefined) return [];
  const errors: FieldErrors = [];
  const limitsPath = path.child('limits');
  const requestsPath = path.child('requests');
  for (const [name, quantity] of byName(limits)) {
    const at = limitsPath.key(name);
    append(errors, validateName(name, at), validateResourceQuantity(name, quantity, at));
    append(errors, validateHugePages(name, quantity, at, rules));
  }
  for (const [name, quantity] of byName(requests)) {
    const at = requestsPath.key(name);
    append(errors, validateName(name, at), validateResourceQuantity(name, quantity, at));
    const limit = ownMember(limits, name);
    const overcommit = isOvercommitAllowed(name);
    if (limit === undefined) {
      if (!overcommit) errors.push(required(limitsPath, 'Limit must be set for non overcommitable resources'));
    } else if (!overcommit && !equals(quantity, limit)) {
      errors.push(invalid(requestsPath, quantity, `must be equal to ${name} limit of ${limit}`));
    } else if (exceeds(quantity, limit)) {
      errors.push(invalid(requestsPath, quantity, `must be less than or equal to ${name} limit of ${limit}`));
    }
    append(errors, validateHugePages(name, quantity, at, rules));
  }
  const names = [...Object.keys(limits ?? {}), ...Object.keys(requests ?? {})];
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory')) {
    errors.push(forbidden(path, 'HugePages require cpu or memory'));
  }
  append(errors, validateClaimReferences(claims, claimNames, path.child('claims')));
  return errors;
}

function validateHugePages(name: string, quantity: string, path: FieldPath, rules: PodRules): FieldErrors {
  if (!isHugePages(name) || rules.allowIndivisibleHugePages || isDivisible(name, quantity)) return [];
  return [invalid(path, quantity, `${quantity} is not positive integer multiple of ${name}`)];
}

/** The name ends in the size of a page: `hugepages-2Mi`. */
function isDivisible(name: string, quantity: string): boolean {
  try {
    const page = parseQuantity(name.slice('hugepages-'.length));
    if (quantitySign(page) <= 0 || scaledValue(page, -3) % 1000n !== 0n) return false;
    return int64Value(quantity) % scaledValue(page) === 0n;
  } catch (error) {
    if (error instanceof QuantityError) return false;
    throw error;
  }
}

/** Each claim once as a whole, or several times for different requests of it. */
export function validateClaimReferences(
  claims: readonly ResourceClaim[] | undefined,
  claimNames: ReadonlySet<string>,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  const used = new Set<string>();
  /** How many different requests of a claim were used. */
  const requested = new Map<string, number>();
  for (const [position, { name, request }] of (claims ?? []).entries()) {
    const at = path.index(position);
    if (name === '') {
      errors.push(required(at));
      continue;
    }
    if (used.has(name)) errors.push(duplicate(at, name));
    else {
      if (request) append(errors, validateDnsLabel(request, at.child('request')));
      const key = request ? `${name}/${request}` : name;
      if (used.has(key)) errors.push(duplicate(at, key));
      else {
        if (!request) for (let n = requested.get(name) ?? 0; n > 0; n--) errors.push(duplicate(at, name));
        const slash = key.indexOf('/');
        if (slash >= 0) requested.set(key.slice(0, slash), (requested.get(key.slice(0, slash)) ?? 0) + 1);
        used.add(key);
      }
    }
    if (!claimNames.has(name)) errors.push(unknownClaim(name, claimNames, at));
  }
  return errors;
}

function unknownClaim(name: string, claimNames: ReadonlySet<string>, path: FieldPath): FieldError {
  return withMore(notFound(path, name), `must be one of the names in pod.spec.resourceClaims${listed(claimNames)}`);
}

/** Built once for all containers: there may be as many names as wrong references. */
function listed(claimNames: ReadonlySet<string>): string {
  let text = listings.get(claimNames);
  if (text === undefined) {
    text = claimNames.size === 0 ? ' which is empty' : `: ${[...claimNames].sort().join(', ')}`;
    listings.set(claimNames, text);
  }
  return text;
}

const listings = new WeakMap<ReadonlySet<string>, string>();

function validateContainersFit(
  spec: Readonly<PodSpec>,
  { requests, limits }: Readonly<ResourceRequirements>,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  for (const [name, needed] of byName(aggregateContainers(spec, 'requests'))) {
    const own = ownMember(requests, name);
    if (own !== undefined && exceeds(needed, own)) {
      const why = `must be greater than or equal to aggregate container requests of ${needed}`;
      errors.push(invalid(path.child('requests').key(name), own, why));
    }
  }
  for (const [name, needed] of byName(aggregateContainers(spec, 'limits'))) {
    const own = ownMember(limits, name);
    if (isHugePages(name) && own !== undefined && exceeds(needed, own)) {
      const why = `must be greater than or equal to aggregate container limits of ${needed}`;
      errors.push(invalid(path.child('limits').key(name), own, why));
    }
  }
  for (const [position, container] of (spec.containers ?? []).entries()) {
    for (const [name, limit] of byName(container.resources.limits)) {
      const own = ownMember(limits, name);
      if (own === undefined || !exceeds(limit, own)) continue;
      const at = path.child('containers').index(position).key(name).child('limits');
      errors.push(invalid(at, limit, `must be less than or equal to pod limits of ${own}`));
    }
  }
  return errors;
}
