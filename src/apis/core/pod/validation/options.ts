import type { PodSpec } from '../../../../schema/generated/core.v1.js';
import type { ObjectMeta } from '../../../../machinery/object.js';
import type { LifeContext } from '../../../../registry/kind.js';
import { selectorHasInvalidLabelValue } from '../../../../machinery/validation/label-selector.js';
import { isValidLabelValue } from '../../../../machinery/validation/names.js';
import { allContainers, isSidecar } from '../containers.js';
import { deletionCostIsInvalid } from './annotations.js';
import { relaxedEnvNamesOf } from './env.js';
import { podAffinityTerms } from './affinity.js';
import { climbsOutOfTokenVolume } from './projected-volume.js';
import { hugePagesAreIndivisible } from './resources.js';
import { isHostSysctl } from './sysctls.js';
import { matchLabelKeysErrors } from './topology-spread.js';
import type { PodRules, PodStatusRules } from './pod-rules.js';

interface Holder {
  readonly metadata: Readonly<ObjectMeta>;
  readonly spec: Readonly<PodSpec>;
}

export function podRules(
  { features, options }: Pick<LifeContext, 'features' | 'options'>,
  isPod: boolean,
  old?: Holder | null,
): PodRules {
  const spec = old?.spec;
  const mergeMatchLabelKeys = features.enabled('MatchLabelKeysInPodTopologySpreadSelectorMerge');
  const spreadMatchLabelKeys = features.enabled('MatchLabelKeysInPodTopologySpread');
  return {
    isPod,
    allowPrivileged: options.allowPrivileged,
    strictAddresses: features.enabled('StrictIPCIDRValidation'),
    podLevelResources: features.enabled('PodLevelResources'),
    mergeMatchLabelKeys,
    spreadMatchLabelKeys,
    oldBreaksMatchLabelKeys:
      spec !== undefined && spreadMatchLabelKeys && breaksMatchLabelKeys(spec, mergeMatchLabelKeys),
    restartRules: features.enabled('ContainerRestartRules') || (spec !== undefined && usesRestartRules(spec)),
    envFiles: features.enabled('EnvFiles') || (spec !== undefined && usesEnvFiles(spec)),
    onlyRecursiveSELinux: !features.enabled('SELinuxMount') && spec?.securityContext?.seLinuxChangePolicy === undefined,
    relaxedEnvNames:
      features.enabled('RelaxedEnvironmentVariableValidation') || (spec !== undefined && relaxedEnvNamesOf(spec)),
    relaxedDnsSearches:
      features.enabled('RelaxedDNSSearchValidation') ||
      (spec?.dnsConfig?.searches ?? []).some((search) => search === '.' || search.includes('_')),
    sleepMayBeZero: features.enabled('PodLifecycleSleepActionAllowZero') || (spec !== undefined && sleepsForZero(spec)),
    sidecarResizePolicy:
      features.enabled('InPlacePodVerticalScaling') ||
      (spec?.initContainers ?? []).some((each) => isSidecar(each) && (each.resizePolicy ?? []).length > 0),
    allowInvalidDeletionCost: allowsInvalidDeletionCost(features, old),
    allowInvalidAffinityLabelValue:
      spec !== undefined &&
      podAffinityTerms(spec).some(
        (term) =>
          selectorHasInvalidLabelValue(term.labelSelector) || selectorHasInvalidLabelValue(term.namespaceSelector),
      ),
    allowInvalidNodeAffinityValue: spec !== undefined && hasInvalidNodeAffinityValue(spec),
    allowInvalidSpreadSelector:
      spec !== undefined &&
      (spec.topologySpreadConstraints ?? []).some((each) => selectorHasInvalidLabelValue(each.labelSelector)),
    allowIndivisibleHugePages: spec !== undefined && hugePagesAreIndivisible(spec),
    allowNonLocalTokenPath: spec !== undefined && climbsOutOfTokenVolume(spec),
    allowHostSysctls:
      spec !== undefined && (spec.securityContext?.sysctls ?? []).some(({ name }) => isHostSysctl(name, spec)),
    allowUserNamespaceDevices:
      spec?.hostUsers === false && allContainers(spec).some((each) => (each.volumeDevices ?? []).length > 0),
  };
}

// hot: what a pod's status is held to needs no look at its spec.
export const podStatusRules = ({ features }: Pick<LifeContext, 'features'>, old: Holder): PodStatusRules => ({
  strictAddresses: features.enabled('StrictIPCIDRValidation'),
  allowInvalidDeletionCost: allowsInvalidDeletionCost(features, old),
});

const allowsInvalidDeletionCost = (features: LifeContext['features'], old: Holder | null | undefined): boolean =>
  !features.enabled('PodDeletionCost') || (old != null && deletionCostIsInvalid(old.metadata.annotations));

export const usesRestartRules = (spec: Readonly<PodSpec>): boolean =>
  (spec.initContainers ?? []).some(
    (each) =>
      (each.restartPolicy !== undefined && each.restartPolicy !== 'Always') ||
      (each.restartPolicyRules ?? []).length > 0,
  ) || (spec.containers ?? []).some((each) => each.restartPolicy !== undefined);

const usesEnvFiles = (spec: Readonly<PodSpec>): boolean =>
  allContainers(spec).some((each) => (each.env ?? []).some((variable) => variable.valueFrom?.fileKeyRef !== undefined));

const sleepsForZero = (spec: Readonly<PodSpec>): boolean =>
  allContainers(spec).some(
    ({ lifecycle }) => lifecycle?.preStop?.sleep?.seconds === 0 || lifecycle?.postStart?.sleep?.seconds === 0,
  );

const breaksMatchLabelKeys = (spec: Readonly<PodSpec>, merged: boolean): boolean =>
  (spec.topologySpreadConstraints ?? []).some((each) => matchLabelKeysErrors(each, merged).length > 0);

const hasInvalidNodeAffinityValue = (spec: Readonly<PodSpec>): boolean =>
  (spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []).some((term) =>
    (term.matchExpressions ?? []).some((requirement) =>
      (requirement.values ?? []).some((value) => isValidLabelValue(value).length > 0),
    ),
  );
