// The status of a deployment, from its replica sets.
import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from '../../schema/generated/apps.v1.js';
import { conditionOf, withCondition, withoutCondition } from '../conditions.js';
import { withoutZeros } from '../reconciler.js';
import { replicasOf, sum } from './plan-rollout.js';
import type { Divided } from './replica-set-of.js';
import { surgeLimits } from './rollout-limits.js';

/** What a deployment without a deadline says: so many seconds that it never passes. */
const NO_DEADLINE = 2 ** 31 - 1;

export interface StatusParts extends Divided {
  readonly deployment: Readonly<Deployment>;
  /** The replica set has just been made. */
  readonly isNew: boolean;
  readonly now: Date;
  readonly time: string;
  readonly tracksTerminating: boolean;
}

export function deploymentStatus(parts: StatusParts): DeploymentStatus {
  const { deployment, current, old, tracksTerminating } = parts;
  const all = current === undefined ? old : [...old, current];
  const { status, metadata } = deployment;
  const total = (count: (status: ReplicaSet['status']) => number | undefined): number =>
    sum(all.map((one) => count(one.status) ?? 0));
  const counts = {
    observedGeneration: metadata.generation ?? 0,
    replicas: total(({ replicas }) => replicas),
    updatedReplicas: current?.status.replicas ?? 0,
    readyReplicas: total(({ readyReplicas }) => readyReplicas),
    availableReplicas: total(({ availableReplicas }) => availableReplicas),
    unavailableReplicas: Math.max(0, sum(all.map(replicasOf)) - total(({ availableReplicas }) => availableReplicas)),
  };
  return {
    ...withoutZeros(counts),
    ...(tracksTerminating && { terminatingReplicas: total(({ terminatingReplicas }) => terminatingReplicas) }),
    ...(status.collisionCount !== undefined && { collisionCount: status.collisionCount }),
    conditions: conditionsOf(parts, all, counts),
  };
}

type Counts = Required<Pick<DeploymentStatus, 'replicas' | 'updatedReplicas' | 'readyReplicas' | 'availableReplicas'>>;

function conditionsOf(parts: StatusParts, all: readonly Readonly<ReplicaSet>[], counts: Counts): DeploymentCondition[] {
  const { deployment } = parts;
  const isAvailable =
    counts.availableReplicas >= (deployment.spec.replicas ?? 1) - surgeLimits(deployment).maxUnavailable;
  const available = isAvailable
    ? condition(parts, {
        type: 'Available',
        status: 'True',
        reason: 'MinimumReplicasAvailable',
        message: 'Deployment has minimum availability.',
      })
    : condition(parts, {
        type: 'Available',
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      });
  const conditions = withCondition(deployment.status.conditions, available);
  return withFailure(withProgress(conditions, progressOf(parts, counts)), parts, all);
}

function withProgress(
  conditions: readonly DeploymentCondition[],
  progress: DeploymentCondition | 'none' | undefined,
): readonly DeploymentCondition[] {
  if (progress === undefined) return conditions;
  if (progress === 'none') return withoutCondition(conditions, PROGRESSING);
  if (progress.reason !== 'ReplicaSetUpdated') return withCondition(conditions, progress);
  // Each step of a rollout moves the time from which the deadline counts.
  const old = conditionOf(conditions, PROGRESSING);
  const lastTransitionTime = old?.status === progress.status ? old.lastTransitionTime : progress.lastTransitionTime;
  return [...withoutCondition(conditions, PROGRESSING), { ...progress, lastTransitionTime }];
}

const PROGRESSING = 'Progressing';

/** Undefined where it stays what it is. */
function progressOf(parts: StatusParts, counts: Counts): DeploymentCondition | 'none' | undefined {
  const { deployment, current, isNew } = parts;
  const { spec, metadata } = deployment;
  if (deadlineOf(deployment) === undefined) return 'none';
  const old = conditionOf(deployment.status.conditions, PROGRESSING);
  const say = (status: 'True' | 'False' | 'Unknown', reason: string, message: string): DeploymentCondition =>
    condition(parts, { type: PROGRESSING, status, reason, message });
  const subject = current === undefined ? `Deployment "${metadata.name}"` : `ReplicaSet "${current.metadata.name}"`;
  if (spec.paused === true) {
    return old?.reason === TIMED_OUT ? undefined : say('Unknown', 'DeploymentPaused', 'Deployment is paused');
  }
  if (old?.reason === 'DeploymentPaused') return say('Unknown', 'DeploymentResumed', 'Deployment is resumed');
  if (isNew) return say('True', 'NewReplicaSetCreated', `Created new replica set "${current?.metadata.name}"`);
  if (old === undefined) return say('True', 'FoundNewReplicaSet', `Found new replica set "${current?.metadata.name}"`);
  const isSettled = counts.replicas === counts.updatedReplicas && old.reason === 'NewReplicaSetAvailable';
  if (isSettled) return undefined;
  if (isComplete(deployment, counts)) {
    return say('True', 'NewReplicaSetAvailable', `${subject} has successfully progressed.`);
  }
  if (hasProgressed(deployment.status, counts)) return say('True', 'ReplicaSetUpdated', `${subject} is progressing.`);
  return remainingMs(parts) === 0 ? say('False', TIMED_OUT, `${subject} has timed out progressing.`) : undefined;
}

const TIMED_OUT = 'ProgressDeadlineExceeded';

function isComplete({ spec }: Readonly<Deployment>, counts: Counts): boolean {
  const wanted = spec.replicas ?? 1;
  return counts.updatedReplicas === wanted && counts.replicas === wanted && counts.availableReplicas === wanted;
}

/** Whether the status as last written has been reached, and nothing is left to do. */
export const isRolledOut = (deployment: Readonly<Deployment>): boolean => {
  const { replicas = 0, updatedReplicas = 0, readyReplicas = 0, availableReplicas = 0 } = deployment.status;
  return (
    isComplete(deployment, { replicas, updatedReplicas, readyReplicas, availableReplicas }) &&
    (deployment.status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  );
};

const hasProgressed = (old: Readonly<DeploymentStatus>, counts: Counts): boolean =>
  counts.updatedReplicas > (old.updatedReplicas ?? 0) ||
  counts.replicas - counts.updatedReplicas < (old.replicas ?? 0) - (old.updatedReplicas ?? 0) ||
  counts.readyReplicas > (old.readyReplicas ?? 0) ||
  counts.availableReplicas > (old.availableReplicas ?? 0);

/** Until the rollout is late; undefined where it cannot be any more. */
export function remainingMs({ deployment, now }: Pick<StatusParts, 'deployment' | 'now'>): number | undefined {
  const deadline = deadlineOf(deployment);
  const progress = conditionOf(deployment.status.conditions, PROGRESSING);
  if (deadline === undefined || progress === undefined || deployment.spec.paused === true) return undefined;
  if (progress.reason === TIMED_OUT || progress.reason === 'NewReplicaSetAvailable') return undefined;
  return Math.max(0, Date.parse(progress.lastUpdateTime ?? '') + deadline * 1000 - now.getTime());
}

function deadlineOf({ spec }: Readonly<Deployment>): number | undefined {
  const seconds = spec.progressDeadlineSeconds ?? NO_DEADLINE;
  return seconds === NO_DEADLINE ? undefined : seconds;
}

/** What a replica set could not do is the deployment's failure, too; the current one's counts first. */
function withFailure(
  conditions: readonly DeploymentCondition[],
  parts: StatusParts,
  all: readonly Readonly<ReplicaSet>[],
): DeploymentCondition[] {
  const first = parts.current === undefined ? all : [parts.current, ...all];
  const failures = first.map((one) => conditionOf(one.status.conditions, 'ReplicaFailure'));
  const failure = failures.find((one) => one !== undefined);
  if (failure === undefined) return withoutCondition(conditions, 'ReplicaFailure');
  const { reason = '', message = '', lastTransitionTime } = failure;
  const lastUpdateTime = lastTransitionTime;
  return withCondition(conditions, {
    type: 'ReplicaFailure',
    status: failure.status,
    lastUpdateTime,
    lastTransitionTime,
    reason,
    message,
  });
}

const condition = (
  { time }: StatusParts,
  said: Pick<DeploymentCondition, 'type' | 'status' | 'reason' | 'message'>,
): DeploymentCondition => ({ ...said, lastUpdateTime: time, lastTransitionTime: time });
