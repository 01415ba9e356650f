import { randomUUID } from 'node:crypto';
import type { KindDefinition } from '../../../registry/kind.js';
import { CREATED_AT_COLUMN, NAME_COLUMN } from '../../../registry/columns.js';
import type { LimitRange, LimitRangeItem } from '../../../schema/generated/core.v1.js';
import { type ResourceList, roundResources } from '../shared/resource-list.js';
import { validateLimitRange } from './validation.js';

export const limitRanges: KindDefinition<LimitRange> = {
  group: '',
  kind: 'LimitRange',
  plural: 'limitranges',
  singular: 'limitrange',
  shortNames: ['limits'],
  namespaced: true,
  versions: [{ version: 'v1', defaults: ({ spec }) => (spec.limits ?? []).forEach(setItemDefaults) }],
  storageVersion: 'v1',
  strategy: {
    metadataRules: { placedOnUpdate: true },
    prepareForCreate: ({ metadata }) => {
      metadata.name ||= randomUUID();
    },
    validate: validateLimitRange,
    validateUpdate: (object, _old, _context, { whole }) => [...whole, ...validateLimitRange(object)],
    allowCreateOnUpdate: true,
    canonicalize: ({ spec }) => {
      if (spec.limits?.length === 0) spec.limits = null;
    },
  },
  table: {
    columns: [NAME_COLUMN, CREATED_AT_COLUMN],
    row: ({ metadata }) => [metadata.name ?? '', metadata.creationTimestamp ?? ''],
  },
};

/** What is unset defaults from the next thing that is set: limit from max, request from limit or min. */
function setItemDefaults(item: LimitRangeItem): void {
  for (const list of [item.max, item.min, item.default, item.defaultRequest, item.maxLimitRequestRatio]) {
    roundResources(list);
  }
  if (item.type !== 'Container') return;
  const limits: ResourceList = { ...item.max, ...item.default };
  const requests: ResourceList = { ...item.min, ...limits, ...item.defaultRequest };
  if (Object.keys(limits).length > 0) item.default = limits;
  if (Object.keys(requests).length > 0) item.defaultRequest = requests;
}
