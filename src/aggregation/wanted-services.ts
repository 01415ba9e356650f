// The API services that stand for what this server serves itself: those of its own versions from the start on, those of
// custom resources for as long as a definition serves the version.
import { groupRank } from '../rest/discovery/group-priorities.js';
import type { CustomResourceDefinition } from '../schema/generated/apiextensions.v1.js';
import type { APIService } from '../schema/generated/apiregistration.v1.js';

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** Tells the API services that the server keeps: `onstart` ones as it starts, `true` ones at all times. */
export const AUTO_MANAGED = 'kube-aggregator.kubernetes.io/automanaged';
export type AutoManaged = 'onstart' | 'true';

export const nameOf = ({ group, version }: GroupVersion): string => `${version}.${group}`;

/** Undefined for versions that have no place in the order: the API of API services itself has no API service. */
export function builtInService(groupVersion: GroupVersion): APIService | undefined {
  const versionPriority = VERSION_PRIORITIES[groupVersion.group]?.[groupVersion.version];
  if (versionPriority === undefined) return undefined;
  return localService(groupVersion, 'onstart', {
    groupPriorityMinimum: groupRank(groupVersion.group),
    versionPriority,
  });
}

/** Undefined when no definition serves the version. */
export function customService(
  groupVersion: GroupVersion,
  crds: Iterable<Readonly<CustomResourceDefinition>>,
): APIService | undefined {
  for (const { spec } of crds) {
    if (spec.group !== groupVersion.group) continue;
    const isServed = spec.versions?.some(({ name, served }) => served && name === groupVersion.version);
    if (isServed) return localService(groupVersion, 'true', CUSTOM_PRIORITIES);
  }
  return undefined;
}

type Priorities = Pick<APIService['spec'], 'groupPriorityMinimum' | 'versionPriority'>;

function localService(groupVersion: GroupVersion, managed: AutoManaged, priorities: Priorities): APIService {
  const { group, version } = groupVersion;
  return {
    kind: 'APIService',
    apiVersion: 'apiregistration.k8s.io/v1',
    metadata: { name: nameOf(groupVersion), labels: { [AUTO_MANAGED]: managed } },
    spec: { ...(group !== '' && { group }), version, ...priorities },
    status: {},
  };
}

/** Behind all others, also where their group is one of the server's own. */
const CUSTOM_PRIORITIES: Priorities = { groupPriorityMinimum: 1000, versionPriority: 100 };

/** Higher comes first within its group. */
const VERSION_PRIORITIES: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  '': { v1: 1 },
  'admissionregistration.k8s.io': { v1: 15, v1beta1: 12, v1alpha1: 9 },
  'apiextensions.k8s.io': { v1: 15 },
  apps: { v1: 15 },
  'authentication.k8s.io': { v1: 15, v1beta1: 9, v1alpha1: 1 },
  'authorization.k8s.io': { v1: 15 },
  autoscaling: { v2: 30, v1: 15 },
  batch: { v1: 15 },
  'certificates.k8s.io': { v1: 15, v1beta1: 9, v1alpha1: 1 },
  'coordination.k8s.io': { v1: 15, v1beta1: 13, v1alpha2: 12 },
  'discovery.k8s.io': { v1: 15 },
  'events.k8s.io': { v1: 15 },
  'flowcontrol.apiserver.k8s.io': { v1: 21 },
  'internal.apiserver.k8s.io': { v1alpha1: 9 },
  'networking.k8s.io': { v1: 15, v1beta1: 9 },
  'node.k8s.io': { v1: 15 },
  policy: { v1: 15 },
  'rbac.authorization.k8s.io': { v1: 15 },
  'resource.k8s.io': { v1: 21, v1beta2: 15, v1beta1: 9, v1alpha3: 1 },
  'scheduling.k8s.io': { v1: 15 },
  'storage.k8s.io': { v1: 15, v1beta1: 9, v1alpha1: 1 },
  'storagemigration.k8s.io': { v1alpha1: 9 },
};
