// The stand-in of the deployment controller: a replica set for each template, and the rollout from one to the next.
import { CONTROLLER_MANAGER, updateSame } from '../../controllers/controller.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import type { KubeObject } from '../../machinery/object.js';
import { timestamp } from '../../registry/registry.js';
import type { ServerClient } from '../../registry/server-client.js';
import type { Deployment, DeploymentStatus, ReplicaSet } from '../../schema/generated/apps.v1.js';
import type { Pod } from '../../schema/generated/core.v1.js';
import { controllerOf, type OwnedObjects } from '../owned-objects.js';
import { isEnded } from '../pod/pod-state.js';
import { updateStatus } from '../reconciler.js';
import { DEPLOYMENTS, REPLICA_SETS, type WorkloadParts } from '../workload-parts.js';
import { deploymentStatus, isRolledOut, remainingMs } from './deployment-status.js';
import { newReplicas, planRollout, replicasOf } from './plan-rollout.js';
import {
  annotationsFor,
  divide,
  type Divided,
  newReplicaSet,
  nextRevision,
  REVISION,
  revisionOf,
  scaleAnnotations,
} from './replica-set-of.js';

export interface DeploymentOwned {
  readonly replicaSets: OwnedObjects<ReplicaSet>;
  readonly pods: OwnedObjects<Pod>;
}

export function deploymentReconciler(parts: WorkloadParts, client: ServerClient, owned: DeploymentOwned) {
  return async (deployment: Readonly<Deployment>): Promise<number | undefined> => {
    const { deletionTimestamp } = deployment.metadata;
    const divided = divide(deployment, await replicaSetsOf(client, owned.replicaSets, deployment));
    const isActing = deletionTimestamp === undefined;
    const made = isActing ? await ensureCurrent(client, deployment, divided, owned) : undefined;
    const { current, old } = made ?? divided;
    if (isActing && current !== undefined && made?.isNew !== true) await roll(client, deployment, current, old);
    if (isActing && isRolledOut(deployment)) await forgetOld(client, deployment, old);
    const now = new Date(parts.clock.now());
    const status = deploymentStatus({
      deployment,
      current,
      old,
      now,
      time: timestamp(now),
      isNew: made?.isNew === true,
      tracksTerminating: parts.context().features.enabled('DeploymentReplicaSetTerminatingReplicas'),
    });
    await writeStatus(client, deployment, status, made?.revision);
    return remainingMs({ deployment: { ...deployment, status }, now });
  };
}

/** As they are now: this server's own writes are in what it reads. */
async function replicaSetsOf(
  client: ServerClient,
  index: OwnedObjects<ReplicaSet>,
  { metadata }: Readonly<Deployment>,
): Promise<Readonly<ReplicaSet>[]> {
  const found = await Promise.all(
    index
      .of(metadata.uid ?? '')
      .map(({ metadata: { namespace = '', name = '' } }) => client.get(REPLICA_SETS, namespace, name)),
  );
  return found.filter((one) => one !== undefined && controllerOf(one)?.uid === metadata.uid) as Readonly<ReplicaSet>[];
}

interface Ensured extends Divided {
  readonly isNew: boolean;
  readonly revision: number;
}

async function ensureCurrent(
  client: ServerClient,
  deployment: Readonly<Deployment>,
  { current, old }: Divided,
  { pods }: DeploymentOwned,
): Promise<Ensured | undefined> {
  const revision = nextRevision(old);
  if (current !== undefined) {
    await annotate(client, deployment, current, revision);
    return { current, old, isNew: false, revision: Math.max(revision, revisionOf(current)) };
  }
  if (deployment.spec.paused === true) return undefined;
  // Recreate: pods of other templates end first.
  if (deployment.spec.strategy.type === 'Recreate' && old.some((one) => hasPods(one, pods))) {
    await scaleAll(
      client,
      deployment,
      old.filter((one) => replicasOf(one) > 0).map((replicaSet) => ({ replicaSet, replicas: 0 })),
    );
    return undefined;
  }
  const made = newReplicaSet(deployment, newReplicas(deployment, 0, old), revision);
  if (!(await client.create(REPLICA_SETS, made, CONTROLLER_MANAGER))) {
    await resolveCollision(client, deployment, made);
    return undefined;
  }
  const { namespace = '', name = '' } = made.metadata;
  const stored = (await client.get(REPLICA_SETS, namespace, name)) as Readonly<ReplicaSet> | undefined;
  return { current: stored, old, isNew: true, revision };
}

const hasPods = ({ metadata, spec }: Readonly<ReplicaSet>, pods: OwnedObjects<Pod>): boolean =>
  (spec.replicas ?? 1) > 0 || pods.of(metadata.uid ?? '').some((pod) => !isEnded(pod));

/** A replica set of that name which is not this deployment's: the next hash counts collisions in. */
async function resolveCollision(
  client: ServerClient,
  deployment: Readonly<Deployment>,
  { metadata }: Readonly<ReplicaSet>,
): Promise<void> {
  const there = await client.get(REPLICA_SETS, metadata.namespace ?? '', metadata.name ?? '');
  if (there === undefined || controllerOf(there)?.uid === deployment.metadata.uid) return;
  const collisionCount = (deployment.status.collisionCount ?? 0) + 1;
  await updateStatus<Deployment>(client, DEPLOYMENTS, deployment, { ...deployment.status, collisionCount });
}

async function annotate(
  client: ServerClient,
  deployment: Readonly<Deployment>,
  replicaSet: Readonly<ReplicaSet>,
  revision: number,
): Promise<void> {
  const { minReadySeconds } = deployment.spec;
  const annotations = annotationsFor(deployment, replicaSet.metadata.annotations ?? {}, revision);
  const isSame = deepEqual(annotations, replicaSet.metadata.annotations);
  if (isSame && replicaSet.spec.minReadySeconds === minReadySeconds) return;
  const change = (object: KubeObject): KubeObject => {
    const current = object as ReplicaSet;
    current.metadata.annotations = annotationsFor(deployment, current.metadata.annotations ?? {}, revision);
    if (minReadySeconds === undefined) delete current.spec.minReadySeconds;
    else current.spec.minReadySeconds = minReadySeconds;
    return current;
  };
  await updateSame(client, { resource: REPLICA_SETS, object: replicaSet, change });
}

/** The revision stands in an annotation, which the status endpoint takes as well: the generation stays. */
async function writeStatus(
  client: ServerClient,
  deployment: Readonly<Deployment>,
  status: DeploymentStatus,
  revision: number | undefined,
): Promise<void> {
  const { annotations } = deployment.metadata;
  const isSameRevision = revision === undefined || annotations?.[REVISION] === String(revision);
  if (isSameRevision && deepEqual(deployment.status, status)) return;
  const change = (object: KubeObject): KubeObject => {
    const current = object as Deployment;
    if (revision !== undefined)
      current.metadata.annotations = { ...current.metadata.annotations, [REVISION]: String(revision) };
    current.status = status;
    return current;
  };
  await updateSame(client, { resource: DEPLOYMENTS, object: deployment, change, subresource: 'status' });
}

async function roll(
  client: ServerClient,
  deployment: Readonly<Deployment>,
  current: Readonly<ReplicaSet>,
  old: readonly Readonly<ReplicaSet>[],
): Promise<void> {
  const { paused, replicas = 1 } = deployment.spec;
  // A paused deployment is scaled, and not rolled out.
  const isAlone = old.every((one) => replicasOf(one) === 0);
  if (paused === true && isAlone && replicasOf(current) !== replicas) {
    await scaleAll(client, deployment, [{ replicaSet: current, replicas }]);
  } else if (paused !== true) await scaleAll(client, deployment, planRollout(deployment, current, old));
}

async function scaleAll(
  client: ServerClient,
  deployment: Readonly<Deployment>,
  scalings: ReturnType<typeof planRollout>,
): Promise<void> {
  for (const { replicaSet, replicas } of scalings) {
    const change = (object: KubeObject): KubeObject => {
      const scaled = object as ReplicaSet;
      scaled.spec.replicas = replicas;
      scaled.metadata.annotations = { ...scaled.metadata.annotations, ...scaleAnnotations(deployment) };
      return scaled;
    };
    await updateSame(client, { resource: REPLICA_SETS, object: replicaSet, change });
  }
}

/** Replica sets without pods are kept for the history, up to its limit. */
async function forgetOld(
  client: ServerClient,
  { spec }: Readonly<Deployment>,
  old: readonly Readonly<ReplicaSet>[],
): Promise<void> {
  const empty = old.filter((one) => replicasOf(one) === 0 && one.status.replicas === 0);
  const excess = old.length - (spec.revisionHistoryLimit ?? 10);
  const oldestFirst = empty.sort((a, b) => revisionOf(a) - revisionOf(b));
  for (const replicaSet of oldestFirst.slice(0, Math.max(0, excess))) await client.delete(REPLICA_SETS, replicaSet);
}
