import { goQuote } from '../../lib/go-quote.js';
import {
  type FieldErrors,
  FieldPath,
  Verbatim,
  duplicate,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../machinery/field-error.js';
import { IMMUTABLE, NOT_NEGATIVE } from '../../machinery/validation/fields.js';
import { validateLabelName } from '../../machinery/validation/label-selector.js';
import { patternMessage } from '../../machinery/validation/names.js';
import { column } from '../../registry/columns.js';
import type { KindDefinition } from '../../registry/kind.js';
import type { MigrationCondition, StorageVersionMigration } from '../../schema/generated/storagemigration.v1alpha1.js';
import { keepMetaForStatus, validateClusterMeta } from '../object-meta-again.js';

const storageVersionMigration: KindDefinition<StorageVersionMigration> = {
  group: 'storagemigration.k8s.io',
  kind: 'StorageVersionMigration',
  plural: 'storageversionmigrations',
  singular: 'storageversionmigration',
  namespaced: false,
  versions: [{ version: 'v1alpha1', enabledByDefault: false }],
  storageVersion: 'v1alpha1',
  strategy: {
    hasStatus: true,
    hasGeneration: false,
    allowUnconditionalUpdate: false,
    prepareForCreate: (object) => {
      object.status = {};
    },
    validate: validateSpec,
    validateUpdate: (object, old) => [
      ...validateClusterMeta(object.metadata),
      ...validateSpec(object),
      ...validateSameResource(object, old),
    ],
    status: {
      prepareForUpdate: (object, old) => keepMetaForStatus(object.metadata, old.metadata),
      validateUpdate: validateStatus,
    },
    resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
  },
  subresources: { status: { kind: 'StorageVersionMigration', verbs: ['get', 'patch', 'update'] } },
  columns: [
    column('Name', 'The name of the migration.'),
    column('Resource', 'The resource whose objects are written anew, with its version and group.'),
  ],
  row: ({ metadata, spec: { resource } }) => [
    metadata.name ?? '',
    `${resource.resource ?? ''}.${resource.version ?? ''}.${resource.group ?? ''}`,
  ],
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
  for (const [i, condition] of conditions.entries()) {
    const at = STATUS.child('conditions').index(i);
    if (conditions.findIndex(({ type }) => type === condition.type) < i) {
      errors.push(duplicate(at.child('type'), condition.type));
    }
    errors.push(...validateCondition(condition, at));
  }
  const before = old.status.resourceVersion ?? '';
  if (before !== '' && before !== resourceVersion) errors.push(invalid(path, resourceVersion, IMMUTABLE));
  errors.push(...validateProgress(object, old));
  return errors;
}

function validateResourceVersion(version: string, path: FieldPath): FieldErrors {
  if (version === '') return [];
  if (!/^[+-]?\d+$/.test(version)) {
    const shown = goQuote(version);
    const why = `failed to parse resource version ${shown}: strconv.ParseInt: parsing ${shown}: invalid syntax`;
    return [invalid(path, version, why)];
  }
  const value = BigInt(version.replace('+', ''));
  return value < 0n ? [invalid(path, value, NOT_NEGATIVE)] : [];
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
  const shown = () => new Verbatim(JSON.stringify((object.status.conditions ?? []).map(internalCondition)));
  return refusals.filter(([broken]) => broken).map(([, why]) => invalid(STATUS.child('conditions'), shown(), why));
}

const hasCondition = ({ status }: Readonly<StorageVersionMigration>, type: string): boolean =>
  status.conditions?.find((condition) => condition.type === type)?.status === 'True';

const internalCondition = (condition: Readonly<MigrationCondition>) => ({
  Type: condition.type,
  Status: condition.status,
  LastUpdateTime: condition.lastUpdateTime,
  Reason: condition.reason ?? '',
  Message: condition.message ?? '',
});

const REASON = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const REASON_MESSAGE = patternMessage(
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
  REASON,
  'my_name',
  'MY_NAME',
  'MyName',
  'ReasonA,ReasonB',
  'ReasonA:ReasonB',
);
const STATUSES = ['False', 'True', 'Unknown'];
const REASON_MAX_BYTES = 1024;
const MESSAGE_MAX_BYTES = 32 * 1024;

/** Like the conditions of other kinds, but that their time is that of the last update. */
function validateCondition(condition: Readonly<MigrationCondition>, path: FieldPath): FieldErrors {
  const { type, status, lastUpdateTime, reason = '', message = '' } = condition;
  const errors = validateLabelName(type, path.child('type'));
  if (!STATUSES.includes(status)) errors.push(notSupported(path.child('status'), status, STATUSES));
  if (!lastUpdateTime) errors.push(required(path.child('lastTransitionTime')));
  if (reason === '') errors.push(required(path.child('reason')));
  else {
    if (!new RegExp(`^${REASON}$`).test(reason)) errors.push(invalid(path.child('reason'), reason, REASON_MESSAGE));
    if (Buffer.byteLength(reason) > REASON_MAX_BYTES) errors.push(tooLong(path.child('reason'), REASON_MAX_BYTES));
  }
  if (Buffer.byteLength(message) > MESSAGE_MAX_BYTES) errors.push(tooLong(path.child('message'), MESSAGE_MAX_BYTES));
  return errors;
}
