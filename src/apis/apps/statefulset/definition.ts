import { FieldPath } from '../../../machinery/field-error.js';
import { nameIsDnsLabel } from '../../../machinery/validation/names.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../../registry/columns.js';
import { dropGatedFields, gated } from '../../../registry/gated-fields.js';
import type { FeatureGates, KindDefinition } from '../../../registry/kind.js';
import type { StatefulSet } from '../../../schema/generated/apps.v1.js';
import { containerCells, containerColumns } from '../../core/pod/columns.js';
import { defaultPodTemplate, defaultTemplateBehindGates, roundQuantities } from '../../core/pod/defaults.js';
import { equalityOf } from '../../core/pod/equal.js';
import { scaleSubresource } from '../../core/pod/scale.js';
import { isNewGeneration, selectorText, templateWarnings, workloadHooks } from '../../core/pod/template-strategy.js';
import { podRules } from '../../core/pod/validation/options.js';
import { warningsForClaimSpec } from '../../core/pod/warnings.js';
import { validateStatefulSetCreate, validateStatefulSetStatus, validateStatefulSetUpdate } from './validation.js';

const CLAIMS = FieldPath.of('spec', 'volumeClaimTemplates');

const sameSpec = equalityOf<StatefulSet['spec']>('io.k8s.api.apps.v1.StatefulSetSpec');

export const statefulSets: KindDefinition<StatefulSet> = {
  group: 'apps',
  kind: 'StatefulSet',
  plural: 'statefulsets',
  singular: 'statefulset',
  shortNames: ['sts'],
  categories: ['all'],
  namespaced: true,
  storage: { keyPrefix: 'statefulsets' },
  versions: [{ version: 'v1', defaults: setDefaults, defaultsBehindGates }],
  storageVersion: 'v1',
  strategy: {
    ...workloadHooks<StatefulSet>({
      same: (a, b) => sameSpec(a.spec, b.spec),
      template: ({ spec }) => spec.template,
      prepare: (object, old, { features }) => {
        if (old === undefined) object.status = { replicas: 0, availableReplicas: 0 };
        dropGatedFields(GATED, object, old, features);
      },
    }),
    hasStatus: true,
    hasGeneration: false,
    metadataRules: { validateName: nameIsDnsLabel },
    validate: ({ spec }, context) => validateStatefulSetCreate(spec, podRules(context, false)),
    validateUpdate: ({ spec }, old, context) =>
      validateStatefulSetUpdate(spec, old.spec, podRules(context, false, old.spec.template)),
    warningsOnCreate: (object, context) => [
      ...templateWarnings(object.spec.template, context),
      ...(object.spec.volumeClaimTemplates ?? []).flatMap(({ spec }, position) =>
        warningsForClaimSpec(spec, CLAIMS.index(position)),
      ),
      ...historyWarnings(object),
    ],
    warningsOnUpdate: (object, old, context) => [
      ...(isNewGeneration(object, old) ? templateWarnings(object.spec.template, context) : []),
      ...(object.spec.volumeClaimTemplates ?? []).flatMap(({ spec }, position) =>
        warningsForClaimSpec(spec, CLAIMS.index(position).child('Spec')),
      ),
      ...historyWarnings(object),
    ],
    status: { validateUpdate: ({ status }, old) => validateStatefulSetStatus(status, old.status) },
  },
  table: {
    columns: [NAME_COLUMN, column('Ready', 'Number of the pod with ready state'), AGE_COLUMN, ...containerColumns],
    row: (object, now) => [
      object.metadata.name ?? '',
      `${object.status.readyReplicas ?? 0}/${object.spec.replicas ?? 0}`,
      ageCell(object, now),
      ...containerCells(object.spec.template.spec.containers),
    ],
  },
  subresources: { scale: scaleSubresource<StatefulSet>(({ spec }) => selectorText(spec.selector)) },
};

const GATED = [
  gated<StatefulSet>('StatefulSetAutoDeletePVC', 'spec.persistentVolumeClaimRetentionPolicy'),
  gated<StatefulSet>('MaxUnavailableStatefulSet', 'spec.updateStrategy.rollingUpdate.maxUnavailable'),
];

const historyWarnings = ({ spec }: Readonly<StatefulSet>): string[] =>
  (spec.revisionHistoryLimit ?? 0) < 0
    ? ['spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended']
    : [];

function defaultsBehindGates({ spec }: StatefulSet, features: FeatureGates): void {
  defaultTemplateBehindGates(spec.template, features);
  const { type, rollingUpdate } = spec.updateStrategy;
  if (type === 'RollingUpdate' && rollingUpdate && features.enabled('MaxUnavailableStatefulSet')) {
    rollingUpdate.maxUnavailable ??= 1;
  }
  if (features.enabled('StatefulSetAutoDeletePVC')) {
    const retention = (spec.persistentVolumeClaimRetentionPolicy ??= {});
    retention.whenDeleted ||= 'Retain';
    retention.whenScaled ||= 'Retain';
  }
}

function setDefaults({ spec }: StatefulSet): void {
  spec.podManagementPolicy ||= 'OrderedReady';
  if (!spec.updateStrategy.type) {
    spec.updateStrategy.type = 'RollingUpdate';
    spec.updateStrategy.rollingUpdate ??= {};
  }
  if (spec.updateStrategy.type === 'RollingUpdate' && spec.updateStrategy.rollingUpdate) {
    spec.updateStrategy.rollingUpdate.partition ??= 0;
  }
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  defaultPodTemplate(spec.template);
  for (const claim of spec.volumeClaimTemplates ?? []) {
    claim.kind = 'PersistentVolumeClaim';
    claim.apiVersion = 'v1';
    claim.spec.volumeMode ??= 'Filesystem';
    (claim.status ??= {}).phase ||= 'Pending';
    roundQuantities(claim.spec.resources?.limits);
    roundQuantities(claim.spec.resources?.requests);
  }
}
