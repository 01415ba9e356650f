import { type FieldErrors, FieldPath, required } from '../../../machinery/field-error.js';
import { groupKindText } from '../../../machinery/status.js';
import { parseApiVersion } from '../../../machinery/object.js';
import { validateImmutableField, validateNonNegative } from '../../../machinery/validation/fields.js';
import { nameIsDnsSubdomain } from '../../../machinery/validation/names.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../../registry/columns.js';
import type { KindDefinition } from '../../../registry/kind.js';
import type { ControllerRevision } from '../../../schema/generated/apps.v1.js';

const DATA = FieldPath.of('data');
const REVISION = FieldPath.of('revision');

export const controllerRevisions: KindDefinition<ControllerRevision> = {
  group: 'apps',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  singular: 'controllerrevision',
  namespaced: true,
  storage: { keyPrefix: 'controllerrevisions' },
  versions: [{ version: 'v1' }],
  storageVersion: 'v1',
  strategy: {
    metadataRules: { validateName: nameIsDnsSubdomain },
    validate: ({ data, revision }) => [...validateNonNegative(revision, REVISION), ...validateData(data)],
    validateUpdate: ({ data, revision }, old, _context, { whole }) => [
      ...whole,
      ...validateNonNegative(revision, REVISION),
      ...validateImmutableField(data, old.data, DATA),
    ],
    resetFields: { '': [] },
  },
  table: {
    columns: [
      NAME_COLUMN,
      column('Controller', 'The object whose state it keeps.'),
      column('Revision', 'The place of this state among those kept.'),
      AGE_COLUMN,
    ],
    row: (object, now) => [object.metadata.name ?? '', controllerCell(object), object.revision, ageCell(object, now)],
  },
};

function validateData(data: unknown): FieldErrors {
  if (data === null || data === undefined) return [required(DATA, 'data is mandatory')];
  const isObject = typeof data === 'object' && !Array.isArray(data);
  return isObject ? [] : [required(DATA, 'data must be a valid JSON object')];
}

function controllerCell({ metadata }: Readonly<ControllerRevision>): string {
  const owner = (metadata.ownerReferences ?? []).find(({ controller }) => controller);
  if (!owner) return '<none>';
  const { group } = parseApiVersion(owner.apiVersion);
  return `${groupKindText({ group, kind: owner.kind.toLowerCase() })}/${owner.name}`;
}
