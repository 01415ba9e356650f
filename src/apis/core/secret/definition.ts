import { setMember } from '../../../lib/values/plain-object.js';
import type { KindDefinition } from '../../../registry/kind.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../../registry/columns.js';
import type { Secret } from '../../../schema/generated/core.v1.js';
import { validateSecret, validateSecretUpdate } from './validation.js';
import { tlsWarnings } from './warnings.js';

export const secrets: KindDefinition<Secret> = {
  group: '',
  kind: 'Secret',
  plural: 'secrets',
  singular: 'secret',
  namespaced: true,
  versions: [{ version: 'v1', defaults: setDefaults }],
  storageVersion: 'v1',
  strategy: {
    metadataRules: { placedOnUpdate: true },
    validate: validateSecret,
    validateUpdate: (object, old, _context, metadata) => validateSecretUpdate(object, old, metadata),
    warningsOnCreate: tlsWarnings,
    warningsOnUpdate: tlsWarnings,
  },
  table: {
    columns: [
      NAME_COLUMN,
      column('Type', 'What the secret is for, which decides the keys it must have.'),
      column('Data', 'How many keys the secret holds.'),
      AGE_COLUMN,
    ],
    row: (object, now) => [
      object.metadata.name ?? '',
      object.type ?? '',
      Object.keys(object.data ?? {}).length,
      ageCell(object, now),
    ],
  },
  selection: { fields: (object) => ({ type: object.type ?? '' }) },
};

/** Plain text in `stringData` is for writing only: it lands in `data`, over a key of the same name. */
function setDefaults(object: Secret): void {
  object.type ||= 'Opaque';
  const { stringData } = object;
  delete object.stringData;
  const keys = Object.keys(stringData ?? {});
  if (stringData === undefined || keys.length === 0) return;
  const data = (object.data ??= {});
  for (const key of keys) setMember(data, key, Buffer.from(stringData[key] as string).toString('base64'));
}
