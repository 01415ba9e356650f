// Fields behind feature gates that are off are forgotten, unless the old object already used them.
import { forgetGivenEmpty } from '../../../machinery/given-empty.js';
import type { FeatureGates } from '../../../registry/kind.js';
import type { ContainerStatus, Lifecycle, Pod, PodSpec, PodStatus } from '../../../schema/generated/core.v1.js';
import { allContainers } from './containers.js';
import { usesEnvFiles, usesRestartRules } from './validation/options.js';

type Used = Readonly<PodSpec> | undefined;

interface GatedField {
  readonly gate: string;
  readonly inUse: (old: Readonly<PodSpec>) => boolean;
  readonly drop: (spec: PodSpec) => void;
}

const GATED: readonly GatedField[] = [
  {
    gate: 'UserNamespacesSupport',
    inUse: ({ hostUsers }) => hostUsers !== undefined,
    drop: (spec) => delete spec.hostUsers,
  },
  {
    gate: 'SupplementalGroupsPolicy',
    inUse: usesSupplementalGroupsPolicy,
    drop: ({ securityContext }) => delete securityContext?.supplementalGroupsPolicy,
  },
  {
    gate: 'PodLevelResources',
    inUse: ({ resources }) => resources?.requests !== undefined || resources?.limits !== undefined,
    drop: (spec) => delete spec.resources,
  },
  {
    gate: 'ProcMountType',
    inUse: (old) =>
      allContainers(old).some(({ securityContext }) => (securityContext?.procMount ?? 'Default') !== 'Default'),
    drop: (spec) => {
      for (const { securityContext } of allContainers(spec)) {
        if (securityContext?.procMount !== undefined) securityContext.procMount = 'Default';
      }
    },
  },
  {
    gate: 'MatchLabelKeysInPodTopologySpread',
    inUse: (old) => (old.topologySpreadConstraints ?? []).some(({ matchLabelKeys }) => matchLabelKeys !== undefined),
    drop: (spec) => {
      for (const constraint of spec.topologySpreadConstraints ?? []) delete constraint.matchLabelKeys;
    },
  },
  {
    gate: 'ClusterTrustBundleProjection',
    inUse: (old) => projections(old).some(({ clusterTrustBundle }) => clusterTrustBundle !== undefined),
    drop: (spec) => {
      for (const source of projections(spec)) delete source.clusterTrustBundle;
    },
  },
  {
    gate: 'PodCertificateRequest',
    inUse: (old) => projections(old).some(({ podCertificate }) => podCertificate !== undefined),
    drop: (spec) => {
      for (const source of projections(spec)) delete source.podCertificate;
    },
  },
  {
    gate: 'InPlacePodVerticalScaling',
    inUse: usesResizePolicy,
    drop: (spec) => {
      for (const container of allContainers(spec)) delete container.resizePolicy;
    },
  },
  { gate: 'ContainerRestartRules', inUse: usesRestartRules, drop: dropRestartRules },
  {
    gate: 'HostnameOverride',
    inUse: ({ hostnameOverride }) => hostnameOverride !== undefined,
    drop: (spec) => delete spec.hostnameOverride,
  },
  {
    gate: 'EnvFiles',
    inUse: usesEnvFiles,
    drop: (spec) => {
      for (const { env } of allContainers(spec)) {
        for (const { valueFrom } of env ?? []) delete valueFrom?.fileKeyRef;
      }
    },
  },
  {
    gate: 'ImageVolume',
    inUse: (old) => (old.volumes ?? []).some(({ image }) => image !== undefined),
    drop: dropImageVolumes,
  },
  {
    gate: 'SELinuxChangePolicy',
    inUse: ({ securityContext }) => securityContext?.seLinuxChangePolicy !== undefined,
    drop: ({ securityContext }) => delete securityContext?.seLinuxChangePolicy,
  },
  {
    gate: 'ContainerStopSignals',
    inUse: (old) => allContainers(old).some(({ lifecycle }) => lifecycle?.stopSignal !== undefined),
    drop: (spec) => {
      for (const container of allContainers(spec)) {
        if (container.lifecycle?.stopSignal === undefined) continue;
        delete container.lifecycle.stopSignal;
        if (isEmptyLifecycle(container.lifecycle)) delete container.lifecycle;
      }
    },
  },
];

/** For pods' and templates' specs. */
export function dropDisabledSpecFields(spec: PodSpec, old: Used, features: FeatureGates): void {
  for (const { gate, inUse, drop } of GATED) {
    if (!features.enabled(gate) && !(old !== undefined && inUse(old))) drop(spec);
  }
}

export function dropDisabledPodFields(pod: Pod, old: Readonly<Pod> | undefined, features: FeatureGates): void {
  dropDisabledSpecFields(pod.spec, old?.spec, features);
  dropDisabledStatusFields(pod.status, old, features);
}

function dropDisabledStatusFields(status: PodStatus, old: Readonly<Pod> | undefined, features: FeatureGates): void {
  const off = (gate: string, inUse: (old: Readonly<Pod>) => boolean): boolean =>
    !features.enabled(gate) && !(old !== undefined && inUse(old));
  const forEach = (drop: (each: ContainerStatus) => void): void => {
    for (const member of ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const) {
      // The list may be shared with the old object: what is dropped is dropped from a copy.
      status[member] &&= status[member].map((each) => {
        const copy = { ...each };
        drop(copy);
        return copy;
      });
    }
  };
  if (off('InPlacePodVerticalScaling', ({ spec }) => usesResizePolicy(spec))) {
    forEach((each) => {
      delete each.resources;
      delete each.allocatedResources;
    });
  }
  if (off('DRAExtendedResource', (before) => before.status.extendedResourceClaimStatus !== undefined)) {
    delete status.extendedResourceClaimStatus;
  }
  if (off('ResourceHealthStatus', () => false)) forEach((each) => delete each.allocatedResourcesStatus);
  if (off('SupplementalGroupsPolicy', ({ spec }) => usesSupplementalGroupsPolicy(spec))) {
    forEach((each) => delete each.user);
  }
  if (off('PodObservedGenerationTracking', tracksGeneration)) {
    delete status.observedGeneration;
    status.conditions &&= status.conditions.map(({ observedGeneration: _, ...rest }) => rest);
  }
}

const projections = (spec: Readonly<PodSpec>) =>
  (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);

function usesSupplementalGroupsPolicy({ securityContext }: Readonly<PodSpec>): boolean {
  return securityContext?.supplementalGroupsPolicy !== undefined;
}

function usesResizePolicy(spec: Readonly<PodSpec>): boolean {
  return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].some(
    ({ resizePolicy }) => resizePolicy !== undefined,
  );
}

const tracksGeneration = ({ status }: Readonly<Pod>): boolean =>
  Boolean(status.observedGeneration) || (status.conditions ?? []).some((each) => each.observedGeneration);

const isEmptyLifecycle = ({ postStart, preStop, stopSignal }: Lifecycle): boolean =>
  postStart === undefined && preStop === undefined && stopSignal === undefined;

function dropRestartRules(spec: PodSpec): void {
  for (const container of spec.initContainers ?? []) {
    if (container.restartPolicy !== 'Always') delete container.restartPolicy;
    delete container.restartPolicyRules;
  }
  for (const container of [...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])]) {
    delete container.restartPolicy;
    delete container.restartPolicyRules;
  }
}

function dropImageVolumes(spec: PodSpec): void {
  forgetGivenEmpty(spec, 'volumes');
  for (const container of allContainers(spec)) forgetGivenEmpty(container, 'volumeMounts');
  const dropped = new Set((spec.volumes ?? []).filter(({ image }) => image !== undefined).map(({ name }) => name));
  if (dropped.size === 0) return;
  const volumes = (spec.volumes ?? []).filter(({ image }) => image === undefined);
  if (volumes.length > 0) spec.volumes = volumes;
  else delete spec.volumes;
  for (const container of allContainers(spec)) {
    const mounts = (container.volumeMounts ?? []).filter(({ name }) => !dropped.has(name));
    if (mounts.length > 0) container.volumeMounts = mounts;
    else delete container.volumeMounts;
  }
}
