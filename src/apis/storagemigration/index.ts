import { append } from '../../lib/values/append.js';
import { goQuote } from '../../lib/go/quote.js';
import { parseInt64, SyntaxMistake } from '../../lib/go/strconv.js';
import { type FieldErrors, FieldPath, invalid, required } from '../../machinery/field-error.js';
import { type Condition, validateConditions } from '../../machinery/validation/conditions.js';
import { IMMUTABLE, NOT_NEGATIVE } from '../../machinery/validation/fields.js';
import { column } from '../../registry/columns.js';
import { deprecated } from '../../registry/deprecated-version.js';
import type { KindDefinition } from '../../registry/kind.js';
import type { MigrationCondition, StorageVersionMigration } from '../../schema/generated/storagemigration.v1alpha1.js';
import { keepMetaForStatus } from '../status-metadata.js';

const storageVersionMigration: KindDefinition<StorageVersionMigration> = {
  group: 'storagemigration.k8s.io',
  kind: 'StorageVersionMigration',
  plural: 'storageversionmigrations',
  singular: 'storageversionmigration',
  namespaced: false,
  gate: 'StorageVersionMigrator',
  versions: [
    {
      version: 'v1alpha1',
      enabledByDefault: false,
      ...deprecated('storagemigration.k8s.io/v1alpha1 StorageVersionMigration', { in: '1.33', removedIn: '1.36' }),
    },
  ],
  storageVersion: 'v1alpha1',
  strategy: {
    hasStatus: true,
    hasGeneration: false,
    allowUnconditionalUpdate: false,
    metadataRules: { placedOnUpdate: true },
    prepareForCreate: (object) => {
      object.status = {};
    },
    validate: validateSpec,
    validateUpdate: (object, old, _context, { whole, change }) => [
      ...whole,
      ...validateSpec(object),
      ...change,
      ...validateSameResource(object, old),
    ],
    status: {
      prepareForUpdate: (object, old) => keepMetaForStatus(object.metadata, old.metadata),
      validateUpdate: validateStatus,
    },
    resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
  },
  subresources: { status: { kind: 'StorageVersionMigration', verbs: ['get', 'patch', 'update'] } },
  table: {
    columns: [
      column('Name', 'The name of the migration.'),
      column('Resource', 'The resource whose objects are written anew, with its version and group.'),
    ],
    row: ({ metadata, spec: { resource } }) => [
      metadata.name ?? '',
      `${resource.resource ?? ''}.${resource.version ?? ''}.${resource.group ?? ''}`,
    ],
  },
};

export const storagemigrationKinds: readonly KindDefinition[] = [storageVersionMigration];

function validateSpec({ spec: { resource } }: Readonly<StorageVersionMigration>): FieldErrors {
  const path = FieldPath.of('spec', 'resource');
  return (['resource', 'version'] as const)
    .filter((member) => !resource[member])
    .map((member) => required(path.child(member), `${member} is required`));
}

function validateSameResource(
  { spec: { resource } }: Readonly<StorageVersionMigration>,
  { spec: { resource: old } }: Readonly<StorageVersionMigration>,
): FieldErrors {
  return (['group', 'version', 'resource'] as const)
    .filter((member) => (resource[member] ?? '') !== (old[member] ?? ''))
    .map((member) => invalid(FieldPath.of(member), resource[member] ?? '', IMMUTABLE));
}

const STATUS = FieldPath.of('status');

function validateStatus(
  object: Readonly<StorageVersionMigration>,
  old: Readonly<StorageVersionMigration>,
): FieldErrors {
  const { resourceVersion = '', conditions = [] } = object.status;
  const path = STATUS.child('resourceVersion');
  const errors = validateResourceVersion(resourceVersion, path);
  append(errors, validateConditions(conditions.map(asCondition), STATUS.child('conditions')));
  const before = old.status.resourceVersion ?? '';
  if (before !== '' && before !== resourceVersion) errors.push(invalid(path, resourceVersion, IMMUTABLE));
  append(errors, validateProgress(object, old));
  return errors;
}

function validateResourceVersion(version: string, path: FieldPath): FieldErrors {
  if (version === '') return [];
  try {
    const value = parseInt64(version);
    return value < 0n ? [invalid(path, value, NOT_NEGATIVE)] : [];
  } catch (error) {
    if (!(error instanceof SyntaxMistake)) throw error;
    return [invalid(path, version, `failed to parse resource version ${goQuote(version)}: ${error.message}`)];
  }
}

/** A migration runs, then succeeds or fails, and what it came to stays. */
function validateProgress(
  object: Readonly<StorageVersionMigration>,
  old: Readonly<StorageVersionMigration>,
): FieldErrors {
  const is = (type: string) => hasCondition(object, type);
  const refusals: readonly (readonly [boolean, string])[] = [
    [is('Succeeded') && is('Failed'), 'Both success and failed conditions cannot be true at the same time'],
    [is('Succeeded') && is('Running'), 'Running condition cannot be true when success condition is true'],
    [is('Failed') && is('Running'), 'Running condition cannot be true when failed condition is true'],
    [hasCondition(old, 'Succeeded') && !is('Succeeded'), 'Success condition cannot be set to false once it is true'],
    [hasCondition(old, 'Failed') && !is('Failed'), 'Failed condition cannot be set to false once it is true'],
  ];
  const shown = (object.status.conditions ?? []).map(internalCondition);
  return refusals.filter(([broken]) => broken).map(([, why]) => invalid(STATUS.child('conditions'), shown, why));
}

const hasCondition = ({ status }: Readonly<StorageVersionMigration>, type: string): boolean =>
  status.conditions?.find((condition) => condition.type === type)?.status === 'True';

const internalCondition = (condition: Readonly<MigrationCondition>) => ({
  Type: condition.type,
  Status: condition.status,
  LastUpdateTime: condition.lastUpdateTime ?? null,
  Reason: condition.reason ?? '',
  Message: condition.message ?? '',
});

/** Like the conditions of other kinds, but that their time is that of the last update. */
const asCondition = (condition: Readonly<MigrationCondition>): Condition => ({
  type: condition.type,
  status: condition.status,
  lastTransitionTime: condition.lastUpdateTime ?? null,
  reason: condition.reason ?? '',
  message: condition.message ?? '',
});
