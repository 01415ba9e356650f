import type { KindDefinition } from '../../../registry/kind.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../../registry/columns.js';
import type { ConfigMap } from '../../../schema/generated/core.v1.js';
import { validateConfigMap, validateConfigMapUpdate } from './validation.js';

export const configMaps: KindDefinition<ConfigMap> = {
  group: '',
  kind: 'ConfigMap',
  plural: 'configmaps',
  singular: 'configmap',
  shortNames: ['cm'],
  namespaced: true,
  versions: [{ version: 'v1' }],
  storageVersion: 'v1',
  strategy: {
    metadataRules: { placedOnUpdate: true },
    validate: validateConfigMap,
    validateUpdate: (object, old, _context, metadata) => validateConfigMapUpdate(object, old, metadata),
  },
  table: {
    columns: [NAME_COLUMN, column('Data', 'How many keys the map holds.'), AGE_COLUMN],
    row: (object, now) => [object.metadata.name ?? '', keyCount(object), ageCell(object, now)],
  },
};

const keyCount = ({ data, binaryData }: Readonly<ConfigMap>): number =>
  Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length;
