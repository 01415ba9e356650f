// Where the rules of an object are run: those of a large one on a worker thread, those of a small one here. Of some kinds
// nobody knows how long they take: theirs are begun here, where nearly all are done at once, and begun anew in the other
// thread when they are not.
import { Interrupted } from '../cel/interrupted.js';
import type { WorkerPool } from '../lib/async/worker-pool.js';
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import { runSync, runCooperatively, LARGE_BYTES, yieldToEventLoop } from '../lib/scheduling/yield.js';
import type { KubeObject } from '../machinery/object.js';
import { keepUnchangedTimes } from '../schema/apply/field-manager.js';
import type { StoredObject } from '../storage/store.js';
import type { LifeContext } from './kind.js';
import { type ChangeContext, prepareChanged, prepareNew } from './prepare.js';
import { prepareChangedOnWorker, prepareNewOnWorker } from './prepare.worker.js';
import { workersFor, type ResourceRegistry } from './registry.js';

/** How long rules may take here. */
const INLINE_BUDGET_MS = 15;

/** Answers what is to be stored, as far as it is known. */
export function prepareCreate(
  registry: ResourceRegistry,
  object: KubeObject,
  context: LifeContext,
  bytes: number,
): MaybePromise<Buffer | undefined> {
  const workers = workersForRules(registry, bytes);
  if (workers !== undefined) return prepareNewOnWorker(workers, registry, object, context);
  const inline = (patient: LifeContext): undefined => prepareNew(registry, object, patient) as undefined;
  return startInline(registry, context, inline, (onWorker) => prepareNewOnWorker(onWorker, registry, object, context));
}

/** The same of a change; the times of what has not changed are kept. */
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
  if (workers !== undefined) return prepareChangedOnWorker(workers, registry, request, object, current);
  const { endpoint, context } = request;
  const inline = (patient: LifeContext): MaybePromise<undefined> => {
    prepareChanged(registry, { endpoint, context: patient }, object, old);
    if (bytes > LARGE_BYTES)
      return yieldToEventLoop().then(() => runCooperatively(keepUnchangedTimes(object, old)) as Promise<undefined>);
    runSync(keepUnchangedTimes(object, old));
    return undefined;
  };
  return startInline(registry, context, inline, (onWorker) =>
    prepareChangedOnWorker(onWorker, registry, request, object, current),
  );
}

const workersForRules = (registry: ResourceRegistry, bytes: number): WorkerPool | undefined =>
  workersFor(registry, bytes * (registry.kind.strategy.rulesWeight ?? 1));

// hot: most kinds' rules are known to be done at once.
function startInline(
  { kind, workers }: ResourceRegistry,
  context: LifeContext,
  inline: (patient: LifeContext) => MaybePromise<undefined>,
  onWorker: (workers: WorkerPool) => Promise<Buffer | undefined>,
): MaybePromise<Buffer | undefined> {
  if (kind.strategy.rulesMayTakeLong !== true || workers === undefined) return inline(context);
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
