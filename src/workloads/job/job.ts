// The stand-in of the job controller: pods until enough have succeeded or too many failed, each counted once.
//
// A pod has a finalizer until it is counted. First its uid goes into the status, then the finalizer goes, then the count
// is raised and the uid leaves the status: whatever fails in between, nothing is counted twice or lost.
import { inBatches, updateSame } from '../../controllers/controller.js';
import type { KubeObject } from '../../machinery/object.js';
import { timestamp } from '../../registry/registry.js';
import type { ServerClient } from '../../registry/server-client.js';
import type { Job, JobCondition, JobStatus } from '../../schema/generated/batch.v1.js';
import type { Pod } from '../../schema/generated/core.v1.js';
import { withCondition } from '../conditions.js';
import type { OwnedObjects } from '../owned-objects.js';
import { PodControl } from '../pod/pod-control.js';
import { isActive, isReady, isTerminating } from '../pod/pod-state.js';
import { updateStatus } from '../reconciler.js';
import { JOBS, PODS, type WorkloadParts } from '../workload-parts.js';
import { formatIndexes, parseIndexes } from './completed-indexes.js';
import { indexOf, isTracked, makeJobPod, TRACKING_FINALIZER } from './job-pod.js';
import { deadlineInMs, failureOrEarlier, finishedAt, success, type Verdict } from './job-verdict.js';

const OWN_NAME = 'kubernetes.io/job-controller';

export function jobReconciler(parts: WorkloadParts, client: ServerClient, pods: OwnedObjects<Pod>) {
  const control = new PodControl(client, pods);
  return async (job: Readonly<Job>): Promise<number | undefined> => {
    if ((job.spec.managedBy ?? OWN_NAME) !== OWN_NAME) return undefined;
    const finished = finishedAt(job);
    if (finished !== undefined) return removeInTime(parts, client, job, finished);
    const run = await JobRun.begin({ parts, client, pods, control }, job);
    await run.reconcile();
    return deadlineInMs(run.job, parts.clock.now());
  };
}

async function removeInTime(
  { clock }: WorkloadParts,
  client: ServerClient,
  job: Readonly<Job>,
  { lastTransitionTime }: JobCondition,
): Promise<number | undefined> {
  const { ttlSecondsAfterFinished } = job.spec;
  if (ttlSecondsAfterFinished === undefined || job.metadata.deletionTimestamp !== undefined) return undefined;
  const dueMs = Date.parse(lastTransitionTime ?? '') + ttlSecondsAfterFinished * 1000;
  if (dueMs > clock.now()) return dueMs - clock.now();
  await client.delete(JOBS, job, { propagationPolicy: 'Background' });
  return undefined;
}

interface JobParts {
  readonly parts: WorkloadParts;
  readonly client: ServerClient;
  readonly pods: OwnedObjects<Pod>;
  readonly control: PodControl;
}

class JobRun {
  readonly #own: JobParts;
  readonly #now: string;
  readonly #nowMs: number;
  readonly #isSettled: boolean;
  /** Of the job, as far as they are not counted or still of interest. */
  readonly #pods: readonly Readonly<Pod>[];
  job: Readonly<Job>;

  static async begin(own: JobParts, job: Readonly<Job>): Promise<JobRun> {
    // Settled or not is looked at first: what arrives later is only too much.
    const isSettled = own.pods.isSettled(job.metadata.uid ?? '');
    const known = own.pods.of(job.metadata.uid ?? '');
    // A finalizer that this server has just removed is removed in what it reads, if not yet in the index.
    const fresh = await Promise.all(
      known.map(async (pod) => {
        if (!isTracked(pod) || isActive(pod)) return pod;
        const { namespace = '', name = '', uid } = pod.metadata;
        const now = (await own.client.get(PODS, namespace, name)) as Readonly<Pod> | undefined;
        return now?.metadata.uid === uid ? now : undefined;
      }),
    );
    return new JobRun(
      own,
      job,
      fresh.filter((pod) => pod !== undefined),
      isSettled,
    );
  }

  constructor(own: JobParts, job: Readonly<Job>, pods: readonly Readonly<Pod>[], isSettled: boolean) {
    this.#own = own;
    this.job = job;
    this.#pods = pods;
    this.#isSettled = isSettled;
    this.#nowMs = own.parts.clock.now();
    this.#now = timestamp(new Date(this.#nowMs));
  }

  async reconcile(): Promise<void> {
    const { job } = this;
    const { status } = job;
    const uncounted = this.#uncounted();
    const completed = this.#completedIndexes();
    const succeeded = completed?.size ?? (status.succeeded ?? 0) + uncounted.succeeded.length;
    const failed = (status.failed ?? 0) + uncounted.failed.length;
    const activePods = this.#pods.filter(isActive);
    let active = activePods.length;
    let verdict = failureOrEarlier(job, { succeeded, failed, active }, activePods, this.#nowMs);
    let failure: Error | undefined;
    let deleted: readonly Readonly<Pod>[] = [];
    if (verdict !== undefined) {
      deleted = activePods;
      failure = await this.#own.control.delete(job, activePods);
    } else {
      const plan = this.#plan(succeeded, activePods, completed);
      if (this.#isSettled && job.metadata.deletionTimestamp === undefined) {
        deleted = plan.remove;
        failure = (await this.#own.control.delete(job, plan.remove)) ?? (await this.#create(plan.indexes));
        if (failure === undefined) active += plan.indexes.length;
      }
      verdict = success(job, { succeeded, failed, active: active - deleted.length });
    }
    active -= deleted.length;
    const failedByEnd = verdict?.type === 'FailureTarget' ? deleted.map(uidOf) : [];
    await this.#write({
      ...this.#conditions(verdict),
      ...(active > 0 && { active }),
      ready: activePods.filter((pod) => isReady(pod) && !deleted.includes(pod)).length,
      terminating: this.#pods.filter(isTerminating).length + deleted.length,
      ...(completed !== undefined && completedStatus(completed)),
      uncountedTerminatedPods: listed(uncounted.succeeded, [...uncounted.failed, ...failedByEnd]),
    });
    await this.#removeFinalizers([...uncounted.pods, ...deleted]);
    await this.#count(verdict);
    if (failure !== undefined) throw failure;
  }

  /** Pods that have ended and keep their finalizer, and those of an earlier round. */
  #uncounted() {
    const { status, spec } = this.job;
    const isIndexed = spec.completionMode === 'Indexed';
    const onlyFailed = spec.podReplacementPolicy === 'Failed';
    const { succeeded: knownSucceeded = [], failed: knownFailed = [] } = status.uncountedTerminatedPods ?? {};
    const hasFailed = ({ metadata, status: { phase } }: Readonly<Pod>): boolean =>
      phase === 'Failed' || (!onlyFailed && phase !== 'Succeeded' && metadata.deletionTimestamp !== undefined);
    const ended = this.#pods.filter((pod) => isTracked(pod) && (pod.status.phase === 'Succeeded' || hasFailed(pod)));
    const isKnown = (pod: Readonly<Pod>): boolean =>
      knownSucceeded.includes(uidOf(pod)) || knownFailed.includes(uidOf(pod));
    const fresh = ended.filter((pod) => !isKnown(pod));
    return {
      pods: ended,
      succeeded: [...knownSucceeded, ...(isIndexed ? [] : fresh.filter((pod) => !hasFailed(pod)).map(uidOf))],
      failed: [...knownFailed, ...fresh.filter(hasFailed).map(uidOf)],
    };
  }

  #completedIndexes(): ReadonlySet<number> | undefined {
    const { spec, status } = this.job;
    if (spec.completionMode !== 'Indexed') return undefined;
    const done = this.#pods.filter((pod) => pod.status.phase === 'Succeeded').map(indexOf);
    const valid = done.filter((index) => index !== undefined && index < (spec.completions ?? 0)) as number[];
    return new Set([...parseIndexes(status.completedIndexes), ...valid]);
  }

  #plan(succeeded: number, active: readonly Readonly<Pod>[], completed: ReadonlySet<number> | undefined) {
    const { parallelism = 1, completions, suspend, podReplacementPolicy } = this.job.spec;
    if (suspend === true) return { remove: active, indexes: [] };
    const left = completions === undefined ? (succeeded > 0 ? active.length : parallelism) : completions - succeeded;
    const wanted = Math.max(0, Math.min(left, completions === undefined ? left : parallelism));
    const ending = podReplacementPolicy === 'Failed' ? this.#pods.filter(isTerminating).length : 0;
    const missing = Math.max(0, wanted - ending - active.length);
    const remove = active.slice(0, Math.max(0, active.length - wanted));
    if (completed === undefined) return { remove, indexes: Array.from({ length: missing }, () => undefined) };
    const taken = new Set([...completed, ...active.map(indexOf)]);
    const free: number[] = [];
    for (let index = 0; index < (completions ?? 0) && free.length < missing; index++) {
      if (!taken.has(index)) free.push(index);
    }
    return { remove, indexes: free };
  }

  #create(indexes: readonly (number | undefined)[]): Promise<Error | undefined> {
    const { parts, control } = this.#own;
    const { features } = parts.context();
    return control.create(this.job, indexes.length, (place) =>
      makeJobPod({ job: this.job, index: indexes[place], suffix: parts.nameSuffix(), features }),
    );
  }

  #conditions(verdict: Verdict | undefined): Pick<JobStatus, 'conditions' | 'startTime'> {
    const { spec, status } = this.job;
    const isSuspended = spec.suspend === true;
    const suspended = status.conditions?.find(({ type }) => type === 'Suspended');
    const isResumed = !isSuspended && suspended?.status === 'True';
    let { conditions } = status;
    if (verdict !== undefined) conditions = withCondition(conditions, this.#condition(verdict.type, verdict));
    else if (isSuspended) {
      const words = { reason: 'JobSuspended', message: 'Job suspended' };
      conditions = withCondition(conditions, this.#condition('Suspended', words));
    } else if (isResumed) {
      const words = { reason: 'JobResumed', message: 'Job resumed' };
      conditions = withCondition(conditions, { ...this.#condition('Suspended', words), status: 'False' });
    }
    const startTime = isResumed || (status.startTime === undefined && !isSuspended) ? this.#now : status.startTime;
    return { ...(conditions !== undefined && { conditions }), ...(startTime !== undefined && { startTime }) };
  }

  #condition(type: string, { reason, message }: Pick<Verdict, 'reason' | 'message'>): JobCondition {
    const time = { lastProbeTime: this.#now, lastTransitionTime: this.#now };
    return { type: type as JobCondition['type'], status: 'True', ...time, reason, message };
  }

  async #removeFinalizers(pods: readonly Readonly<Pod>[]): Promise<void> {
    const { client } = this.#own;
    const change = (object: KubeObject): KubeObject => {
      const left = (object.metadata.finalizers ?? []).filter((name) => name !== TRACKING_FINALIZER);
      if (left.length > 0) object.metadata.finalizers = left;
      else delete object.metadata.finalizers;
      return object;
    };
    await inBatches(pods.filter(isTracked), (pod) => updateSame(client, { resource: PODS, object: pod, change }));
  }

  /** Those whose finalizers are gone are counted now; with the last of them the job is finished. */
  async #count(verdict: Verdict | undefined): Promise<void> {
    const { status } = this.job;
    const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
    const { active = 0, terminating = 0 } = status;
    const isFinished = verdict !== undefined && active === 0 && terminating === 0 && this.#isSettled;
    const isComplete = verdict?.type === 'SuccessCriteriaMet';
    const counts = {
      succeeded:
        this.job.spec.completionMode === 'Indexed'
          ? (status.succeeded ?? 0)
          : (status.succeeded ?? 0) + succeeded.length,
      failed: (status.failed ?? 0) + failed.length,
    };
    const { succeeded: _, failed: __, ...others } = status;
    await this.#write({
      ...others,
      ...(counts.succeeded > 0 && { succeeded: counts.succeeded }),
      ...(counts.failed > 0 && { failed: counts.failed }),
      uncountedTerminatedPods: {},
      ...(isFinished && {
        conditions: withCondition(status.conditions, this.#condition(isComplete ? 'Complete' : 'Failed', verdict)),
      }),
      ...(isFinished && isComplete && { completionTime: this.#now }),
    });
  }

  /** What is not said stays as it is, but for `active`. */
  async #write(status: JobStatus): Promise<void> {
    const { active: _, ...before } = this.job.status;
    const next = { ...before, ...status };
    await updateStatus<Job>(this.#own.client, JOBS, this.job, next);
    this.job = { ...this.job, status: next };
  }
}

const uidOf = ({ metadata }: Readonly<Pod>): string => metadata.uid ?? '';

const listed = (succeeded: readonly string[], failed: readonly string[]) => ({
  ...(succeeded.length > 0 && { succeeded: [...succeeded] }),
  ...(failed.length > 0 && { failed: [...failed] }),
});

const completedStatus = (completed: ReadonlySet<number>): Pick<JobStatus, 'completedIndexes' | 'succeeded'> => ({
  ...(completed.size > 0 && { completedIndexes: formatIndexes(completed), succeeded: completed.size }),
});
