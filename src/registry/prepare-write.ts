// Where the rules of an object run: those of a large object on a worker, those of a small one inline. The run time of
// some kinds' rules is unknown: their rules start inline, where nearly all are done at once, and start over on a worker
// when they exceed their budget.
import { Interrupted } from '../cel/interrupted.js';
import type { WorkerPool } from '../lib/async/worker-pool.js';
import { type MaybePromise, whenReady } from '../lib/async/maybe-promise.js';
import { workOn } from '../lib/scheduling/sized-work.js';
import type { KubeObject } from '../machinery/object.js';
import { keepUnchangedTimes } from '../schema/apply/field-manager.js';
import type { StoredObject } from '../storage/store.js';
import type { LifeContext } from './kind.js';
import { type ChangeContext, prepareChanged, prepareNew } from './prepare.js';
import { prepareChangedOnWorker, prepareNewOnWorker } from './prepare.worker.js';
import { workersFor, type ResourceRegistry } from './registry.js';

/** How long such rules may run inline. */
const INLINE_BUDGET_MS = 15;

/** Returns the encoding to be stored, where a worker made one. */
export function prepareCreate(
  registry: ResourceRegistry,
  object: KubeObject,
  context: LifeContext,
  bytes: number,
): MaybePromise<Buffer | undefined> {
  const workers = workersForRules(registry, bytes);
  if (workers !== undefined) return prepareNewOnWorker(workers, registry, object, context);
  const inline = (interruptible: LifeContext): undefined => prepareNew(registry, object, interruptible) as undefined;
  return startInline(registry, context, inline, (onWorker) => prepareNewOnWorker(onWorker, registry, object, context));
}

/** Prepares a change and keeps the times of managed fields that have not changed. Returns as prepareCreate() does. */
export function prepareUpdate(
  registry: ResourceRegistry,
  request: ChangeContext,
  object: KubeObject,
  {
    current,
    old,
    bytes,
  }: { readonly current: StoredObject; readonly old: Readonly<KubeObject>; readonly bytes: number },
): MaybePromise<Buffer | undefined> {
  const workers = workersForRules(registry, bytes);
  if (workers !== undefined) return prepareChangedOnWorker(workers, { registry, change: request, object, current });
  const { endpoint, context } = request;
  const inline = (interruptible: LifeContext): MaybePromise<undefined> => {
    prepareChanged(registry, { endpoint, context: interruptible }, object, old);
    const work = workOn(bytes);
    return whenReady(work.pause(), () => work.run(keepUnchangedTimes(object, old)) as MaybePromise<undefined>);
  };
  return startInline(registry, context, inline, (onWorker) =>
    prepareChangedOnWorker(onWorker, { registry, change: request, object, current }),
  );
}

const workersForRules = (registry: ResourceRegistry, bytes: number): WorkerPool | undefined =>
  workersFor(registry, bytes * (registry.kind.strategy.cost?.rulesWeight ?? 1));

// hot: most kinds' rules are known to be done at once.
function startInline(
  { kind, workers }: ResourceRegistry,
  context: LifeContext,
  inline: (interruptible: LifeContext) => MaybePromise<undefined>,
  onWorker: (workers: WorkerPool) => MaybePromise<Buffer | undefined>,
): MaybePromise<Buffer | undefined> {
  if (kind.strategy.cost?.mayRunLong !== true || workers === undefined) return inline(context);
  const untilMs = performance.now() + INLINE_BUDGET_MS;
  const warnings: string[] = [];
  try {
    const done = inline({
      ...context,
      interrupted: () => performance.now() > untilMs,
      warn: (text) => warnings.push(text),
    });
    for (const text of warnings) context.warn(text);
    return done;
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    return onWorker(workers);
  }
}
