// Fields behind feature gates that are off are forgotten, unless the old object already used them.
import { forgetExplicitEmpty } from '../../../machinery/explicit-empty.js';
import type { FeatureGates } from '../../../registry/kind.js';
import { dropGatedFields, gated, gatedAlways, type GatedField } from '../../../registry/gated-fields.js';
import type { Lifecycle, LifecycleHandler, Pod, PodSpec } from '../../../schema/generated/core.v1.js';
import { allContainers, type AnyContainer } from './containers.js';
import { usesRestartRules } from './validation/options.js';

type Used = Readonly<PodSpec> | undefined;

const CONTAINERS = ['containers', 'initContainers', 'ephemeralContainers'];
const STATUSES = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'];
const AFFINITIES = ['podAffinity', 'podAntiAffinity'];

const inContainers = (...members: string[]): string[] =>
  CONTAINERS.flatMap((list) => members.map((member) => `${list}[].${member}`));
const inStatuses = (...members: string[]): string[] =>
  STATUSES.flatMap((list) => members.map((member) => `status.${list}[].${member}`));
const inAffinityTerms = (...members: string[]): string[] =>
  AFFINITIES.flatMap((affinity) =>
    members.flatMap((member) => [
      `affinity.${affinity}.requiredDuringSchedulingIgnoredDuringExecution[].${member}`,
      `affinity.${affinity}.preferredDuringSchedulingIgnoredDuringExecution[].podAffinityTerm.${member}`,
    ]),
  );

const SPEC_FIELDS: readonly GatedField<PodSpec>[] = [
  gated('UserNamespacesSupport', 'hostUsers'),
  gated('SupplementalGroupsPolicy', 'securityContext.supplementalGroupsPolicy'),
  {
    ...gated('PodLevelResources', 'resources'),
    inUse: ({ resources }) => resources?.requests !== undefined || resources?.limits !== undefined,
  },
  {
    gates: ['ProcMountType'],
    inUse: (old) =>
      allContainers(old).some(({ securityContext }) => (securityContext?.procMount ?? 'Default') !== 'Default'),
    drop: (spec) => {
      for (const { securityContext } of allContainers(spec)) {
        if (securityContext?.procMount !== undefined) securityContext.procMount = 'Default';
      }
    },
  },
  gated('NodeInclusionPolicyInPodTopologySpread', 'topologySpreadConstraints[].nodeTaintsPolicy'),
  gated('NodeInclusionPolicyInPodTopologySpread', 'topologySpreadConstraints[].nodeAffinityPolicy'),
  gated('MatchLabelKeysInPodTopologySpread', 'topologySpreadConstraints[].matchLabelKeys'),
  gated('MatchLabelKeysInPodAffinity', ...inAffinityTerms('matchLabelKeys', 'mismatchLabelKeys')),
  {
    ...gated('DynamicResourceAllocation', 'resourceClaims', ...inContainers('resources.claims')),
    inUse: ({ resourceClaims }) => resourceClaims !== undefined,
  },
  gated('ClusterTrustBundleProjection', 'volumes[].projected.sources[].clusterTrustBundle'),
  gated('PodCertificateRequest', 'volumes[].projected.sources[].podCertificate'),
  { ...gated('InPlacePodVerticalScaling', ...inContainers('resizePolicy')), inUse: usesResizePolicy },
  {
    ...gated('SidecarContainers', 'initContainers[].restartPolicy'),
    inUse: ({ initContainers }) => (initContainers ?? []).some(({ restartPolicy }) => restartPolicy === 'Always'),
  },
  { gates: ['ContainerRestartRules'], inUse: usesRestartRules, drop: dropRestartRules },
  gated('RecursiveReadOnlyMounts', ...inContainers('volumeMounts[].recursiveReadOnly')),
  gated('HostnameOverride', 'hostnameOverride'),
  gated('EnvFiles', ...inContainers('env[].valueFrom.fileKeyRef')),
  {
    ...gated('PodLifecycleSleepAction', ...inContainers('lifecycle.preStop.sleep', 'lifecycle.postStart.sleep')),
    // An empty lifecycle is dropped as well.
    isSet: undefined,
    drop: (spec) => dropFromLifecycles(spec, withoutSleep),
  },
  {
    ...gated('ImageVolume', 'volumes[].image'),
    // That a list of volumes was sent empty is forgotten as well.
    isSet: undefined,
    drop: dropImageVolumes,
  },
  gated('SELinuxChangePolicy', 'securityContext.seLinuxChangePolicy'),
  {
    ...gated('ContainerStopSignals', ...inContainers('lifecycle.stopSignal')),
    drop: (spec) => dropFromLifecycles(spec, withoutStopSignal),
  },
];

/** Most of them follow what the spec asks for. */
const STATUS_FIELDS: readonly GatedField<Pod>[] = [
  {
    ...gated('InPlacePodVerticalScaling', ...inStatuses('resources', 'allocatedResources')),
    inUse: ({ spec }) => usesResizePolicy(spec),
  },
  {
    ...gated('DynamicResourceAllocation', 'status.resourceClaimStatuses'),
    inUse: ({ spec }) => spec.resourceClaims !== undefined,
  },
  gated('DRAExtendedResource', 'status.extendedResourceClaimStatus'),
  {
    ...gated('RecursiveReadOnlyMounts', ...inStatuses('volumeMounts')),
    inUse: ({ spec }) =>
      allContainers(spec).some(({ volumeMounts }) =>
        (volumeMounts ?? []).some(({ recursiveReadOnly }) => recursiveReadOnly !== undefined),
      ),
  },
  gatedAlways('ResourceHealthStatus', ...inStatuses('allocatedResourcesStatus')),
  {
    ...gated('SupplementalGroupsPolicy', ...inStatuses('user')),
    inUse: ({ spec }) => spec.securityContext?.supplementalGroupsPolicy !== undefined,
  },
  {
    ...gated('PodObservedGenerationTracking', 'status.observedGeneration', 'status.conditions[].observedGeneration'),
    inUse: tracksGeneration,
  },
];

/** For pods' and templates' specs. */
export function dropDisabledSpecFields(spec: PodSpec, old: Used, features: FeatureGates): void {
  // What the old one has stays, and through its status a pod keeps the old one.
  if (spec === old) return;
  dropGatedFields(SPEC_FIELDS, spec, old, features);
}

export function dropDisabledPodFields(pod: Pod, old: Readonly<Pod> | undefined, features: FeatureGates): void {
  dropDisabledSpecFields(pod.spec, old?.spec, features);
  dropGatedFields(STATUS_FIELDS, pod, old, features);
}

function usesResizePolicy(spec: Readonly<PodSpec>): boolean {
  return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].some(
    ({ resizePolicy }) => resizePolicy !== undefined,
  );
}

function tracksGeneration({ status }: Readonly<Pod>): boolean {
  return Boolean(status.observedGeneration) || (status.conditions ?? []).some((each) => each.observedGeneration);
}

function dropFromLifecycles(spec: PodSpec, drop: (lifecycle: Lifecycle) => Lifecycle | undefined): void {
  for (const container of allContainers(spec)) {
    if (container.lifecycle === undefined) continue;
    const left = drop(container.lifecycle);
    if (left === undefined) delete container.lifecycle;
    else container.lifecycle = left;
  }
}

const orNothing = (lifecycle: Lifecycle): Lifecycle | undefined =>
  Object.keys(lifecycle).length > 0 ? lifecycle : undefined;

/** An empty one stays empty. */
function withoutStopSignal(lifecycle: Lifecycle): Lifecycle | undefined {
  const { stopSignal, ...rest } = lifecycle;
  return stopSignal === undefined ? lifecycle : orNothing(rest);
}

function withoutSleep({ preStop, postStart, ...rest }: Lifecycle): Lifecycle | undefined {
  const left = (handler: LifecycleHandler | undefined): LifecycleHandler | undefined => {
    if (handler?.sleep === undefined) return handler;
    const { sleep: _, ...others } = handler;
    return Object.keys(others).length > 0 ? others : undefined;
  };
  const [start, stop] = [left(postStart), left(preStop)];
  return orNothing({ ...(start && { postStart: start }), ...(stop && { preStop: stop }), ...rest });
}

function dropRestartRules(spec: PodSpec): void {
  for (const container of allContainers(spec)) forgetExplicitEmpty(container, 'restartPolicyRules');
  for (const container of spec.initContainers ?? []) {
    if (container.restartPolicy !== 'Always') dropMember(container, 'restartPolicy');
    dropMember(container, 'restartPolicyRules');
  }
  for (const container of [...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])]) {
    dropMember(container, 'restartPolicy');
    dropMember(container, 'restartPolicyRules');
  }
}

// hot: deleting what is not there costs as much as deleting what is.
function dropMember(container: AnyContainer, member: 'restartPolicy' | 'restartPolicyRules'): void {
  if (container[member] !== undefined) delete container[member];
}

function dropImageVolumes(spec: PodSpec): void {
  forgetExplicitEmpty(spec, 'volumes');
  for (const container of allContainers(spec)) forgetExplicitEmpty(container, 'volumeMounts');
  const images = (spec.volumes ?? []).filter(({ image }) => image !== undefined);
  if (images.length === 0) return;
  const dropped = new Set(images.map(({ name }) => name));
  const volumes = (spec.volumes ?? []).filter(({ image }) => image === undefined);
  if (volumes.length > 0) spec.volumes = volumes;
  else delete spec.volumes;
  for (const container of allContainers(spec)) {
    const mounts = (container.volumeMounts ?? []).filter(({ name }) => !dropped.has(name));
    if (mounts.length > 0) container.volumeMounts = mounts;
    else delete container.volumeMounts;
  }
}
