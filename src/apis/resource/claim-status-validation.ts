import { append } from '../../lib/values/append.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import {
  type FieldErrors,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
} from '../../machinery/field-error.js';
import { validateConditions } from '../../machinery/validation/conditions.js';
import { IMMUTABLE } from '../../machinery/validation/fields.js';
import { isValidInterfaceAddress } from '../../machinery/validation/ip.js';
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
  ResourceClaim,
  ResourceClaimConsumerReference,
} from '../../schema/generated/resource.v1.js';
import { internalValue } from '../core/internal-form/internal-value.js';
import { validateNodeSelector } from '../core/pod/validation/affinity.js';
import { validateBindingConditions } from './binding-conditions.js';
import {
  MAX_CONFIGURATIONS,
  type RequestNames,
  requestNamesOf,
  validateRequestReference,
  validateRequestReferences,
} from './claim-validation.js';
import { validateList, validateSet } from './collection-rules.js';
import { validateConfiguration, validateJsonObject } from './configuration-validation.js';
import { deviceId, SHOWN_DEVICE_ID } from './device-id.js';
import { validateDriverName, validateLabelText, validatePoolName, validateUid } from './name-rules.js';

const STATUS = FieldPath.of('status');
const MAX_RESERVATIONS = 256;
const MAX_RESULTS = 32;
const MAX_CONDITIONS = 8;
const MAX_DATA_BYTES = 10 * 1024;
const MAX_IPS = 16;
const MAX_INTERFACE_NAME_BYTES = 256;
const MAX_HARDWARE_ADDRESS_BYTES = 128;
const CONFIG_SOURCES = ['FromClaim', 'FromClass'];

export function validateClaimStatus(object: Readonly<ResourceClaim>, old: Readonly<ResourceClaim>): FieldErrors {
  const { status, spec, metadata } = object;
  const { allocation } = status;
  const allocated = new Set((allocation?.devices.results ?? []).map(deviceId));
  const reservedPath = STATUS.child('reservedFor');
  const errors = [
    ...validateSet(status.reservedFor, reservedPath, {
      item: validateConsumer,
      key: ({ uid }) => uid,
      keyMember: 'uid',
      maxSize: MAX_RESERVATIONS,
    }),
    ...validateSet(status.devices, STATUS.child('devices'), {
      item: (device, at) => validateDeviceStatus(device, at, allocated),
      key: deviceId,
      keyMember: 'deviceID',
      shownKey: SHOWN_DEVICE_ID,
    }),
    ...validateReservations(status.reservedFor ?? [], old.status.reservedFor ?? [], reservedPath, {
      allocated: allocation !== undefined,
      deleted: metadata.deletionTimestamp !== undefined,
    }),
  ];
  if (allocation === undefined) return errors;
  const path = STATUS.child('allocation');
  // What was allocated stays; the rules for new results are stricter than those it was made under.
  if (old.status.allocation === undefined) {
    append(errors, validateAllocation(allocation, path, requestNamesOf(spec.devices)));
  } else if (!deepEqual(allocation, old.status.allocation)) {
    errors.push(invalid(path, internalValue('AllocationResult', allocation), IMMUTABLE));
  }
  return errors;
}

function validateConsumer(consumer: Readonly<ResourceClaimConsumerReference>, path: FieldPath): FieldErrors {
  return (['resource', 'name', 'uid'] as const)
    .filter((member) => consumer[member] === '')
    .map((member) => required(path.child(member)));
}

function validateReservations(
  now: readonly ResourceClaimConsumerReference[],
  before: readonly ResourceClaimConsumerReference[],
  path: FieldPath,
  { allocated, deleted }: { readonly allocated: boolean; readonly deleted: boolean },
): FieldErrors {
  if (now.length === 0) return [];
  if (!allocated) return [forbidden(path, 'may not be specified when `allocated` is not set')];
  const added = now.some((consumer) => !before.some((each) => deepEqual(each, consumer)));
  if (!deleted || !added) return [];
  const why = 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set';
  return [forbidden(path, why)];
}

function validateAllocation(
  { devices, nodeSelector }: Readonly<AllocationResult>,
  path: FieldPath,
  names: RequestNames,
): FieldErrors {
  const at = path.child('devices');
  return [
    ...validateList(
      devices.results,
      at.child('results'),
      (result, item) => validateResult(result, item, names),
      MAX_RESULTS,
    ),
    ...validateList(
      devices.config,
      at.child('config'),
      (config, item) => validateAllocatedConfiguration(config, item, names),
      // Those of the class and those of the claim.
      2 * MAX_CONFIGURATIONS,
    ),
    ...(nodeSelector === undefined ? [] : validateNodeSelector(nodeSelector, false, path.child('nodeSelector'))),
  ];
}

const validateResult = (
  result: Readonly<DeviceRequestAllocationResult>,
  path: FieldPath,
  names: RequestNames,
): FieldErrors => [
  ...validateRequestReference(result.request, path.child('request'), names),
  ...validateDriverName(result.driver, path.child('driver')),
  ...validatePoolName(result.pool, path.child('pool')),
  ...validateLabelText(result.device, path.child('device')),
  ...validateBindingConditions(result, path),
  ...(result.shareID === undefined ? [] : validateUid(result.shareID, path.child('shareID'))),
];

function validateAllocatedConfiguration(
  config: Readonly<DeviceAllocationConfiguration>,
  path: FieldPath,
  names: RequestNames,
): FieldErrors {
  const { source } = config;
  const sourcePath = path.child('source');
  return [
    ...(source === ''
      ? [required(sourcePath)]
      : CONFIG_SOURCES.includes(source)
        ? []
        : [notSupported(sourcePath, source, CONFIG_SOURCES)]),
    ...validateRequestReferences(config.requests, path.child('requests'), names),
    ...validateConfiguration(config, path, false),
  ];
}

function validateDeviceStatus(
  device: Readonly<AllocatedDeviceStatus>,
  path: FieldPath,
  allocated: ReadonlySet<string>,
): FieldErrors {
  const { shareID, data, networkData } = device;
  const conditions = device.conditions ?? [];
  const errors = [
    ...validateDriverName(device.driver, path.child('driver')),
    ...validatePoolName(device.pool, path.child('pool')),
    ...validateLabelText(device.device, path.child('device')),
    ...(shareID === undefined ? [] : validateUid(shareID, path.child('shareID'))),
  ];
  if (!allocated.has(deviceId(device))) {
    errors.push(invalid(path, SHOWN_DEVICE_ID, 'must be an allocated device in the claim'));
  }
  const conditionsPath = path.child('conditions');
  if (conditions.length > MAX_CONDITIONS) errors.push(tooMany(conditionsPath, conditions.length, MAX_CONDITIONS));
  append(errors, validateConditions(conditions, conditionsPath));
  if (data !== undefined) append(errors, validateJsonObject(data, path.child('data'), MAX_DATA_BYTES));
  if (networkData !== undefined) append(errors, validateNetworkData(networkData, path.child('networkData')));
  return errors;
}

function validateNetworkData(data: Readonly<NetworkDeviceData>, path: FieldPath): FieldErrors {
  const { interfaceName = '', hardwareAddress = '' } = data;
  const errors: FieldErrors = [];
  if (Buffer.byteLength(interfaceName) > MAX_INTERFACE_NAME_BYTES) {
    errors.push(tooLong(path.child('interfaceName'), MAX_INTERFACE_NAME_BYTES));
  }
  if (Buffer.byteLength(hardwareAddress) > MAX_HARDWARE_ADDRESS_BYTES) {
    errors.push(tooLong(path.child('hardwareAddress'), MAX_HARDWARE_ADDRESS_BYTES));
  }
  append(
    errors,
    validateSet(data.ips, path.child('ips'), {
      item: (address, at) => isValidInterfaceAddress(at, address),
      key: (address) => address,
      maxSize: MAX_IPS,
    }),
  );
  return errors;
}
