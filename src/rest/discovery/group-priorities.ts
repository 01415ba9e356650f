// The order groups and versions are listed in: clients use the first that has what they look for.
import { compareText } from '../../lib/text/compare-text.js';
import { ownMember } from '../../lib/values/plain-object.js';

/** Higher comes first; groups of one rank follow each other by name. */
const GROUP_RANKS: Readonly<Record<string, number>> = {
  '': 18000,
  'apiregistration.k8s.io': 18000,
  apps: 17800,
  'events.k8s.io': 17750,
  'authentication.k8s.io': 17700,
  'authorization.k8s.io': 17600,
  autoscaling: 17500,
  batch: 17400,
  'certificates.k8s.io': 17300,
  'networking.k8s.io': 17200,
  policy: 17100,
  'rbac.authorization.k8s.io': 17000,
  'storage.k8s.io': 16800,
  'admissionregistration.k8s.io': 16700,
  'apiextensions.k8s.io': 16700,
  'scheduling.k8s.io': 16600,
  'coordination.k8s.io': 16500,
  'node.k8s.io': 16300,
  'discovery.k8s.io': 16200,
  'resource.k8s.io': 16200,
  'flowcontrol.apiserver.k8s.io': 16100,
  'internal.apiserver.k8s.io': 16000,
  'storagemigration.k8s.io': 15800,
};
const CUSTOM_GROUP_RANK = 1000;
export const REGISTRATION = 'apiregistration.k8s.io';

export const groupRank = (group: string): number => ownMember(GROUP_RANKS, group) ?? CUSTOM_GROUP_RANK;

export interface RankedGroup {
  readonly name: string;
  readonly rank: number;
  /** What decides among groups of one rank where it is not their name. */
  readonly firstService?: string | undefined;
}

export function compareGroups(a: RankedGroup, b: RankedGroup): number {
  // Where registrations are made stands before all that is registered.
  if (a.name === REGISTRATION || b.name === REGISTRATION)
    return a.name === b.name ? 0 : a.name === REGISTRATION ? -1 : 1;
  return b.rank - a.rank || compareText(a.firstService ?? a.name, b.firstService ?? b.name);
}

/** Stable before beta before alpha, then the higher number: v2, v1, v1beta2, v1beta1, v1alpha1. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  for (let i = 0; i < left.length; i++) {
    const difference = (right[i] ?? 0) - (left[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

const STAGES: Readonly<Record<string, number>> = { '': 3, beta: 2, alpha: 1 };

function partsOf(version: string): readonly number[] {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return [0, 0, 0];
  return [STAGES[match[2] ?? ''] ?? 0, Number(match[1]), Number(match[3] ?? 0)];
}
