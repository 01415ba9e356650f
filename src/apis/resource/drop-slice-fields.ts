// What a slice may not say while the features behind it are off, unless it said so before.
import type { FeatureGates } from '../../registry/kind.js';
import type { Device, ResourceSliceSpec } from '../../schema/generated/resource.v1.js';

type Spec = Readonly<ResourceSliceSpec>;

export function dropSliceFields(spec: ResourceSliceSpec, old: Spec | undefined, features: FeatureGates): void {
  const devices = spec.devices ?? [];
  const before = old?.devices ?? [];
  const bindingConditions =
    features.enabled('DRADeviceBindingConditions') && features.enabled('DRAResourceClaimDeviceStatus');
  if (!features.enabled('DRADeviceTaints') && !before.some(({ taints }) => (taints ?? []).length > 0)) {
    for (const device of devices) delete device.taints;
  }
  if (!features.enabled('DRAPartitionableDevices') && !isPartitioned(old)) {
    delete spec.sharedCounters;
    delete spec.perDeviceNodeSelection;
    for (const device of devices) dropMembers(device, PARTITION_MEMBERS);
  }
  if (!bindingConditions && !before.some((device) => hasAny(device, BINDING_MEMBERS))) {
    for (const device of devices) dropMembers(device, BINDING_MEMBERS);
  }
  if (!features.enabled('DRAConsumableCapacity') && !before.some(isShared)) {
    for (const device of devices) {
      delete device.allowMultipleAllocations;
      for (const capacity of Object.values(device.capacity ?? {})) delete capacity.requestPolicy;
    }
  }
}

const PARTITION_MEMBERS = ['consumesCounters', 'nodeName', 'nodeSelector', 'allNodes'] as const;
const BINDING_MEMBERS = ['bindingConditions', 'bindingFailureConditions', 'bindsToNode'] as const;

type Droppable = (typeof PARTITION_MEMBERS | typeof BINDING_MEMBERS)[number];

function dropMembers(device: Device, members: readonly Droppable[]): void {
  for (const member of members) delete device[member];
}

const hasAny = (device: Readonly<Device>, members: readonly Droppable[]): boolean =>
  members.some((member) => device[member] !== undefined);

const isPartitioned = (spec: Spec | undefined): boolean =>
  (spec?.sharedCounters ?? []).length > 0 ||
  spec?.perDeviceNodeSelection !== undefined ||
  (spec?.devices ?? []).some((device) => hasAny(device, PARTITION_MEMBERS));

const isShared = ({ allowMultipleAllocations, capacity }: Readonly<Device>): boolean =>
  allowMultipleAllocations !== undefined ||
  Object.values(capacity ?? {}).some(({ requestPolicy }) => requestPolicy !== undefined);
