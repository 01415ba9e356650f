// Eviction: deletes a pod if its disruption budget allows.
import { Yielder } from '../../../lib/scheduling/yield.js';
import { FieldPath, invalid as invalidField } from '../../../machinery/field-error.js';
import { labelSelectorAsSelector } from '../../../machinery/label-selector.js';
import type { KubeObject } from '../../../machinery/object.js';
import { badRequest, conflict, forbidden, invalid, StatusError, tooManyRequests } from '../../../machinery/status.js';
import type { DeleteOptions, LifeContext, SubresourceAction } from '../../../registry/kind.js';
import type { Pod } from '../../../schema/generated/core.v1.js';
import type { PodDisruptionBudget } from '../../../schema/generated/policy.v1.js';
import { loadedAll } from '../../../storage/store.js';
import { SUCCESS } from './binding.js';
import { setPodCondition } from './conditions.js';

const PODS = { group: '', resource: 'pods' };
const BUDGETS = { group: 'policy', resource: 'poddisruptionbudgets' };
const MAX_DISRUPTED_PODS = 2000;
const MAX_ATTEMPTS = 20;
const VIOLATION = "Cannot evict pod as it would violate the pod's disruption budget.";

interface Eviction extends KubeObject {
  readonly deleteOptions?: DeleteOptions;
}

export async function evictPod(action: SubresourceAction): Promise<{ code: number; object: object }> {
  const { name, namespace, context, operations } = action;
  const eviction = action.body as Eviction;
  if (name !== (eviction.metadata.name ?? '')) throw badRequest('name in URL does not match name in Eviction object');
  if (eviction.deleteOptions?.ignoreStoreReadErrorWithClusterBreakingPotential) {
    const path = FieldPath.of('deleteOptions', 'ignoreStoreReadErrorWithClusterBreakingPotential');
    const error = invalidField(path, true, 'can not be set for pod eviction, try after removing the option');
    throw invalid({ group: 'policy', kind: 'Eviction' }, name, [error]);
  }
  const options = withDryRun(eviction.deleteOptions, context);
  const states = options.preconditions?.resourceVersion !== undefined;
  for (let attempt = 1; ; attempt++) {
    const pod = (await operations.get(PODS, namespace, name, context.trace)) as Pod;
    if (!escapesBudgets(pod)) return evictWithinBudget(action, pod, options);
    try {
      // A pending pod may have started meanwhile: then its budget counts after all.
      const guard = pod.status.phase === 'Pending' && !pod.metadata.deletionTimestamp && !states;
      await removePod(action, guard ? atVersionOf(pod, options) : options);
      return { code: 201, object: SUCCESS };
    } catch (error) {
      if (!isConflict(error) || states || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

function withDryRun(options: DeleteOptions | undefined, { dryRun }: LifeContext): DeleteOptions {
  const inBody = options?.dryRun ?? [];
  if (!dryRun) return options ?? {};
  if (inBody.length > 0 && inBody.join(' ') !== 'All') {
    const why = `Non-matching dry-run options in request and content: [All] and [${inBody.join(' ')}]`;
    throw new StatusError(500, '', why);
  }
  return { ...options, dryRun: ['All'] };
}

/** Pods that are not yet, or no longer, of use to anybody. */
const escapesBudgets = ({ status, metadata }: Readonly<Pod>): boolean =>
  ['Succeeded', 'Failed', 'Pending'].includes(status.phase ?? '') || metadata.deletionTimestamp !== undefined;

async function evictWithinBudget(
  action: SubresourceAction,
  pod: Readonly<Pod>,
  options: DeleteOptions,
): Promise<{ code: number; object: object }> {
  const budgets = await budgetsOf(pod, action.context);
  if (budgets.length > 1) {
    const message = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
    return { code: 500, object: { ...SUCCESS, status: 'Failure', message, code: 500 } };
  }
  const [budget] = budgets;
  const spares = budget !== undefined && !isReady(pod) && allowsUnhealthy(budget);
  if (budget !== undefined && !spares) await takeFromBudget(action, budget, pod, options);
  try {
    await removePod(action, spares ? atVersionOf(pod, options) : options);
  } catch (error) {
    const raced = spares && isConflict(error) && options.preconditions?.resourceVersion === undefined;
    throw raced ? stillProcessing(budget.metadata.name ?? '') : error;
  }
  return { code: 201, object: SUCCESS };
}

async function budgetsOf({ metadata }: Readonly<Pod>, { lookup }: LifeContext): Promise<PodDisruptionBudget[]> {
  const all = (await loadedAll(await lookup.list(BUDGETS, metadata.namespace ?? ''))) as PodDisruptionBudget[];
  const yielder = new Yielder();
  const found: PodDisruptionBudget[] = [];
  for (const budget of all) {
    if (labelSelectorAsSelector(budget.spec.selector).matches(metadata.labels)) found.push(budget);
    // Anybody may write a thousand with a thousand requirements each.
    await yielder.yieldIfDue();
  }
  return found;
}

const isReady = ({ status }: Readonly<Pod>): boolean =>
  (status.conditions ?? []).some((condition) => condition.type === 'Ready' && condition.status === 'True');

/** A pod that is down already disrupts nothing, as long as enough others are well, or always if the budget says so. */
const allowsUnhealthy = ({ spec, status }: Readonly<PodDisruptionBudget>): boolean =>
  spec.unhealthyPodEvictionPolicy === 'AlwaysAllow' ||
  (status.currentHealthy >= status.desiredHealthy && status.desiredHealthy > 0);

async function takeFromBudget(
  { namespace, context, operations }: SubresourceAction,
  { metadata }: Readonly<PodDisruptionBudget>,
  pod: Readonly<Pod>,
  options: DeleteOptions,
): Promise<void> {
  const name = metadata.name ?? '';
  if ((options.dryRun ?? []).length > 0) {
    decrement((await operations.get(BUDGETS, namespace, name)) as PodDisruptionBudget);
    return;
  }
  const take = (object: KubeObject): KubeObject => {
    const budget = decrement(object as PodDisruptionBudget);
    const { status } = budget;
    const now = context
      .now()
      .toISOString()
      .replace(/\.\d+Z$/, 'Z');
    status.disruptedPods = { ...status.disruptedPods, [pod.metadata.name ?? '']: now };
    if (status.disruptionsAllowed === 0) refuseFurther(budget, now);
    return budget;
  };
  // This work is no part of the client's trace.
  await operations.update({
    resource: BUDGETS,
    namespace,
    name,
    subresource: 'status',
    change: take,
    context: { ...context, trace: undefined },
  });
}

/** One disruption less, on a copy; throws when there is none left. */
function decrement(budget: Readonly<PodDisruptionBudget>): PodDisruptionBudget {
  const { metadata, status } = budget;
  const name = metadata.name ?? '';
  const refuse = (why: string): StatusError =>
    forbidden({ group: 'policy', resource: 'poddisruptionbudget' }, name, why);
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) throw stillProcessing(name);
  if (status.disruptionsAllowed < 0) throw refuse('pdb disruptions allowed is negative');
  if (Object.keys(status.disruptedPods ?? {}).length > MAX_DISRUPTED_PODS) {
    throw refuse('DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  }
  if (status.disruptionsAllowed === 0) {
    const { desiredHealthy, currentHealthy } = status;
    const why = `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
    throw budgetError(why, 0);
  }
  return { ...budget, status: { ...status, disruptionsAllowed: status.disruptionsAllowed - 1 } };
}

function refuseFurther({ status }: PodDisruptionBudget, now: string): void {
  const conditions = (status.conditions ?? []).filter(({ type }) => type !== 'DisruptionAllowed');
  const old = (status.conditions ?? []).find(({ type }) => type === 'DisruptionAllowed');
  status.conditions = [
    ...conditions,
    {
      type: 'DisruptionAllowed',
      status: 'False',
      ...(status.observedGeneration ? { observedGeneration: status.observedGeneration } : {}),
      lastTransitionTime: old?.status === 'False' ? old.lastTransitionTime : now,
      reason: 'InsufficientPods',
      message: '',
    },
  ];
}

const stillProcessing = (name: string): StatusError =>
  budgetError(`The disruption budget ${name} is still being processed by the server.`, 10);

function budgetError(message: string, retryAfterSeconds: number): StatusError {
  const { code, reason, message: text } = tooManyRequests(VIOLATION, retryAfterSeconds);
  return new StatusError(code, reason, text, { retryAfterSeconds, causes: [{ reason: 'DisruptionBudget', message }] });
}

const atVersionOf = ({ metadata }: Readonly<Pod>, options: DeleteOptions): DeleteOptions => ({
  ...options,
  preconditions: { ...options.preconditions, resourceVersion: metadata.resourceVersion ?? '' },
});

/** Marks the pod as evicted, so that its owner can see it, and deletes it. */
async function removePod(
  { name, namespace, context, operations }: SubresourceAction,
  options: DeleteOptions,
): Promise<void> {
  let { preconditions } = options;
  const isDryRun = (options.dryRun ?? []).length > 0;
  if (!isDryRun) {
    const mark = (object: KubeObject): KubeObject => {
      checkPreconditions(object.metadata, preconditions);
      const condition = { reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' };
      setPodCondition(
        (object as Pod).status,
        { type: 'DisruptionTarget', status: 'True', ...condition },
        context.now(),
      );
      return object;
    };
    const marked = await operations.update({
      resource: PODS,
      namespace,
      name,
      subresource: 'status',
      change: mark,
      context,
    });
    if (preconditions?.resourceVersion !== undefined) {
      preconditions = { ...preconditions, resourceVersion: marked.metadata.resourceVersion ?? '' };
    }
  }
  // The body may ask for a dry run as well as the request.
  const heeded = isDryRun ? { ...context, dryRun: true } : context;
  await operations.delete({
    resource: PODS,
    namespace,
    name,
    options: { ...options, ...(preconditions && { preconditions }) },
    context: heeded,
  });
}

function checkPreconditions(metadata: KubeObject['metadata'], wanted: DeleteOptions['preconditions']): void {
  const refuse = (what: string, value: string, found: string | undefined, perhaps: string): StatusError =>
    conflict(
      { group: '', resource: 'Pod' },
      metadata.name ?? '',
      `the ${what} in the precondition (${value}) does not match the ${what} in record (${found ?? ''}). ${perhaps}`,
    );
  const { uid, resourceVersion } = wanted ?? {};
  if (uid && uid !== metadata.uid) {
    throw refuse('UID', uid, metadata.uid, 'The object might have been deleted and then recreated');
  }
  if (resourceVersion && resourceVersion !== metadata.resourceVersion) {
    const perhaps = 'The object might have been modified';
    throw refuse('ResourceVersion', resourceVersion, metadata.resourceVersion, perhaps);
  }
}

const isConflict = (error: unknown): boolean => error instanceof StatusError && error.reason === 'Conflict';
