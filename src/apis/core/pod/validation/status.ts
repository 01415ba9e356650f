import { append } from '../../../../lib/values/append.js';
import {
  duplicate,
  type FieldErrors,
  FieldPath,
  forbidden,
  internal,
  invalid,
  notSupported,
  required,
  named,
} from '../../../../machinery/field-error.js';
import { internalList } from '../../internal-form/internal-value.js';
import { parseIp } from '../../../../lib/values/ip-address.js';
import { invalidEach, validateImmutableName } from '../../../../machinery/validation/fields.js';
import { isValidIpForLegacyField } from '../../../../machinery/validation/ip.js';
import { isDns1123Subdomain, isValidGroupId, isValidUserId } from '../../../../machinery/validation/names.js';
import type { LifeContext } from '../../../../registry/kind.js';
import type {
  Container,
  ContainerStatus,
  Pod,
  PodCondition,
  PodExtendedResourceClaimStatus,
  PodSpec,
  PodStatus,
  ResourceClaim,
} from '../../../../schema/generated/core.v1.js';
import { isSidecar } from '../containers.js';
import { validatePodAnnotationsUpdate } from './annotations.js';
import { validateDnsLabel, validateQualifiedName } from './names.js';
import type { PodStatusRules } from './pod-rules.js';
import { shouldRestart } from './restart.js';

const STATUS = FieldPath.of('status');
const NOT_TERMINATED = 'may not be transitioned to non-terminated state';
const SYSTEM_CONDITIONS = ['PodScheduled', 'Ready', 'Initialized'];

export function validatePodStatusUpdate(
  pod: Readonly<Pod>,
  old: Readonly<Pod>,
  rules: PodStatusRules,
  { features }: Pick<LifeContext, 'features'>,
): FieldErrors {
  const { status, spec } = pod;
  const errors = [
    ...validatePodAnnotationsUpdate(pod, old, FieldPath.of('metadata', 'annotations'), rules),
    ...validateConditions(status.conditions, STATUS.child('conditions')),
    ...validateNominatedNode(pod, old, features.enabled('ClearingNominatedNodeNameAfterBinding')),
  ];
  if ((status.observedGeneration ?? 0) < 0) {
    const why = 'must be a non-negative integer';
    errors.push(invalid(STATUS.child('observedGeneration'), status.observedGeneration, why));
  }
  append(
    errors,
    validateImmutableName(status.qosClass ?? '', old.status.qosClass ?? '', STATUS.child('qosClass')),
    validateTransitions(pod, old, features.enabled('ContainerRestartRules')),
    validateClaimStatuses(pod, STATUS.child('resourceClaimStatuses')),
    validateExtendedClaim(status.extendedResourceClaimStatus, spec, STATUS.child('extendedResourceClaimStatus')),
    validateAddresses({ member: 'podIPs', struct: 'PodIP', pod, old, rules }),
    validateHostAddresses(pod, old, rules),
    validateUsers(status.containerStatuses, spec, STATUS.child('containerStatuses')),
    validateUsers(status.initContainerStatuses, spec, STATUS.child('initContainerStatuses')),
    validateUsers(status.ephemeralContainerStatuses, spec, STATUS.child('ephemeralContainerStatuses')),
    validateAllocated(status.containerStatuses, spec.containers ?? [], STATUS.child('containerStatuses')),
    validateAllocated(status.initContainerStatuses, spec.initContainers ?? [], STATUS.child('initContainerStatuses')),
  );
  for (const [position, each] of (status.ephemeralContainerStatuses ?? []).entries()) {
    if (!each.allocatedResourcesStatus) continue;
    const at = STATUS.child('ephemeralContainerStatuses').index(position).child('allocatedResourcesStatus');
    errors.push(forbidden(at, 'must not be specified in container status'));
  }
  return errors;
}

function validateConditions(conditions: readonly PodCondition[] | undefined, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  for (const [position, { type, observedGeneration = 0 }] of (conditions ?? []).entries()) {
    const at = path.index(position);
    if (observedGeneration < 0) {
      errors.push(invalid(at.child('observedGeneration'), observedGeneration, 'must be a non-negative integer'));
    }
    if (!SYSTEM_CONDITIONS.includes(type)) append(errors, validateQualifiedName(type, at.child('Type')));
  }
  return errors;
}

function validateNominatedNode(pod: Readonly<Pod>, old: Readonly<Pod>, clearing: boolean): FieldErrors {
  const name = pod.status.nominatedNodeName;
  if (!name || name === old.status.nominatedNodeName) return [];
  const path = STATUS.child('nominatedNodeName');
  const errors = invalidEach(path, name, isDns1123Subdomain(name));
  if (clearing && old.spec.nodeName) {
    errors.push(forbidden(path, 'may not be set on pods that are already bound to a node'));
  }
  return errors;
}

/** A container that ended stays ended, unless the pod restarts it. */
function validateTransitions(pod: Readonly<Pod>, old: Readonly<Pod>, restartRules: boolean): FieldErrors {
  const { spec } = old;
  const keepsTrying = (exitCode: number): boolean =>
    spec.restartPolicy === 'Always' || (spec.restartPolicy === 'OnFailure' && exitCode !== 0);
  const states = { now: pod.status, old: old.status };
  const containers = firstByName(spec.containers ?? []);
  const initContainers = firstByName(spec.initContainers ?? []);
  return [
    ...stayEnded(states, 'containerStatuses', (name, exitCode) => {
      if (!restartRules) return keepsTrying(exitCode);
      const container = containers.get(name);
      return container !== undefined && shouldRestart(container, spec, exitCode);
    }),
    ...stayEnded(states, 'initContainerStatuses', (name, exitCode) => {
      const container = initContainers.get(name);
      return keepsTrying(exitCode) || (container !== undefined && isSidecar(container));
    }),
    ...stayEnded(states, 'ephemeralContainerStatuses', () => false),
  ];
}

function stayEnded(
  { now, old }: Readonly<Record<'now' | 'old', Readonly<PodStatus>>>,
  member: 'containerStatuses' | 'initContainerStatuses' | 'ephemeralContainerStatuses',
  restarts: (name: string, exitCode: number) => boolean,
): FieldErrors {
  const alive = new Map<string, number>();
  for (const status of now[member] ?? []) {
    if (exitCodeOf(status) === undefined) alive.set(status.name, (alive.get(status.name) ?? 0) + 1);
  }
  const errors: FieldErrors = [];
  for (const [position, before] of (old[member] ?? []).entries()) {
    const exitCode = exitCodeOf(before);
    if (exitCode === undefined || restarts(before.name, exitCode)) continue;
    const at = STATUS.child(member).index(position).child('state');
    for (let count = alive.get(before.name) ?? 0; count > 0; count--) errors.push(forbidden(at, NOT_TERMINATED));
  }
  return errors;
}

const exitCodeOf = (status: Readonly<ContainerStatus>): number | undefined => status.state.terminated?.exitCode;

function validateClaimStatuses({ status, spec }: Readonly<Pod>, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const names = new Set<string>();
  const claims = new Set((spec.resourceClaims ?? []).map((claim) => claim.name));
  for (const [position, { name, resourceClaimName }] of (status.resourceClaimStatuses ?? []).entries()) {
    const at = path.index(position).child('name');
    if (!claims.has(name)) {
      errors.push(invalid(at, name, 'must match the name of an entry in `spec.resourceClaims`'));
    }
    if (names.has(name)) errors.push(duplicate(at, name));
    names.add(name);
    if (resourceClaimName !== undefined) {
      append(errors, invalidEach(at, named(resourceClaimName), isDns1123Subdomain(resourceClaimName)));
    }
  }
  return errors;
}

function validateExtendedClaim(
  status: Readonly<PodExtendedResourceClaimStatus> | undefined,
  spec: Readonly<PodSpec>,
  path: FieldPath,
): FieldErrors {
  if (status === undefined) return [];
  const errors: FieldErrors = [];
  const containers = new Map(
    [...(spec.initContainers ?? []), ...(spec.containers ?? [])].map((each) => [each.name, each]),
  );
  const mappings = status.requestMappings ?? [];
  const at = path.child('requestMappings');
  if (mappings.length === 0) errors.push(required(at, 'at least one request mapping is required'));
  const seen = new Set<string>();
  for (const [position, { containerName, resourceName, requestName }] of mappings.entries()) {
    const here = at.index(position);
    const container = containers.get(containerName);
    const where = 'spec.initContainers.resources.requests or spec.containers.resources.requests';
    if (container === undefined) {
      const why = 'must match the name of an entry in spec.initContainers.name or spec.containers.name';
      errors.push(invalid(here.child('containerName'), containerName, why));
    } else if (container.resources.requests?.[resourceName] === undefined) {
      const why = `must match the extended resource name of an entry in ${where}`;
      errors.push(invalid(here.child('resourceName'), resourceName, why));
    }
    append(errors, validateDnsLabel(requestName, path.child('requestName')));
    const key = `${containerName}\0${resourceName}`;
    if (seen.has(key)) {
      errors.push(duplicate(here.child('containerName'), containerName));
      errors.push(duplicate(here.child('resourceName'), resourceName));
    }
    seen.add(key);
  }
  const claim = status.resourceClaimName;
  if (claim === '') errors.push(required(path.child('resourceClaimName')));
  else append(errors, invalidEach(path.child('resourceClaimName'), claim, isDns1123Subdomain(claim)));
  return errors;
}

function validateHostAddresses(pod: Readonly<Pod>, old: Readonly<Pod>, rules: PodStatusRules): FieldErrors {
  const first = pod.status.hostIPs?.[0];
  if (first === undefined) return [];
  const errors: FieldErrors = [];
  const ip = first.ip ?? '';
  if ((pod.status.hostIP ?? '') !== ip) {
    errors.push(invalid(STATUS.child('hostIPs').index(0).child('ip'), ip, 'must be equal to `hostIP`'));
  }
  append(errors, validateAddresses({ member: 'hostIPs', struct: 'HostIP', pod, old, rules }));
  return errors;
}

interface AddressesCheck {
  readonly member: 'podIPs' | 'hostIPs';
  readonly struct: string;
  readonly pod: Readonly<Pod>;
  readonly old: Readonly<Pod>;
  readonly rules: PodStatusRules;
}

/** One address, or one of each family. */
function validateAddresses({ member, struct, pod, old, rules }: AddressesCheck): FieldErrors {
  const path = STATUS.child(member);
  const addresses = (pod.status[member] ?? []).map(({ ip }) => ip ?? '');
  const before = new Set((old.status[member] ?? []).map(({ ip }) => ip ?? ''));
  const strictness = { strict: rules.strictAddresses, old: before };
  const errors: FieldErrors = [];
  for (const [position, address] of addresses.entries()) {
    append(errors, isValidIpForLegacyField(path.index(position), address, strictness));
  }
  if (addresses.length <= 1) return errors;
  const families = addresses.map((address) => parseIp(address)?.family);
  const bad = families.indexOf(undefined);
  if (bad >= 0) {
    const why = `invalid IP[${bad}]: ${addresses[bad]}`;
    errors.push(internal(path, `failed to check for dual stack with error:${why}`));
  }
  if (bad >= 0 || new Set(families).size !== 2 || addresses.length > 2) {
    const why = 'may specify no more than one IP for each IP family';
    errors.push(invalid(path, internalList(struct, pod.status[member]), why));
  }
  return errors;
}

function validateUsers(
  statuses: readonly ContainerStatus[] | undefined,
  { os }: Readonly<PodSpec>,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  for (const [position, { user }] of (statuses ?? []).entries()) {
    const linux = user?.linux;
    if (linux === undefined) continue;
    const at = path.index(position).child('user', 'linux');
    if (os?.name === 'windows') {
      errors.push(forbidden(at, 'cannot be set for a windows pod'));
      continue;
    }
    append(
      errors,
      invalidEach(at.child('uid'), linux.uid, isValidUserId(linux.uid)),
      invalidEach(at.child('gid'), linux.gid, isValidGroupId(linux.gid)),
    );
    for (const [index, group] of (linux.supplementalGroups ?? []).entries()) {
      append(errors, invalidEach(at.child('supplementalGroups').index(index), group, isValidGroupId(group)));
    }
  }
  return errors;
}

const HEALTH = ['Healthy', 'Unhealthy', 'Unknown'];

function validateAllocated(
  statuses: readonly ContainerStatus[] | undefined,
  containers: readonly Container[],
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  const byName = firstByName(containers);
  for (const [position, { name: containerName, allocatedResourcesStatus }] of (statuses ?? []).entries()) {
    const container = byName.get(containerName);
    if (allocatedResourcesStatus === undefined) continue;
    const claims = new Set((container?.resources.claims ?? []).map(claimText));
    for (const [index, { name, resources }] of allocatedResourcesStatus.entries()) {
      const at = path.index(position).child('allocatedResourcesStatus').index(index);
      if (container) append(errors, validateAllocatedName(name, container, claims, at.child('name')));
      const ids = new Set<string>();
      for (const [each, { health = '', resourceID }] of (resources ?? []).entries()) {
        const here = at.child('resources').index(each);
        if (!HEALTH.includes(health)) errors.push(notSupported(here.child('health'), health, HEALTH));
        if (ids.has(resourceID)) errors.push(duplicate(here.child('resourceID'), named(resourceID)));
        ids.add(resourceID);
      }
    }
  }
  return errors;
}

/** Where a name stands twice, the first counts. */
const firstByName = (containers: readonly Container[]): ReadonlyMap<string, Container> =>
  new Map(containers.toReversed().map((container) => [container.name, container]));

const claimText = ({ name, request }: Readonly<ResourceClaim>): string =>
  request ? `claim:${name}/${request}` : `claim:${name}`;

function validateAllocatedName(
  name: string,
  { resources }: Readonly<Container>,
  claims: ReadonlySet<string>,
  path: FieldPath,
): FieldErrors {
  if (name.startsWith('claim:')) {
    if (claims.has(name)) return [];
    const formats = "in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
    return [invalid(path, named(name), `must match one of the container's resource claims ${formats}`)];
  }
  if (resources.requests?.[name] !== undefined) return [];
  return [invalid(path, named(name), "must match one of the container's resource requests")];
}
