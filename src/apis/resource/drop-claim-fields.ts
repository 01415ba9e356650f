// What a claim may not say while the features behind it are off, unless it said so before.
import type { FeatureGates } from '../../registry/kind.js';
import type { DeviceClaim, ResourceClaim } from '../../schema/generated/resource.v1.js';
import { deviceId } from './device-id.js';

/** The fields of a claim's spec, also where it stands in a template. */
export function dropSpecFields(
  claim: DeviceClaim,
  features: FeatureGates,
  inUse: { readonly adminAccess: boolean; readonly capacity: boolean; readonly old: Readonly<DeviceClaim> | undefined },
): void {
  const requests = claim.requests ?? [];
  if (!features.enabled('DRAPrioritizedList') && !usesAlternatives(inUse.old)) {
    for (const request of requests) delete request.firstAvailable;
  }
  if (!features.enabled('DRAAdminAccess') && !inUse.adminAccess) {
    for (const { exactly } of requests) delete exactly?.adminAccess;
  }
  if (!features.enabled('DRAConsumableCapacity') && !inUse.capacity) {
    for (const { exactly, firstAvailable } of requests) {
      delete exactly?.capacity;
      for (const alternative of firstAvailable ?? []) delete alternative.capacity;
    }
  }
}

type Claim = Readonly<ResourceClaim>;

export function dropClaimSpecFields(object: ResourceClaim, old: Claim | undefined, features: FeatureGates): void {
  const inUse = { adminAccess: usesAdminAccess(old), capacity: usesCapacity(old), old: old?.spec.devices };
  dropSpecFields(object.spec.devices, features, inUse);
}

export function dropClaimStatusFields(object: ResourceClaim, old: Claim, features: FeatureGates): void {
  const { status } = object;
  const results = status.allocation?.devices.results ?? [];
  if (!features.enabled('DRAAdminAccess') && !usesAdminAccess(old)) {
    for (const result of results) delete result.adminAccess;
  }
  if (!features.enabled('DRAResourceClaimDeviceStatus') && !usesDeviceStatus(old)) delete status.devices;
  dropBindingConditions(object, old, features);
  if (features.enabled('DRAConsumableCapacity') || usesCapacity(old)) return;
  for (const result of results) {
    delete result.shareID;
    delete result.consumedCapacity;
  }
  for (const device of status.devices ?? []) delete device.shareID;
}

/** The status of a device goes with its allocation. */
export function dropDeallocatedDevices(object: ResourceClaim, old: Claim, features: FeatureGates): void {
  if (!features.enabled('DRAResourceClaimDeviceStatus') && !usesDeviceStatus(old)) return;
  const { status } = object;
  const gone = new Set((old.status.allocation?.devices.results ?? []).map(deviceId));
  for (const result of status.allocation?.devices.results ?? []) gone.delete(deviceId(result));
  const kept = (status.devices ?? []).filter((device) => !gone.has(deviceId(device)));
  if (kept.length === 0) delete status.devices;
  else status.devices = kept;
}

export const specUsesAdminAccess = (claim: Readonly<DeviceClaim> | undefined): boolean =>
  (claim?.requests ?? []).some(({ exactly }) => exactly?.adminAccess !== undefined);

export const specUsesCapacity = (claim: Readonly<DeviceClaim> | undefined): boolean =>
  (claim?.constraints ?? []).some(({ distinctAttribute }) => distinctAttribute !== undefined) ||
  (claim?.requests ?? []).some(
    ({ exactly, firstAvailable }) =>
      exactly?.capacity !== undefined || (firstAvailable ?? []).some(({ capacity }) => capacity !== undefined),
  );

const usesAdminAccess = (claim: Claim | undefined): boolean =>
  specUsesAdminAccess(claim?.spec.devices) ||
  (claim?.status.allocation?.devices.results ?? []).some(({ adminAccess }) => adminAccess !== undefined);

const usesCapacity = (claim: Claim | undefined): boolean =>
  specUsesCapacity(claim?.spec.devices) ||
  (claim?.status.allocation?.devices.results ?? []).some(
    ({ shareID, consumedCapacity }) => shareID !== undefined || consumedCapacity !== undefined,
  );

const usesAlternatives = (claim: Readonly<DeviceClaim> | undefined): boolean =>
  (claim?.requests ?? []).some(({ firstAvailable }) => (firstAvailable ?? []).length > 0);

const usesDeviceStatus = (claim: Claim): boolean => (claim.status.devices ?? []).length > 0;

function dropBindingConditions({ status }: ResourceClaim, old: Claim, features: FeatureGates): void {
  if (features.enabled('DRADeviceBindingConditions') && features.enabled('DRAResourceClaimDeviceStatus')) return;
  const before = old.status.allocation;
  const inUse =
    before?.allocationTimestamp !== undefined ||
    (before?.devices.results ?? []).some(
      ({ bindingConditions = [], bindingFailureConditions = [] }) =>
        bindingConditions.length + bindingFailureConditions.length > 0,
    );
  if (inUse || status.allocation === undefined) return;
  delete status.allocation.allocationTimestamp;
  for (const result of status.allocation.devices.results ?? []) {
    delete result.bindingConditions;
    delete result.bindingFailureConditions;
  }
}
