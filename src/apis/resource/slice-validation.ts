import { append } from '../../lib/values/append.js';
import { type FieldErrors, FieldPath, invalid, required } from '../../machinery/field-error.js';
import { invalidEach, validateImmutableField, validateImmutableName } from '../../machinery/validation/fields.js';
import { isDns1123Subdomain, LABEL_MAX_LENGTH } from '../../machinery/validation/names.js';
import type { CounterSet, ResourcePool, ResourceSliceSpec } from '../../schema/generated/resource.v1.js';
import { internalList } from '../core/internal-form/internal-value.js';
import { validateNodeSelector } from '../core/pod/validation/affinity.js';
import { validateMap, validateSet } from './collection-rules.js';
import { validateDevice } from './device-validation.js';
import { validateDriverName, validateLabelText, validatePoolName } from './name-rules.js';

const SPEC = FieldPath.of('spec');
const MAX_DEVICES = 128;
const MAX_SHARED_COUNTERS = 32;
const MAX_DEVICE_COUNTERS = 1024;

type Spec = Readonly<ResourceSliceSpec>;

export function validateSlice(spec: Spec, old?: Spec): FieldErrors {
  const errors = [
    ...validateDriverName(spec.driver, SPEC.child('driver')),
    ...validatePool(spec.pool, SPEC.child('pool')),
  ];
  if (old !== undefined) {
    append(
      errors,
      validateImmutableField(spec.pool.name, old.pool.name, SPEC.child('pool', 'name')),
      validateImmutableField(spec.driver, old.driver, SPEC.child('driver')),
      validateImmutableName(spec.nodeName, old.nodeName, SPEC.child('nodeName')),
    );
  }
  append(errors, validateReach(spec), validateDevices(spec), validateSharedCounters(spec.sharedCounters ?? []));
  return errors;
}

function validatePool({ name, resourceSliceCount, generation }: Readonly<ResourcePool>, path: FieldPath): FieldErrors {
  const errors = validatePoolName(name, path.child('name'));
  if (resourceSliceCount <= 0) {
    errors.push(invalid(path.child('resourceSliceCount'), resourceSliceCount, 'must be greater than zero'));
  }
  if (generation < 0) {
    errors.push(invalid(path.child('generation'), generation, 'must be greater than or equal to zero'));
  }
  return errors;
}

/** Which nodes can use the devices: said in exactly one of four ways. */
function validateReach(spec: Spec): FieldErrors {
  const { nodeName, nodeSelector } = spec;
  const errors: FieldErrors = [];
  const ways: string[] = [];
  if (nodeName) {
    ways.push('`nodeName`');
    append(errors, invalidEach(SPEC.child('nodeName'), nodeName, isDns1123Subdomain(nodeName)));
  } else if (nodeName !== undefined) {
    const why = 'must be either unset or set to a non-empty string';
    errors.push(invalid(SPEC.child('nodeName'), nodeName, why));
  }
  if (nodeSelector !== undefined) {
    ways.push('`nodeSelector`');
    const at = SPEC.child('nodeSelector');
    const terms = nodeSelector.nodeSelectorTerms ?? [];
    append(errors, validateNodeSelector(nodeSelector, false, at));
    if (terms.length !== 1) {
      const shown = internalList('NodeSelectorTerm', nodeSelector.nodeSelectorTerms);
      errors.push(invalid(at.child('nodeSelectorTerms'), shown, 'must have exactly one node selector term'));
    }
  }
  for (const member of ['allNodes', 'perDeviceNodeSelection'] as const) {
    if (spec[member] === true) ways.push(`\`${member}\``);
    else if (spec[member] === false) {
      errors.push(invalid(SPEC.child(member), false, 'must be either unset or set to true'));
    }
  }
  const oneOf = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';
  if (ways.length === 0) errors.push(required(SPEC, oneOf));
  if (ways.length > 1) errors.push(invalid(SPEC, `{${ways.join(', ')}}`, `${oneOf}, but multiple fields are set`));
  return errors;
}

function validateDevices(spec: Spec): FieldErrors {
  const path = SPEC.child('devices');
  const counters = new Map(
    (spec.sharedCounters ?? []).map((set) => [set.name, new Set(Object.keys(set.counters ?? {}))]),
  );
  const surroundings = { counters, perDeviceNodeSelection: spec.perDeviceNodeSelection === true };
  const errors = validateSet(spec.devices, path, {
    item: (device, at) => validateDevice(device, at, surroundings),
    key: ({ name }) => name,
    keyMember: 'name',
    maxSize: MAX_DEVICES,
  });
  const consumed = (spec.devices ?? []).flatMap(({ consumesCounters }) => consumesCounters ?? []);
  const count = consumed.reduce((sum, each) => sum + Object.keys(each.counters ?? {}).length, 0);
  if (count > MAX_DEVICE_COUNTERS) {
    const why = `the total number of counters in devices must not exceed ${MAX_DEVICE_COUNTERS}`;
    errors.push(invalid(path, count, why));
  }
  return errors;
}

function validateSharedCounters(sets: readonly CounterSet[]): FieldErrors {
  const path = SPEC.child('sharedCounters');
  const count = sets.reduce((sum, set) => sum + Object.keys(set.counters ?? {}).length, 0);
  const why = `the total number of shared counters must not exceed ${MAX_SHARED_COUNTERS}`;
  return [
    ...(count > MAX_SHARED_COUNTERS ? [invalid(path, count, why)] : []),
    ...validateSet(sets, path, { item: validateCounterSet, key: ({ name }) => name, keyMember: 'name' }),
  ];
}

function validateCounterSet({ name, counters = {} }: Readonly<CounterSet>, path: FieldPath): FieldErrors {
  const namePath = path.child('name');
  const countersPath = path.child('counters');
  return [
    ...(name === '' ? [required(namePath)] : validateLabelText(name, namePath)),
    ...(Object.keys(counters).length === 0
      ? [required(countersPath)]
      : validateMap(counters, countersPath, { key: validateLabelText, shownKeyLength: LABEL_MAX_LENGTH })),
  ];
}
