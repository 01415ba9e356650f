import { append } from '../../../lib/values/append.js';
import { internalValue, selectorValue } from '../../core/internal-form/internal-value.js';
import {
  type FieldErrors,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  named,
} from '../../../machinery/field-error.js';
import { validateAnnotations } from '../../../machinery/validation/object-meta.js';
import { validateLabels } from '../../../machinery/validation/label-selector.js';
import { validateNonNegative } from '../../../machinery/validation/fields.js';
import type {
  StatefulSetSpec,
  StatefulSetStatus,
  StatefulSetUpdateStrategy,
} from '../../../schema/generated/apps.v1.js';
import type { PodTemplateSpec, Volume } from '../../../schema/generated/core.v1.js';
import { equalityOf } from '../../core/pod/equal.js';
import { validateCollisionCount, validateCounts, validateReplicaCounts } from '../../core/pod/replica-status.js';
import { validatePodAnnotations } from '../../core/pod/validation/annotations.js';
import { validateDnsLabel } from '../../core/pod/validation/names.js';
import type { PodRules } from '../../core/pod/validation/pod-rules.js';
import { validatePodTemplateSpec } from '../../core/pod/validation/pod.js';
import { validateKeptRunning, validateSelected } from '../../core/pod/validation/workload-template.js';
import { validateClaimSpec } from '../../core/persistentvolumeclaim/validation.js';
import { numberIn, validateAtMostWhole, validateIntOrPercent } from '../shared/int-or-percent.js';
import { compiledSelector, validateOwnSelector } from '../shared/selector.js';

const sameSpec = equalityOf<StatefulSetSpec>('io.k8s.api.apps.v1.StatefulSetSpec');
const SPEC = FieldPath.of('spec');
const STATUS = FieldPath.of('status');
const RETENTION = ['Retain', 'Delete'];
const IMMUTABLE =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

interface Leniency {
  /** Members that cannot change are not checked again. */
  readonly isUpdate?: boolean;
  readonly skipTemplate?: boolean;
}

export const validateStatefulSetCreate = (spec: Readonly<StatefulSetSpec>, rules: PodRules): FieldErrors =>
  validateStatefulSetSpec(spec, rules, {});

export function validateStatefulSetUpdate(
  spec: Readonly<StatefulSetSpec>,
  old: Readonly<StatefulSetSpec>,
  rules: PodRules,
): FieldErrors {
  const skipTemplate = validateStatefulSetSpec(old, rules, { isUpdate: true }).length > 0;
  const errors = validateStatefulSetSpec(spec, rules, { isUpdate: true, skipTemplate });
  const kept: StatefulSetSpec = {
    ...spec,
    replicas: old.replicas,
    template: old.template,
    updateStrategy: old.updateStrategy,
    minReadySeconds: old.minReadySeconds,
    ordinals: old.ordinals,
    revisionHistoryLimit: old.revisionHistoryLimit,
    persistentVolumeClaimRetentionPolicy: old.persistentVolumeClaimRetentionPolicy,
  };
  if (!sameSpec(kept, old)) errors.push(forbidden(SPEC, IMMUTABLE));
  return errors;
}

export const validateStatefulSetStatus = (
  status: Readonly<StatefulSetStatus>,
  old: Readonly<StatefulSetStatus>,
): FieldErrors => [
  ...validateCounts(
    status,
    [
      'replicas',
      'readyReplicas',
      'currentReplicas',
      'updatedReplicas',
      'availableReplicas',
      'observedGeneration',
      'collisionCount',
    ],
    STATUS,
  ),
  ...validateReplicaCounts(
    status,
    ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
    'status.readyReplicas',
    STATUS,
  ),
  ...validateCollisionCount(status, old, STATUS),
];

function validateStatefulSetSpec(spec: Readonly<StatefulSetSpec>, rules: PodRules, leniency: Leniency): FieldErrors {
  const { isUpdate = false } = leniency;
  const errors = [
    ...validateManagementPolicy(spec.podManagementPolicy, SPEC.child('podManagementPolicy')),
    ...validateUpdateStrategy(spec.updateStrategy, SPEC.child('updateStrategy')),
    ...validateRetention(spec, SPEC.child('persistentVolumeClaimRetentionPolicy')),
  ];
  if (!isUpdate) {
    for (const [position, claim] of (spec.volumeClaimTemplates ?? []).entries()) {
      append(errors, validateClaimSpec(claim.spec, SPEC.child('volumeClaimTemplates').index(position).child('spec')));
    }
  }
  append(
    errors,
    validateNonNegative(spec.replicas, SPEC.child('replicas')),
    validateNonNegative(spec.minReadySeconds, SPEC.child('minReadySeconds')),
    validateNonNegative(spec.ordinals?.start, SPEC.child('ordinals.start')),
  );
  if (!isUpdate && spec.serviceName) append(errors, validateDnsLabel(spec.serviceName, SPEC.child('serviceName')));
  append(errors, validateOwnSelector(spec.selector, 'statefulset', SPEC.child('selector')));
  const selector = compiledSelector(spec.selector);
  const path = SPEC.child('template');
  if (selector === undefined) errors.push(invalid(SPEC.child('selector'), selectorValue(spec.selector), ''));
  else {
    const template = withClaimedVolumes(spec);
    const { labels, annotations } = template.metadata;
    append(
      errors,
      validateSelected(template, selector, path),
      leniency.skipTemplate ? [] : validatePodTemplateSpec(template, path, rules),
      validateLabels(labels, path.child('labels')),
      validateAnnotations(annotations, path.child('annotations')),
      validatePodAnnotations(annotations, template.spec, path.child('annotations'), rules),
    );
  }
  append(errors, validateKeptRunning(spec.template, 'StatefulSet', path));
  return errors;
}

/** The template as its pods will be: the claims become volumes, and names are the controller's to give. */
function withClaimedVolumes({ template, volumeClaimTemplates }: Readonly<StatefulSetSpec>): PodTemplateSpec {
  const { subdomain: _, hostname: __, ...spec } = template.spec;
  if (!volumeClaimTemplates) return { ...template, spec };
  const claimed = new Map<string, Volume>();
  for (const { metadata } of volumeClaimTemplates) {
    const name = metadata.name ?? '';
    claimed.set(name, { name, persistentVolumeClaim: { claimName: name } });
  }
  const others = (spec.volumes ?? []).filter(({ name }) => !claimed.has(name));
  return { ...template, spec: { ...spec, volumes: [...claimed.values(), ...others] } };
}

function validateManagementPolicy(policy: string | undefined, path: FieldPath): FieldErrors {
  if (!policy) return [required(path)];
  if (policy === 'OrderedReady' || policy === 'Parallel') return [];
  return [invalid(path, named(policy), "must be 'OrderedReady' or 'Parallel'")];
}

function validateUpdateStrategy(strategy: Readonly<StatefulSetUpdateStrategy>, path: FieldPath): FieldErrors {
  const { type, rollingUpdate } = strategy;
  const at = path.child('rollingUpdate');
  switch (type ?? '') {
    case '':
      return [required(path)];
    case 'OnDelete': {
      if (!rollingUpdate) return [];
      const shown = internalValue('RollingUpdateStatefulSetStrategy', rollingUpdate);
      return [invalid(at, shown, "only allowed for updateStrategy 'RollingUpdate'")];
    }
    case 'RollingUpdate': {
      if (!rollingUpdate) return [];
      const errors = validateNonNegative(rollingUpdate.partition, at.child('partition'));
      const { maxUnavailable } = rollingUpdate;
      if (maxUnavailable === undefined) return errors;
      const here = at.child('maxUnavailable');
      append(errors, validateIntOrPercent(maxUnavailable, here));
      if (numberIn(maxUnavailable) === 0) errors.push(invalid(here, maxUnavailable, 'cannot be 0'));
      append(errors, validateAtMostWhole(maxUnavailable, here));
      return errors;
    }
    default: {
      const shown = internalValue('StatefulSetUpdateStrategy', strategy);
      return [invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'")];
    }
  }
}

function validateRetention(
  { persistentVolumeClaimRetentionPolicy: policy }: Readonly<StatefulSetSpec>,
  path: FieldPath,
): FieldErrors {
  if (!policy) return [];
  return (['whenDeleted', 'whenScaled'] as const).flatMap((member) => {
    const value = policy[member] ?? '';
    return RETENTION.includes(value) ? [] : [notSupported(path.child(member), value, RETENTION)];
  });
}
