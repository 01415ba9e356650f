import { FieldPath } from '../../../machinery/field-error.js';
import { nameIsDnsSubdomain } from '../../../machinery/validation/names.js';
import { dropGatedFields, gated } from '../../../registry/gated-fields.js';
import type { KindDefinition } from '../../../registry/kind.js';
import type { ReplicaSet } from '../../../schema/generated/apps.v1.js';
import { defaultPodTemplate, defaultTemplateBehindGates } from '../../core/pod/defaults.js';
import { equalityOf } from '../../core/pod/equal.js';
import { replicaColumns, replicaRow } from '../../core/pod/replica-table.js';
import { scaleSubresource } from '../../core/pod/scale.js';
import {
  isNewGeneration,
  podNameWarnings,
  selectorCell,
  selectorText,
  templateWarnings,
  workloadHooks,
} from '../../core/pod/template-strategy.js';
import { podRules } from '../../core/pod/validation/options.js';
import { validateImmutableSelector } from '../shared/selector.js';
import { validateReplicaSetSpec, validateReplicaSetStatus } from './validation.js';

const sameSpec = equalityOf<ReplicaSet['spec']>('io.k8s.api.apps.v1.ReplicaSetSpec');

const GATED_STATUS = [gated<ReplicaSet>('DeploymentReplicaSetTerminatingReplicas', 'status.terminatingReplicas')];

export const replicaSets: KindDefinition<ReplicaSet> = {
  group: 'apps',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  singular: 'replicaset',
  shortNames: ['rs'],
  categories: ['all'],
  namespaced: true,
  storage: { keyPrefix: 'replicasets' },
  versions: [
    {
      version: 'v1',
      defaults: setDefaults,
      defaultsBehindGates: ({ spec }, features) => defaultTemplateBehindGates(spec.template, features),
    },
  ],
  storageVersion: 'v1',
  strategy: {
    ...workloadHooks<ReplicaSet>({
      same: (a, b) => sameSpec(a.spec, b.spec),
      template: ({ spec }) => spec.template,
      prepare: (object, old) => {
        if (old === undefined) object.status = { replicas: 0 };
      },
    }),
    hasStatus: true,
    hasGeneration: false,
    metadataRules: { validateName: nameIsDnsSubdomain },
    validate: ({ spec }, context) => validateReplicaSetSpec(spec, podRules(context, false)),
    validateUpdate: ({ spec }, old, context) => [
      ...validateReplicaSetSpec(spec, podRules(context, false, old.spec.template)),
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
        dropGatedFields(GATED_STATUS, object, old, features);
      },
      validateUpdate: ({ status }) => validateReplicaSetStatus(status),
    },
  },
  table: { columns: replicaColumns, row: (object, now) => replicaRow(object, now, selectorCell(object.spec.selector)) },
  subresources: { scale: scaleSubresource<ReplicaSet>(({ spec }) => selectorText(spec.selector)) },
};

function setDefaults({ spec }: ReplicaSet): void {
  spec.replicas ??= 1;
  defaultPodTemplate(spec.template);
}
