import type { KindDefinition } from '../../../registry/kind.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../../registry/columns.js';
import type { ResourceQuota } from '../../../schema/generated/core.v1.js';
import { sortedKeys } from '../shared/key-values.js';
import { roundResources } from '../shared/resource-list.js';
import { validateQuota, validateQuotaStatus, validateQuotaUpdate } from './validation.js';

export const resourceQuotas: KindDefinition<ResourceQuota> = {
  group: '',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  singular: 'resourcequota',
  shortNames: ['quota'],
  namespaced: true,
  versions: [{ version: 'v1', defaults: setDefaults }],
  storageVersion: 'v1',
  strategy: {
    hasStatus: true,
    hasGeneration: false,
    prepareForCreate: (object) => {
      object.status = {};
    },
    validate: validateQuota,
    validateUpdate: validateQuotaUpdate,
    status: { validateUpdate: validateQuotaStatus },
    delete: { returnsObject: true },
    resetFields: { '': [['status']], status: [['spec']] },
  },
  subresources: { status: { kind: 'ResourceQuota', verbs: ['get', 'patch', 'update'] } },
  table: {
    columns: [
      NAME_COLUMN,
      column('Request', 'What is used of the requests and objects allowed.'),
      column('Limit', 'What is used of the limits allowed.'),
      AGE_COLUMN,
    ],
    row: (object, now) => [
      object.metadata.name ?? '',
      usageCell(object, (name) => !name.startsWith('limits.')),
      usageCell(object, (name) => name.startsWith('limits.')),
      ageCell(object, now),
    ],
  },
};

function setDefaults({ spec, status }: ResourceQuota): void {
  roundResources(spec.hard);
  roundResources(status.hard);
  roundResources(status.used);
}

const usageCell = ({ status }: Readonly<ResourceQuota>, wanted: (name: string) => boolean): string =>
  sortedKeys(status.hard)
    .filter(wanted)
    .map((name) => `${name}: ${status.used?.[name] ?? '0'}/${status.hard?.[name] ?? '0'}`)
    .join(', ');
