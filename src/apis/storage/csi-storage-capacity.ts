import { append } from '../../lib/values/append.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { type FieldErrors, FieldPath, invalid } from '../../machinery/field-error.js';
import { quantitySign } from '../../machinery/quantity.js';
import { IMMUTABLE, invalidEach, NOT_NEGATIVE, validateImmutableField } from '../../machinery/validation/fields.js';
import { validateLabelSelector } from '../../machinery/validation/label-selector.js';
import { isDns1123Subdomain } from '../../machinery/validation/names.js';
import { CREATED_COLUMNS, createdRow } from '../../registry/columns.js';
import type { KindDefinition } from '../../registry/kind.js';
import type { CSIStorageCapacity } from '../../schema/generated/storage.v1.js';
import { selectorValue } from '../core/internal-form/internal-value.js';
import { sortedKeys } from '../core/shared/key-values.js';
import { DEPRECATED_NODE_LABELS } from '../core/shared/node-label-warnings.js';

const TOPOLOGY = FieldPath.of('nodeTopology');

export const csiStorageCapacities: KindDefinition<CSIStorageCapacity> = {
  group: 'storage.k8s.io',
  kind: 'CSIStorageCapacity',
  plural: 'csistoragecapacities',
  singular: 'csistoragecapacity',
  namespaced: true,
  versions: [{ version: 'v1' }],
  storageVersion: 'v1',
  strategy: {
    allowUnconditionalUpdate: false,
    metadataRules: { placedOnUpdate: true },
    validate: (object) => validateCapacity(object, false),
    validateUpdate: (object, old, _context, { whole, change }) => [
      ...whole,
      ...validateCapacity(object, validateLabelSelector(old.nodeTopology, {}, TOPOLOGY).length > 0),
      ...change,
      ...validateCapacityUpdate(object, old),
    ],
    warningsOnCreate: capacityWarnings,
    warningsOnUpdate: capacityWarnings,
  },
  table: { columns: CREATED_COLUMNS, row: createdRow },
};

function validateCapacity(object: Readonly<CSIStorageCapacity>, allowInvalidLabelValue: boolean): FieldErrors {
  const { nodeTopology, storageClassName, capacity } = object;
  const errors = validateLabelSelector(nodeTopology, { allowInvalidLabelValue }, TOPOLOGY);
  const classPath = FieldPath.of('storageClassName');
  append(errors, invalidEach(classPath, storageClassName, isDns1123Subdomain(storageClassName)));
  if (capacity !== undefined && quantitySign(capacity) < 0) {
    errors.push(invalid(FieldPath.of('capacity'), capacity, NOT_NEGATIVE));
  }
  return errors;
}

/** The question to the driver is immutable; only its answer changes. */
function validateCapacityUpdate(object: Readonly<CSIStorageCapacity>, old: Readonly<CSIStorageCapacity>): FieldErrors {
  const { nodeTopology, storageClassName } = object;
  return [
    ...(deepEqual(nodeTopology, old.nodeTopology) ? [] : [invalid(TOPOLOGY, selectorValue(nodeTopology), IMMUTABLE)]),
    ...validateImmutableField(storageClassName, old.storageClassName, FieldPath.of('storageClassName')),
  ];
}

function capacityWarnings({ nodeTopology }: Readonly<CSIStorageCapacity>): string[] {
  const expressions = (nodeTopology?.matchExpressions ?? []).flatMap(({ key }, position) => {
    const message = DEPRECATED_NODE_LABELS.get(key);
    const path = TOPOLOGY.child('matchExpressions').index(position).child('key');
    return message === undefined ? [] : [`${path.toString()}: ${key} is ${message}`];
  });
  const labels = sortedKeys(nodeTopology?.matchLabels).flatMap((key) => {
    const message = DEPRECATED_NODE_LABELS.get(key);
    return message === undefined ? [] : [`${TOPOLOGY.child('matchLabels', key).toString()}: ${message}`];
  });
  return [...expressions, ...labels];
}
