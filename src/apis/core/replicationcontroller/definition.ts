import { nameIsDnsSubdomain } from '../../../machinery/validation/names.js';
import { LabelSelector } from '../../../machinery/label-selector.js';
import { labelsCell } from '../../../registry/columns.js';
import type { KindDefinition } from '../../../registry/kind.js';
import type { ReplicationController } from '../../../schema/generated/core.v1.js';
import { defaultPodTemplate, defaultTemplateBehindGates } from '../pod/defaults.js';
import { equalityOf } from '../pod/equal.js';
import { replicaColumns, replicaRow } from '../pod/replica-table.js';
import { scaleSubresource } from '../pod/scale.js';
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
  storage: { keyPrefix: 'controllers' },
  versions: [
    {
      version: 'v1',
      defaults: setDefaults,
      defaultsBehindGates: ({ spec: { template } }, features) => {
        if (template) defaultTemplateBehindGates(template, features);
      },
    },
  ],
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
    metadataRules: { validateName: nameIsDnsSubdomain, placedOnUpdate: true },
    validate: ({ spec }, context) => validateControllerSpec(spec, podRules(context, false)),
    validateUpdate: ({ spec }, old, context, { whole, change }) => {
      const own = validateControllerSpec(spec, podRules(context, false, old.spec.template));
      // An update is checked as a creation and then as an update, so that what is wrong shows twice.
      return [...whole, ...own, ...change, ...own];
    },
    warningsOnCreate: (object, context) => [
      ...podNameWarnings(object),
      ...templateWarnings(object.spec.template, context),
    ],
    warningsOnUpdate: (object, old, context) =>
      isNewGeneration(object, old) ? templateWarnings(old.spec.template, context) : [],
    status: { validateUpdate: ({ status }) => validateControllerStatus(status) },
    delete: { defaultGarbageCollection: 'orphan' },
  },
  table: { columns: replicaColumns, row: (object, now) => replicaRow(object, now, labelsCell(object.spec.selector)) },
  selection: { fields: ({ status }) => ({ 'status.replicas': String(status.replicas) }) },
  subresources: {
    scale: scaleSubresource<ReplicationController>(({ spec }) => LabelSelector.fromLabels(spec.selector).toString()),
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
