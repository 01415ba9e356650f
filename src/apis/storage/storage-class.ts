import { append } from '../../lib/values/append.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import {
  duplicate,
  type FieldErrors,
  FieldPath,
  forbidden,
  notSupported,
  required,
} from '../../machinery/field-error.js';
import { validateImmutableName } from '../../machinery/validation/fields.js';
import { validateLabelName } from '../../machinery/validation/label-selector.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../registry/columns.js';
import type { KindDefinition } from '../../registry/kind.js';
import type { TopologySelectorTerm } from '../../schema/generated/core.v1.js';
import type { StorageClass } from '../../schema/generated/storage.v1.js';
import { DEPRECATED_NODE_LABELS } from '../core/shared/node-label-warnings.js';
import { validateParameters, validateProvisioner } from './class-rules.js';

const RECLAIM_POLICIES = ['Delete', 'Retain'];
const BINDING_MODES = ['Immediate', 'WaitForFirstConsumer'];
const DEFAULT_CLASS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

export const storageClasses: KindDefinition<StorageClass> = {
  group: 'storage.k8s.io',
  kind: 'StorageClass',
  plural: 'storageclasses',
  singular: 'storageclass',
  shortNames: ['sc'],
  namespaced: false,
  versions: [
    {
      version: 'v1',
      defaults: (object) => {
        object.reclaimPolicy ??= 'Delete';
        object.volumeBindingMode ??= 'Immediate';
      },
    },
  ],
  storageVersion: 'v1',
  strategy: {
    metadataRules: { placedOnUpdate: true },
    validate: validateStorageClass,
    validateUpdate: (object, old, _context, { whole, change }) => [
      ...whole,
      ...validateStorageClass(object),
      ...change,
      ...validateStorageClassUpdate(object, old),
    ],
    warningsOnCreate: storageClassWarnings,
    warningsOnUpdate: storageClassWarnings,
    delete: { returnsObject: true },
  },
  table: {
    columns: [
      NAME_COLUMN,
      column('Provisioner', 'What makes the volumes.'),
      column('ReclaimPolicy', 'What becomes of a volume whose claim is gone.'),
      column('VolumeBindingMode', 'When a volume is made and bound to its claim.'),
      column('AllowVolumeExpansion', 'Whether claims may ask for more later.'),
      AGE_COLUMN,
    ],
    row: (object, now) => [
      `${object.metadata.name ?? ''}${isDefaultClass(object) ? ' (default)' : ''}`,
      object.provisioner,
      object.reclaimPolicy ?? 'Delete',
      object.volumeBindingMode ?? 'Immediate',
      object.allowVolumeExpansion ?? false,
      ageCell(object, now),
    ],
  },
};

const isDefaultClass = ({ metadata }: Readonly<StorageClass>): boolean =>
  DEFAULT_CLASS.some((annotation) => metadata.annotations?.[annotation] === 'true');

function validateStorageClass(object: Readonly<StorageClass>): FieldErrors {
  const { reclaimPolicy = '', volumeBindingMode } = object;
  const errors = [
    ...validateProvisioner(object.provisioner, FieldPath.of('provisioner')),
    ...validateParameters(object.parameters, FieldPath.of('parameters')),
  ];
  if (reclaimPolicy !== '' && !RECLAIM_POLICIES.includes(reclaimPolicy)) {
    errors.push(notSupported(FieldPath.of('reclaimPolicy'), reclaimPolicy, RECLAIM_POLICIES));
  }
  const modePath = FieldPath.of('volumeBindingMode');
  if (volumeBindingMode === undefined) errors.push(required(modePath));
  else if (!BINDING_MODES.includes(volumeBindingMode)) {
    errors.push(notSupported(modePath, volumeBindingMode, BINDING_MODES));
  }
  append(errors, validateTopologies(object.allowedTopologies ?? [], FieldPath.of('allowedTopologies')));
  return errors;
}

function validateStorageClassUpdate(object: Readonly<StorageClass>, old: Readonly<StorageClass>): FieldErrors {
  const errors: FieldErrors = [];
  for (const member of ['parameters', 'provisioner', 'reclaimPolicy'] as const) {
    if (!deepEqual(object[member], old[member])) {
      errors.push(forbidden(FieldPath.of(member), `updates to ${member} are forbidden.`));
    }
  }
  const path = FieldPath.of('volumeBindingMode');
  return [...errors, ...validateImmutableName(object.volumeBindingMode, old.volumeBindingMode, path)];
}

function validateTopologies(terms: readonly TopologySelectorTerm[], path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const seen: string[] = [];
  for (const [position, term] of terms.entries()) {
    const at = path.index(position).child('matchLabelExpressions');
    append(errors, validateTopology(term, at));
    const meaning = topologyMeaning(term);
    append(
      errors,
      seen.filter((each) => each === meaning).map(() => duplicate(at, '')),
    );
    // A term without expressions equals each of the places kube-apiserver keeps for terms, still empty when it looks.
    if (meaning === '[]')
      append(
        errors,
        terms.map(() => duplicate(at, '')),
      );
    seen.push(meaning);
  }
  return errors;
}

function validateTopology(term: Readonly<TopologySelectorTerm>, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const keys = new Set<string>();
  for (const [position, { key, values }] of (term.matchLabelExpressions ?? []).entries()) {
    const at = path.index(position);
    const list = values ?? [];
    if (list.length === 0) errors.push(required(at.child('values')));
    for (const [index, value] of list.entries()) {
      if (list.indexOf(value) < index) errors.push(duplicate(at.child('values').index(index), value));
    }
    append(errors, validateLabelName(key, at.child('key')));
    if (keys.has(key)) errors.push(duplicate(at.child('key'), key));
    keys.add(key);
  }
  return errors;
}

/** The same text for terms that differ only in the order or the repetition of what they name. */
function topologyMeaning({ matchLabelExpressions }: Readonly<TopologySelectorTerm>): string {
  const values = new Map((matchLabelExpressions ?? []).map((each) => [each.key, [...new Set(each.values)].sort()]));
  return JSON.stringify([...values].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function storageClassWarnings({ allowedTopologies }: Readonly<StorageClass>): string[] {
  return (allowedTopologies ?? []).flatMap(({ matchLabelExpressions }, position) =>
    (matchLabelExpressions ?? []).flatMap(({ key }, index) => {
      const message = DEPRECATED_NODE_LABELS.get(key);
      const path = FieldPath.of('allowedTopologies').index(position).child('matchLabelExpressions').index(index);
      return message === undefined ? [] : [`${path.child('key').toString()}: ${message}`];
    }),
  );
}
