// The stand-in of the replica set controller: as many pods as a replica set wants, and its status.
import type { ReplicaSet, ReplicaSetCondition } from '../../schema/generated/apps.v1.js';
import type { Pod } from '../../schema/generated/core.v1.js';
import { timestamp } from '../../registry/registry.js';
import type { ServerClient } from '../../registry/server-client.js';
import { conditionOf, withCondition, withoutCondition } from '../conditions.js';
import type { OwnedObjects } from '../owned-objects.js';
import { generatedName, makePod } from '../pod/make-pod.js';
import { PodControl } from '../pod/pod-control.js';
import { isActive, isTerminating, readinessOf } from '../pod/pod-state.js';
import { updateStatus, withoutZeros } from '../reconciler.js';
import { REPLICA_SETS, type WorkloadParts } from '../workload-parts.js';
import { firstToDelete } from './deletion-order.js';

const FAILURE = 'ReplicaFailure';

export function replicaSetReconciler(parts: WorkloadParts, client: ServerClient, pods: OwnedObjects<Pod>) {
  const control = new PodControl(client, pods);
  return async (replicaSet: Readonly<ReplicaSet>): Promise<number | undefined> => {
    const { uid = '', deletionTimestamp } = replicaSet.metadata;
    const owned = pods.of(uid);
    const active = owned.filter(isActive);
    const isManaged = deletionTimestamp === undefined && pods.isSettled(uid);
    const failure = isManaged ? await scale(parts, control, replicaSet, active) : undefined;
    const nowMs = parts.clock.now();
    const readiness = readinessOf(active, replicaSet.spec.minReadySeconds, nowMs);
    const tracksTerminating = parts.context().features.enabled('DeploymentReplicaSetTerminatingReplicas');
    const conditions = failureCondition(replicaSet, active.length, failure, timestamp(new Date(nowMs)));
    await updateStatus<ReplicaSet>(client, REPLICA_SETS, replicaSet, {
      ...withoutZeros({
        fullyLabeledReplicas: active.filter((pod) => isFullyLabeled(replicaSet, pod)).length,
        readyReplicas: readiness.ready,
        availableReplicas: readiness.available,
        observedGeneration: replicaSet.metadata.generation ?? 0,
      }),
      ...(tracksTerminating && { terminatingReplicas: owned.filter(isTerminating).length }),
      replicas: active.length,
      ...(conditions.length > 0 && { conditions }),
    });
    if (failure !== undefined) throw failure;
    return readiness.nextMs;
  };
}

async function scale(
  { context, nameSuffix }: WorkloadParts,
  control: PodControl,
  replicaSet: Readonly<ReplicaSet>,
  active: readonly Readonly<Pod>[],
): Promise<Error | undefined> {
  const { metadata, spec } = replicaSet;
  const excess = active.length - (spec.replicas ?? 1);
  if (excess > 0) return control.delete(replicaSet, firstToDelete(active, excess));
  const generateName = `${metadata.name}-`;
  return control.create(replicaSet, -excess, () =>
    makePod({
      name: generatedName(generateName, nameSuffix()),
      generateName,
      owner: replicaSet,
      template: spec.template,
      features: context().features,
    }),
  );
}

function isFullyLabeled({ spec }: Readonly<ReplicaSet>, { metadata }: Readonly<Pod>): boolean {
  const labels = metadata.labels ?? {};
  return Object.entries(spec.template.metadata?.labels ?? {}).every(([key, value]) => labels[key] === value);
}

function failureCondition(
  { spec, status }: Readonly<ReplicaSet>,
  active: number,
  failure: Error | undefined,
  now: string,
): ReplicaSetCondition[] {
  if (failure === undefined) return withoutCondition(status.conditions, FAILURE);
  if (conditionOf(status.conditions, FAILURE) !== undefined) return [...(status.conditions ?? [])];
  const reason = active < (spec.replicas ?? 1) ? 'FailedCreate' : 'FailedDelete';
  const condition = { type: FAILURE, status: 'True', lastTransitionTime: now, reason, message: failure.message };
  return withCondition(status.conditions, condition as ReplicaSetCondition);
}
