import { validateObjectMeta } from '../../../machinery/validation/object-meta.js';
import { nameIsDnsSubdomain } from '../../../machinery/validation/names.js';
import { LabelSelector } from '../../../machinery/label-selector.js';
import { AGE_COLUMN, ageCell, labelsCell, NAME_COLUMN, wideColumn } from '../../../registry/columns.js';
import type { KindDefinition } from '../../../registry/kind.js';
import type { ReplicationController } from '../../../schema/generated/core.v1.js';
import { containerCells, containerColumns } from '../pod/columns.js';
import { defaultPodTemplate } from '../pod/defaults.js';
import { equalityOf } from '../pod/equal.js';
import { isNewGeneration, podNameWarnings, templateWarnings, workloadHooks } from '../pod/template-strategy.js';
import { podRules } from '../pod/validation/options.js';
import { validateControllerSpec, validateControllerStatus } from './validation.js';

const sameSpec = equalityOf<ReplicationController['spec']>('io.k8s.api.core.v1.ReplicationControllerSpec');

export const replicationControllers: KindDefinition<ReplicationController> = {
  group: '',
  kind: 'ReplicationController',
  plural: 'replicationcontrollers',
  singular: 'replicationcontroller',
  shortNames: ['rc'],
  categories: ['all'],
  namespaced: true,
  keyPrefix: 'controllers',
  versions: [{ version: 'v1', defaults: setDefaults }],
  storageVersion: 'v1',
  strategy: {
    ...workloadHooks<ReplicationController>({
      same: (a, b) => sameSpec(a.spec, b.spec),
      template: ({ spec }) => spec.template,
      prepare: (object, old) => {
        if (old === undefined) object.status = { replicas: 0 };
      },
    }),
    hasStatus: true,
    hasGeneration: false,
    validateName: nameIsDnsSubdomain,
    validate: ({ spec }, context) => validateControllerSpec(spec, podRules(context, false)),
    validateUpdate: ({ metadata, spec }, old, context) => {
      const rules = podRules(context, false, old.spec.template);
      // An update is checked as a creation and then as an update, so that what is wrong shows twice.
      return [
        ...validateObjectMeta(metadata, { namespaced: true, validateName: nameIsDnsSubdomain }),
        ...validateControllerSpec(spec, rules),
        ...validateControllerSpec(spec, rules),
      ];
    },
    warningsOnCreate: (object) => [...podNameWarnings(object), ...templateWarnings(object.spec.template)],
    warningsOnUpdate: (object, old) => (isNewGeneration(object, old) ? templateWarnings(old.spec.template) : []),
    status: { validateUpdate: ({ status }) => validateControllerStatus(status) },
    delete: { defaultGarbageCollection: 'orphan' },
  },
  columns: [
    NAME_COLUMN,
    { name: 'Desired', type: 'integer', description: 'How many pods are wanted.' },
    { name: 'Current', type: 'integer', description: 'How many pods there are.' },
    { name: 'Ready', type: 'integer', description: 'How many of them are ready.' },
    AGE_COLUMN,
    ...containerColumns,
    wideColumn('Selector', 'The labels of its pods.'),
  ],
  row: (object, now) => [
    object.metadata.name ?? '',
    object.spec.replicas ?? 0,
    object.status.replicas,
    object.status.readyReplicas ?? 0,
    ageCell(object, now),
    ...containerCells(object.spec.template?.spec.containers),
    labelsCell(object.spec.selector),
  ],
  selectableFields: ({ status }) => ({ 'status.replicas': String(status.replicas) }),
  subresources: {
    scale: {
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
      verbs: ['get', 'patch', 'update'],
      scale: {
        specReplicas: ({ spec }) => spec.replicas ?? 0,
        setSpecReplicas: ({ spec }, replicas) => {
          spec.replicas = replicas;
        },
        statusReplicas: ({ status }) => status.replicas,
        selector: ({ spec }) => LabelSelector.fromLabels(spec.selector).toString(),
      },
    },
  },
};

function setDefaults({ metadata, spec }: ReplicationController): void {
  spec.replicas ??= 1;
  const labels = spec.template?.metadata.labels;
  if (labels !== undefined) {
    if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels };
    if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
  }
  if (spec.template) defaultPodTemplate(spec.template);
}
