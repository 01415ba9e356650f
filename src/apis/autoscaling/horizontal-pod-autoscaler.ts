import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../registry/columns.js';
import { dropGatedFields, gated } from '../../registry/gated-fields.js';
import type { KindDefinition } from '../../registry/kind.js';
import type { HorizontalPodAutoscaler } from '../../schema/generated/autoscaling.v2.js';
import { defaultAutoscaler, defaultBehavior } from './defaults.js';
import { targetsCell } from './targets-cell.js';
import { defaultV1, dropConversionAnnotations, fromV1, toV1 } from './v1-conversion.js';
import { validateAutoscaler, validateAutoscalerStatus } from './validation.js';

export const horizontalPodAutoscalers: KindDefinition<HorizontalPodAutoscaler> = {
  group: 'autoscaling',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  singular: 'horizontalpodautoscaler',
  shortNames: ['hpa'],
  categories: ['all'],
  namespaced: true,
  versions: [
    { version: 'v2', defaults: defaultAutoscaler, toStorage: dropConversionAnnotations },
    { version: 'v1', defaults: defaultV1, toStorage: fromV1, fromStorage: toV1 },
  ],
  storageVersion: 'v2',
  strategy: {
    hasStatus: true,
    hasGeneration: false,
    prepareForCreate: (object, { features }) => {
      object.status = { desiredReplicas: 0, currentMetrics: null };
      dropGatedFields(GATED, object, undefined, features);
    },
    prepareForUpdate: (object, old, { features }) => dropGatedFields(GATED, object, old, features),
    validate: (object, { features }) => validateAutoscaler(object, undefined, features),
    validateUpdate: (object, old, { features }) => validateAutoscaler(object, old, features),
    canonicalize: defaultBehavior,
    status: { validateUpdate: validateAutoscalerStatus },
    resetFields: { '': [['status']], status: [['spec']] },
  },
  subresources: { status: { kind: 'HorizontalPodAutoscaler', verbs: ['get', 'patch', 'update'] } },
  table: {
    columns: [
      NAME_COLUMN,
      column('Reference', 'What is scaled.'),
      column('Targets', 'The metrics: what they are now and what they should be.'),
      column('MinPods', 'The fewest pods it scales to.'),
      column('MaxPods', 'The most pods it scales to.'),
      column('Replicas', 'How many pods there are.'),
      AGE_COLUMN,
    ],
    row: ({ metadata, spec, status }, now) => [
      metadata.name ?? '',
      `${spec.scaleTargetRef.kind}/${spec.scaleTargetRef.name}`,
      targetsCell(spec.metrics ?? [], status.currentMetrics ?? []),
      String(spec.minReplicas ?? '<unset>'),
      spec.maxReplicas,
      status.currentReplicas ?? 0,
      ageCell({ metadata }, now),
    ],
  },
};

const GATED = [
  gated<HorizontalPodAutoscaler>(
    'HPAConfigurableTolerance',
    'spec.behavior.scaleDown.tolerance',
    'spec.behavior.scaleUp.tolerance',
  ),
];
