import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../registry/columns.js';
import type { KindDefinition } from '../../registry/kind.js';
import type { ResourceSlice } from '../../schema/generated/resource.v1.js';
import { stampTaint } from './defaults.js';
import { dropSliceFields } from './drop-slice-fields.js';
import { validateSlice } from './slice-validation.js';
import { sliceFromOld, sliceToOld } from './v1beta1-conversion.js';
import { RESOURCE_GROUP, resourceVersions, STORAGE_VERSION } from './versions.js';

export const resourceSlices: KindDefinition<ResourceSlice> = {
  group: RESOURCE_GROUP,
  kind: 'ResourceSlice',
  plural: 'resourceslices',
  singular: 'resourceslice',
  namespaced: false,
  versions: resourceVersions<ResourceSlice>({
    v1beta1: { toStorage: sliceFromOld, fromStorage: sliceToOld },
  }),
  storageVersion: STORAGE_VERSION,
  strategy: {
    hasGeneration: true,
    prepareForCreate: ({ spec }, context) => {
      dropSliceFields(spec, undefined, context.features);
      stampTaints(spec, context.now());
    },
    prepareForUpdate: ({ spec }, old, context) => {
      dropSliceFields(spec, old.spec, context.features);
      stampTaints(spec, context.now());
    },
    validate: ({ spec }) => validateSlice(spec),
    validateUpdate: ({ spec }, old) => validateSlice(spec, old.spec),
    canonicalize: ({ spec }) => {
      if (spec.devices?.length === 0) spec.devices = null;
    },
    delete: { returnsObject: true },
  },
  table: {
    columns: [
      NAME_COLUMN,
      column('Node', 'The node whose devices these are.'),
      column('Driver', 'The driver of the devices.'),
      column('Pool', 'The pool the devices belong to.'),
      AGE_COLUMN,
    ],
    row: ({ metadata, spec }, now) => [
      metadata.name ?? '',
      spec.nodeName ?? '',
      spec.driver,
      spec.pool.name,
      ageCell({ metadata }, now),
    ],
  },
  selection: {
    fields: ({ spec }) => ({ 'spec.nodeName': spec.nodeName ?? '', 'spec.driver': spec.driver }),
    indexedField: 'spec.nodeName',
    fieldLabelError: (label, version) =>
      `field label not supported for ${RESOURCE_GROUP}/${version}, Kind=ResourceSlice: ${label}`,
  },
};

function stampTaints({ devices }: ResourceSlice['spec'], now: Date): void {
  for (const { taints } of devices ?? []) for (const taint of taints ?? []) stampTaint(taint, now);
}
