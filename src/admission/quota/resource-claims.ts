import type { DeviceRequest, ResourceClaim } from '../../schema/generated/resource.v1.js';
import type { KubeObject } from '../../machinery/object.js';
import type { ResourceList } from '../../schema/generated/core.v1.js';
import type { QuotaEvaluator } from './evaluator.js';

const COUNT = 'count/resourceclaims.resource.k8s.io';
const BY_CLASS = '.deviceclass.resource.k8s.io/devices';
/** The most devices a claim can get; a request for all devices counts as many. */
const MAX_DEVICES = 32;

export const resourceClaimEvaluator: QuotaEvaluator = {
  resource: { group: 'resource.k8s.io', resource: 'resourceclaims' },
  handles: ({ operation, subresource }) => subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
  counts: (name) => name === COUNT || name.endsWith(BY_CLASS),
  usage(object) {
    const devices = new Map<string, number>();
    for (const request of requestsOf(object)) {
      for (const [name, count] of devicesOf(request)) devices.set(name, (devices.get(name) ?? 0) + count);
    }
    const usage: ResourceList = { [COUNT]: '1' };
    for (const [name, count] of devices) usage[name + BY_CLASS] = String(count);
    return usage;
  },
};

type Amount = { readonly deviceClassName: string; readonly allocationMode?: string; readonly count?: number | bigint };

const requestsOf = (object: Readonly<KubeObject>): readonly DeviceRequest[] =>
  (object as ResourceClaim).spec.devices?.requests ?? [];

/** Of alternatives in one class the largest counts, since only one is allocated. */
function devicesOf(request: DeviceRequest): ReadonlyMap<string, number> {
  const most = new Map<string, number>();
  const alternatives: readonly Amount[] = request.firstAvailable?.length
    ? request.firstAvailable
    : request.exactly
      ? [request.exactly]
      : [];
  for (const one of alternatives) {
    most.set(one.deviceClassName, Math.max(most.get(one.deviceClassName) ?? 0, countOf(one)));
  }
  return most;
}

function countOf({ allocationMode, count }: Amount): number {
  if (allocationMode === 'ExactCount') return Number(count ?? 0);
  return allocationMode === 'All' ? MAX_DEVICES : 0;
}
