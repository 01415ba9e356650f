import { deepEqual } from '../../../lib/values/deep-equal.js';
import { FieldPath } from '../../../machinery/field-error.js';
import { nameIsDnsSubdomain } from '../../../machinery/validation/names.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN, wideColumn } from '../../../registry/columns.js';
import { dropGatedFields, gated } from '../../../registry/gated-fields.js';
import type { KindDefinition } from '../../../registry/kind.js';
import type { Deployment } from '../../../schema/generated/apps.v1.js';
import { containerCells, containerColumns } from '../../core/pod/columns.js';
import { defaultPodTemplate, defaultTemplateBehindGates } from '../../core/pod/defaults.js';
import { equalityOf } from '../../core/pod/equal.js';
import { scaleSubresource } from '../../core/pod/scale.js';
import {
  isNewGeneration,
  podNameWarnings,
  selectorText,
  templateWarnings,
  workloadHooks,
} from '../../core/pod/template-strategy.js';
import { podRules } from '../../core/pod/validation/options.js';
import { validateImmutableSelector } from '../shared/selector.js';
import { validateDeploymentSpec, validateDeploymentStatus } from './validation.js';

const sameSpec = equalityOf<Deployment['spec']>('io.k8s.api.apps.v1.DeploymentSpec');

const GATED_STATUS = [gated<Deployment>('DeploymentReplicaSetTerminatingReplicas', 'status.terminatingReplicas')];

export const deployments: KindDefinition<Deployment> = {
  group: 'apps',
  kind: 'Deployment',
  plural: 'deployments',
  singular: 'deployment',
  shortNames: ['deploy'],
  categories: ['all'],
  namespaced: true,
  storage: { keyPrefix: 'deployments' },
  versions: [
    {
      version: 'v1',
      defaults: setDefaults,
      defaultsBehindGates: ({ spec }, features) => defaultTemplateBehindGates(spec.template, features),
    },
  ],
  storageVersion: 'v1',
  strategy: {
    ...workloadHooks<Deployment>({
      // Annotations count too: they are carried on to the replica sets.
      same: (a, b) => sameSpec(a.spec, b.spec) && deepEqual(a.metadata.annotations ?? {}, b.metadata.annotations ?? {}),
      template: ({ spec }) => spec.template,
      prepare: (object, old) => {
        if (old === undefined) object.status = {};
      },
    }),
    hasStatus: true,
    hasGeneration: false,
    metadataRules: { validateName: nameIsDnsSubdomain },
    validate: ({ spec }, context) => validateDeploymentSpec(spec, podRules(context, false)),
    validateUpdate: ({ spec }, old, context) => [
      ...validateDeploymentSpec(spec, podRules(context, false, old.spec.template)),
      ...validateImmutableSelector(spec.selector, old.spec.selector, FieldPath.of('spec', 'selector')),
    ],
    warningsOnCreate: (object, context) => [
      ...podNameWarnings(object),
      ...templateWarnings(object.spec.template, context),
    ],
    warningsOnUpdate: (object, old, context) =>
      isNewGeneration(object, old) ? templateWarnings(object.spec.template, context) : [],
    status: {
      prepareForUpdate: (object, old, { features }) => {
        const { metadata } = object;
        if (!deepEqual(metadata.labels, old.metadata.labels)) {
          if (old.metadata.labels === undefined) delete metadata.labels;
          else metadata.labels = old.metadata.labels;
        }
        dropGatedFields(GATED_STATUS, object, old, features);
      },
      validateUpdate: ({ status }, old) => validateDeploymentStatus(status, old.status),
    },
    resetFields: { '': [['status']], status: [['spec'], ['metadata', 'labels']] },
  },
  table: {
    columns: [
      NAME_COLUMN,
      column('Ready', 'Number of the pod with ready state'),
      column('Up-to-date', 'How many pods are made from the newest template.'),
      column('Available', 'How many pods have been ready long enough.'),
      AGE_COLUMN,
      ...containerColumns,
      wideColumn('Selector', 'The labels of its pods.'),
    ],
    row: (object, now) => [
      object.metadata.name ?? '',
      `${object.status.readyReplicas ?? 0}/${object.spec.replicas ?? 0}`,
      object.status.updatedReplicas ?? 0,
      object.status.availableReplicas ?? 0,
      ageCell(object, now),
      ...containerCells(object.spec.template.spec.containers),
      selectorText(object.spec.selector, '<invalid>'),
    ],
  },
  subresources: { scale: scaleSubresource<Deployment>(({ spec }) => selectorText(spec.selector)) },
};

function setDefaults({ spec }: Deployment): void {
  spec.replicas ??= 1;
  spec.strategy.type ||= 'RollingUpdate';
  if (spec.strategy.type === 'RollingUpdate') {
    const rolling = (spec.strategy.rollingUpdate ??= {});
    rolling.maxUnavailable ??= '25%';
    rolling.maxSurge ??= '25%';
  }
  spec.revisionHistoryLimit ??= 10;
  spec.progressDeadlineSeconds ??= 600;
  defaultPodTemplate(spec.template);
}
