// How many pods each replica set of a deployment shall have next.
//
//   replicas 4, maxSurge 1, maxUnavailable 1          old   new
//     the template changed                              4     1    up to 5 in all
//     3 must be available, 4 of the old ones are        3     1
//     room for one more                                 3     2    and so on, as new pods become available
import type { Deployment, ReplicaSet } from '../../schema/generated/apps.v1.js';
import { surgeLimits } from './rollout-limits.js';

export interface Scaling {
  readonly replicaSet: Readonly<ReplicaSet>;
  readonly replicas: number;
}

/** One step: upwards where there is room, else downwards. None when there is nothing to do for now. */
export function planRollout(
  deployment: Readonly<Deployment>,
  current: Readonly<ReplicaSet>,
  old: readonly Readonly<ReplicaSet>[],
): readonly Scaling[] {
  const wanted = deployment.spec.replicas ?? 1;
  if (deployment.spec.strategy.type === 'Recreate') return planRecreate(wanted, current, old);
  const have = replicasOf(current);
  const up = have > wanted ? wanted : newReplicas(deployment, have, [current, ...old]);
  if (up !== have) return [{ replicaSet: current, replicas: up }];
  return planDown(deployment, current, old);
}

/** Of the replica set with the deployment's template, beside those that are there. */
export function newReplicas(
  deployment: Readonly<Deployment>,
  have: number,
  all: readonly Readonly<ReplicaSet>[],
): number {
  const wanted = deployment.spec.replicas ?? 1;
  if (deployment.spec.strategy.type === 'Recreate') return wanted;
  const room = wanted + surgeLimits(deployment).maxSurge - sum(all.map(replicasOf));
  return have + Math.max(0, Math.min(room, wanted - have));
}

/** The old pods are gone before the first new one is made. */
function planRecreate(
  wanted: number,
  current: Readonly<ReplicaSet>,
  old: readonly Readonly<ReplicaSet>[],
): readonly Scaling[] {
  const down = old.filter((one) => replicasOf(one) > 0).map((replicaSet) => ({ replicaSet, replicas: 0 }));
  if (down.length > 0) return down;
  return replicasOf(current) === wanted ? [] : [{ replicaSet: current, replicas: wanted }];
}

function planDown(
  deployment: Readonly<Deployment>,
  current: Readonly<ReplicaSet>,
  old: readonly Readonly<ReplicaSet>[],
): readonly Scaling[] {
  const minAvailable = (deployment.spec.replicas ?? 1) - surgeLimits(deployment).maxUnavailable;
  const all = [current, ...old];
  const missing = replicasOf(current) - availableOf(current);
  let removable = sum(all.map(replicasOf)) - minAvailable - missing;
  let spare = sum(all.map(availableOf)) - minAvailable;
  const scalings: Scaling[] = [];
  for (const replicaSet of old) {
    const have = replicasOf(replicaSet);
    // Pods that are not available are not missed.
    const unhealthy = Math.max(0, Math.min(have - availableOf(replicaSet), removable));
    removable -= unhealthy;
    const healthy = Math.max(0, Math.min(have - unhealthy, spare, removable));
    spare -= healthy;
    removable -= healthy;
    if (unhealthy + healthy > 0) scalings.push({ replicaSet, replicas: have - unhealthy - healthy });
  }
  return scalings;
}

export const replicasOf = ({ spec }: Readonly<ReplicaSet>): number => spec.replicas ?? 1;
const availableOf = ({ status }: Readonly<ReplicaSet>): number => status.availableReplicas ?? 0;
export const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
