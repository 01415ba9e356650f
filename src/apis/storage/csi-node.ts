import { append } from '../../lib/values/append.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { duplicate, type FieldErrors, FieldPath, invalid, required } from '../../machinery/field-error.js';
import { IMMUTABLE, invalidEach, validateNonNegative } from '../../machinery/validation/fields.js';
import { isQualifiedName } from '../../machinery/validation/names.js';
import { AGE_COLUMN, ageCell, NAME_COLUMN } from '../../registry/columns.js';
import type { FeatureGates, KindDefinition } from '../../registry/kind.js';
import type { CSINode, CSINodeDriver } from '../../schema/generated/storage.v1.js';
import { internalValue } from '../core/internal-form/internal-value.js';
import { validateCsiDriverName } from '../core/pod/validation/volume-sources.js';

const DRIVERS = FieldPath.of('spec', 'drivers');
const MAX_NODE_ID_BYTES = 256;

export const csiNodes: KindDefinition<CSINode> = {
  group: 'storage.k8s.io',
  kind: 'CSINode',
  plural: 'csinodes',
  singular: 'csinode',
  namespaced: false,
  versions: [{ version: 'v1' }],
  storageVersion: 'v1',
  strategy: {
    metadataRules: { placedOnUpdate: true },
    allowUnconditionalUpdate: false,
    validate: validateCsiNode,
    validateUpdate: (object, old, { features }, { whole }) => {
      const own = validateCsiNode(object);
      return [...whole, ...own, ...whole, ...own, ...validateKeptDrivers(object, old, features)];
    },
    delete: { returnsObject: true },
  },
  table: {
    columns: [
      NAME_COLUMN,
      { name: 'Drivers', type: 'integer', description: 'How many drivers the node has.' },
      AGE_COLUMN,
    ],
    row: (object, now) => [object.metadata.name ?? '', (object.spec.drivers ?? []).length, ageCell(object, now)],
  },
};

function validateCsiNode({ spec }: Readonly<CSINode>): FieldErrors {
  const errors: FieldErrors = [];
  const names = new Set<string>();
  for (const [position, driver] of (spec.drivers ?? []).entries()) {
    const at = DRIVERS.index(position);
    append(errors, validateDriver(driver, at));
    if (names.has(driver.name)) errors.push(duplicate(at.child('name'), driver.name));
    names.add(driver.name);
    append(errors, validateTopologyKeys(driver.topologyKeys ?? [], at));
  }
  return errors;
}

function validateDriver({ name, nodeID, allocatable }: Readonly<CSINodeDriver>, path: FieldPath): FieldErrors {
  const errors = validateCsiDriverName(name, path.child('name'));
  if (nodeID === '') errors.push(required(path.child('nodeID')));
  if (Buffer.byteLength(nodeID) > MAX_NODE_ID_BYTES) {
    errors.push(invalid(path.child('nodeID'), nodeID, `must be ${MAX_NODE_ID_BYTES} characters or less`));
  }
  append(errors, validateNonNegative(allocatable?.count, path.child('allocatable', 'count')));
  return errors;
}

function validateTopologyKeys(keys: readonly string[], path: FieldPath): FieldErrors {
  return keys.flatMap((key, position) => [
    ...(key === '' ? [required(path)] : []),
    ...(keys.indexOf(key) < position ? [duplicate(path, key)] : []),
    ...invalidEach(path, key, isQualifiedName(key)),
  ]);
}

/** A driver that stays on a node stays as it is, but for how many volumes it takes. */
function validateKeptDrivers(object: Readonly<CSINode>, old: Readonly<CSINode>, features: FeatureGates): FieldErrors {
  const mutableCount = features.enabled('MutableCSINodeAllocatableCount');
  const compared = ({ allocatable, ...driver }: CSINodeDriver): Partial<CSINodeDriver> =>
    mutableCount || allocatable === undefined ? driver : { ...driver, allocatable };
  return (old.spec.drivers ?? []).flatMap((before) =>
    (object.spec.drivers ?? [])
      .filter((now) => now.name === before.name && !deepEqual(compared(now), compared(before)))
      .map((now) => invalid(DRIVERS, internalValue('CSINodeDriver', compared(now)), IMMUTABLE)),
  );
}
