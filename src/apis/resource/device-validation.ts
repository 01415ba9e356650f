import { append } from '../../lib/values/append.js';
import {
  type FieldErrors,
  type FieldPath,
  forbidden,
  invalid,
  required,
  tooLong,
} from '../../machinery/field-error.js';
import { invalidEach } from '../../machinery/validation/fields.js';
import { isDns1123Subdomain, LABEL_MAX_LENGTH } from '../../machinery/validation/names.js';
import type { Device, DeviceAttribute, DeviceCounterConsumption } from '../../schema/generated/resource.v1.js';
import { internalValue } from '../core/internal-form/internal-value.js';
import { validateNodeSelector } from '../core/pod/validation/affinity.js';
import { sortedKeys } from '../core/shared/key-values.js';
import { validateBindingConditions } from './binding-conditions.js';
import { validateCapacityPolicy } from './capacity-policy.js';
import { validateList, validateMap, validateSet } from './collection-rules.js';
import { MAX_QUALIFIED_NAME_LENGTH, validateLabelText, validateQualifiedName } from './name-rules.js';
import { validateTaint } from './taint-validation.js';

const MAX_ATTRIBUTES_AND_CAPACITIES = 32;
const MAX_COUNTERS = 32;
const MAX_TAINTS = 4;
const MAX_ATTRIBUTE_BYTES = 64;

/** What a slice says for all its devices. */
export interface DeviceSurroundings {
  /** The counters devices share, by the name of their set. */
  readonly counters: ReadonlyMap<string, ReadonlySet<string>>;
  readonly perDeviceNodeSelection: boolean;
}

export function validateDevice(device: Readonly<Device>, path: FieldPath, around: DeviceSurroundings): FieldErrors {
  const { attributes = {}, capacity = {} } = device;
  const named = { key: validateQualifiedName, shownKeyLength: MAX_QUALIFIED_NAME_LENGTH };
  const errors = validateLabelText(device.name, path.child('name'));
  const count = Object.keys(attributes).length + Object.keys(capacity).length;
  if (count > MAX_ATTRIBUTES_AND_CAPACITIES) {
    const why = `the total number of attributes and capacities must not exceed ${MAX_ATTRIBUTES_AND_CAPACITIES}`;
    errors.push(invalid(path, count, why));
  }
  append(
    errors,
    validateMap(attributes, path.child('attributes'), { ...named, item: validateAttribute }),
    validateMap(capacity, path.child('capacity'), {
      ...named,
      item: (each, at) => {
        const policyPath = at.child('requestPolicy');
        if (device.allowMultipleAllocations === true) return validateCapacityPolicy(each, policyPath);
        return each.requestPolicy === undefined ? [] : [forbidden(policyPath, 'allowMultipleAllocations must be true')];
      },
    }),
    validateList(device.taints, path.child('taints'), validateTaint, MAX_TAINTS),
    validateConsumption(device.consumesCounters ?? [], path, around),
    validateReach(device, path, around),
    validateBindingConditions(device, path),
  );
  return errors;
}

const NUMBER = '(0|[1-9]\\d*)';
const PRERELEASE = '(0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)';
const BUILD = '[0-9a-zA-Z-]+';
const version = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(-${PRERELEASE}(\\.${PRERELEASE})*)?(\\+${BUILD}(\\.${BUILD})*)?$`,
);

function validateAttribute(attribute: Readonly<DeviceAttribute>, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const bounded = (member: 'string' | 'version') => {
    if (Buffer.byteLength(attribute[member] ?? '') > MAX_ATTRIBUTE_BYTES) {
      errors.push(tooLong(path.child(member), MAX_ATTRIBUTE_BYTES));
    }
  };
  bounded('string');
  if (attribute.version !== undefined && !version.test(attribute.version)) {
    const why = 'must be a string compatible with semver.org spec 2.0.0';
    errors.push(invalid(path.child('version'), attribute.version, why));
  }
  bounded('version');
  const set = (['bool', 'int', 'string', 'version'] as const).filter((member) => attribute[member] !== undefined);
  const exactlyOne = 'exactly one value must be specified';
  if (set.length === 0) errors.push(required(path, exactlyOne));
  if (set.length > 1) errors.push(invalid(path, internalValue('DeviceAttribute', attribute), exactlyOne));
  return errors;
}

function validateConsumption(
  consumptions: readonly DeviceCounterConsumption[],
  path: FieldPath,
  { counters }: DeviceSurroundings,
): FieldErrors {
  const at = path.child('consumesCounters');
  const errors = validateSet(consumptions, at, {
    item: validateCounters,
    key: ({ counterSet }) => counterSet,
    keyMember: 'counterSet',
  });
  const count = consumptions.reduce((sum, each) => sum + Object.keys(each.counters ?? {}).length, 0);
  if (count > MAX_COUNTERS) {
    errors.push(invalid(path, count, `the total number of counters must not exceed ${MAX_COUNTERS}`));
  }
  for (const [position, consumption] of consumptions.entries()) {
    const known = counters.get(consumption.counterSet);
    if (known === undefined) {
      const why = 'must reference a counterSet defined in the ResourceSlice sharedCounters';
      errors.push(invalid(at.index(position).child('counterSet'), consumption.counterSet, why));
      continue;
    }
    const why = 'must reference a counter defined in the ResourceSlice sharedCounters';
    const unknown = sortedKeys(consumption.counters).filter((name) => !known.has(name));
    append(
      errors,
      unknown.map((name) => invalid(at.index(position).child('counters'), name, why)),
    );
  }
  return errors;
}

function validateCounters(
  { counterSet, counters = {} }: Readonly<DeviceCounterConsumption>,
  path: FieldPath,
): FieldErrors {
  const at = path.child('counters');
  return [
    ...(counterSet === '' ? [required(path.child('counterSet'))] : []),
    ...(Object.keys(counters).length === 0
      ? [required(at)]
      : validateMap(counters, at, { key: validateLabelText, shownKeyLength: LABEL_MAX_LENGTH })),
  ];
}

/** Which nodes can use the device, where its slice leaves that to each device. */
function validateReach(
  device: Readonly<Device>,
  path: FieldPath,
  { perDeviceNodeSelection }: DeviceSurroundings,
): FieldErrors {
  const { nodeName, nodeSelector, allNodes } = device;
  if (!perDeviceNodeSelection) {
    if (nodeName === undefined && nodeSelector === undefined && allNodes === undefined) return [];
    const why =
      '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
    return [invalid(path, null, why)];
  }
  const errors: FieldErrors = [];
  const ways: string[] = [];
  if (nodeName) {
    ways.push('`nodeName`');
    append(errors, invalidEach(path.child('nodeName'), nodeName, isDns1123Subdomain(nodeName)));
  } else if (nodeName !== undefined) errors.push(invalid(path.child('nodeName'), nodeName, 'must not be empty'));
  if (nodeSelector !== undefined) {
    ways.push('`nodeSelector`');
    append(errors, validateNodeSelector(nodeSelector, false, path.child('nodeSelector')));
  }
  if (allNodes === true) ways.push('`allNodes`');
  else if (allNodes === false) {
    errors.push(invalid(path.child('allNodes'), false, 'must be either unset or set to true'));
  }
  const oneOf =
    'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
  if (ways.length === 0) errors.push(required(path, oneOf));
  if (ways.length > 1) errors.push(invalid(path, `{${ways.join(', ')}}`, oneOf));
  return errors;
}
