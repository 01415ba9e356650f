import { append } from '../../lib/values/append.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import {
  duplicate,
  type FieldErrors,
  FieldPath,
  invalid,
  notSupported,
  required,
} from '../../machinery/field-error.js';
import { validateImmutableField } from '../../machinery/validation/fields.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../registry/columns.js';
import { dropGatedFields, gated } from '../../registry/gated-fields.js';
import type { FeatureGates, KindDefinition } from '../../registry/kind.js';
import type { CSIDriver, TokenRequest } from '../../schema/generated/storage.v1.js';

const SPEC = FieldPath.of('spec');
const FS_GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType'];
const LIFECYCLE_MODES = ['Persistent', 'Ephemeral'];
const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;
const MIN_UPDATE_PERIOD_SECONDS = 10;

export const csiDrivers: KindDefinition<CSIDriver> = {
  group: 'storage.k8s.io',
  kind: 'CSIDriver',
  plural: 'csidrivers',
  singular: 'csidriver',
  namespaced: false,
  versions: [{ version: 'v1', defaults: setDefaults }],
  storageVersion: 'v1',
  strategy: {
    allowUnconditionalUpdate: false,
    prepareForCreate: (object, { features }) => dropGatedFields(GATED, object, undefined, features),
    prepareForUpdate: (object, old, { features }) => {
      dropGatedFields(GATED, object, old, features);
      // Counted from the first change of the spec only: a new driver has no generation.
      if (!deepEqual(object.spec, old.spec)) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
    },
    validate: (object, { features }) => validateDriver(object, features),
    validateUpdate: (object, old, { features }) => [
      ...validateDriver(object, features),
      ...validateImmutableField(object.spec.attachRequired, old.spec.attachRequired, SPEC.child('attachedRequired')),
      ...validateImmutableField(
        object.spec.volumeLifecycleModes,
        old.spec.volumeLifecycleModes,
        SPEC.child('volumeLifecycleModes'),
      ),
    ],
    delete: { returnsObject: true },
  },
  table: {
    columns: [
      NAME_COLUMN,
      { name: 'AttachRequired', type: 'boolean', description: 'Whether volumes are attached to a node before use.' },
      { name: 'PodInfoOnMount', type: 'boolean', description: 'Whether the driver learns which pod mounts.' },
      { name: 'StorageCapacity', type: 'boolean', description: 'Whether the driver says how much storage is left.' },
      column('TokenRequests', 'Whom the tokens the driver gets are for.'),
      {
        name: 'RequiresRepublish',
        type: 'boolean',
        description: 'Whether the driver wants to be called again and again.',
      },
      column('Modes', 'Which volumes the driver can make.'),
      AGE_COLUMN,
    ],
    row: ({ metadata, spec }, now) => [
      metadata.name ?? '',
      spec.attachRequired ?? true,
      spec.podInfoOnMount ?? false,
      spec.storageCapacity ?? false,
      spec.tokenRequests === undefined ? '<unset>' : spec.tokenRequests.map(({ audience }) => audience).join(','),
      spec.requiresRepublish ?? false,
      (spec.volumeLifecycleModes ?? []).join(',') || '<none>',
      ageCell({ metadata }, now),
    ],
  },
};

function setDefaults({ spec }: CSIDriver): void {
  spec.attachRequired ??= true;
  spec.podInfoOnMount ??= false;
  spec.storageCapacity ??= false;
  spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType';
  if ((spec.volumeLifecycleModes ?? []).length === 0) spec.volumeLifecycleModes = ['Persistent'];
  spec.requiresRepublish ??= false;
  spec.seLinuxMount ??= false;
}

const GATED = [
  gated<CSIDriver>('SELinuxMountReadWriteOncePod', 'spec.seLinuxMount'),
  gated<CSIDriver>('MutableCSINodeAllocatableCount', 'spec.nodeAllocatableUpdatePeriodSeconds'),
];

function validateDriver({ spec }: Readonly<CSIDriver>, features: FeatureGates): FieldErrors {
  const { fsGroupPolicy, nodeAllocatableUpdatePeriodSeconds: period } = spec;
  const errors: FieldErrors = [];
  if (spec.attachRequired === undefined) errors.push(required(SPEC.child('attachedRequired')));
  if (spec.podInfoOnMount === undefined) errors.push(required(SPEC.child('podInfoOnMount')));
  if (spec.storageCapacity === undefined) errors.push(required(SPEC.child('storageCapacity')));
  if (fsGroupPolicy !== undefined && !FS_GROUP_POLICIES.includes(fsGroupPolicy)) {
    errors.push(notSupported(SPEC.child('fsGroupPolicy'), fsGroupPolicy, FS_GROUP_POLICIES));
  }
  append(errors, validateTokenRequests(spec.tokenRequests ?? [], SPEC.child('tokenRequests')));
  for (const mode of spec.volumeLifecycleModes ?? []) {
    if (!LIFECYCLE_MODES.includes(mode)) {
      errors.push(notSupported(SPEC.child('volumeLifecycleModes'), mode, LIFECYCLE_MODES));
    }
  }
  if (spec.seLinuxMount === undefined && features.enabled('SELinuxMountReadWriteOncePod')) {
    errors.push(required(SPEC.child('seLinuxMount')));
  }
  if (period !== undefined && period < MIN_UPDATE_PERIOD_SECONDS) {
    const why = 'must be greater than or equal to 10 seconds';
    errors.push(invalid(SPEC.child('nodeAllocatableUpdatePeriodSeconds'), period, why));
  }
  return errors;
}

function validateTokenRequests(requests: readonly TokenRequest[], path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const audiences = new Set<string>();
  for (const [position, { audience, expirationSeconds: seconds }] of requests.entries()) {
    const at = path.index(position);
    if (audiences.has(audience)) {
      errors.push(duplicate(at.child('audience'), audience));
      continue;
    }
    audiences.add(audience);
    if (seconds === undefined) continue;
    const refuse = (why: string) => errors.push(invalid(at.child('expirationSeconds'), seconds, why));
    if (seconds < MIN_TOKEN_SECONDS) refuse('may not specify a duration less than 10 minutes');
    if (seconds > MAX_TOKEN_SECONDS) refuse('may not specify a duration larger than 2^32 seconds');
  }
  return errors;
}
