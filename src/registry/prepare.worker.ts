// The rules that a large object passes before it is stored, run on a worker: this side sends the object and applies
// what the rules changed, the worker has the same kinds.
import { offload, RunInline, task, type WorkerPool } from '../lib/async/worker-pool.js';
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import { bufferOf } from '../lib/values/buffer-of.js';
import { runSync, runCooperatively } from '../lib/scheduling/yield.js';
import type { KubeObject } from '../machinery/object.js';
import { needsPruning } from '../machinery/needs-pruning.js';
import type { UserInfo } from '../machinery/user.js';
import { keepUnchangedTimes } from '../schema/apply/field-manager.js';
import { withoutResourceVersion } from '../storage/entry.js';
import type { StoredObject } from '../storage/store.js';
import { decodeTransferred, encodeForTransferCooperatively, storedObject } from './transferred-object.js';
import type { LifeContext, Lookup } from './kind.js';
import { type KindRef, neededBy, refOf } from './kind-ref.js';
import { type MemberChanges, memberChanges, applyChanges } from './member-changes.js';
import { type ChangeContext, prepareChanged, prepareNew } from './prepare.js';
import { deserializeStatus, type SerializedStatus, serializeStatus } from './serialized-status.js';
import type { ResourceRegistry } from './registry.js';

interface Preparation {
  readonly kind: KindRef;
  /** In the storage version. */
  readonly object: Uint8Array;
  /** Of an update: what is stored, and the endpoint that is written through. */
  readonly old?: Uint8Array;
  readonly endpoint?: string;
  readonly context: PlainContext;
  /** As the kind's findings have it. */
  readonly found?: object | undefined;
}

/** What of a LifeContext goes over. */
interface PlainContext {
  readonly user: UserInfo;
  readonly namespace: string;
  readonly dryRun: boolean;
  readonly nowMs: number;
}

interface Prepared {
  readonly warnings: readonly string[];
  readonly refused?: SerializedStatus;
  readonly changes?: MemberChanges;
  /** What is stored of the object, unless something is changed yet. */
  readonly encoded?: Uint8Array;
}

export const PREPARE = task<Preparation, Prepared>('prepare');

/** As prepareNew(). Returns the stored encoding where the worker made one. */
export function prepareNewOnWorker(
  workers: WorkerPool,
  registry: ResourceRegistry,
  object: KubeObject,
  context: LifeContext,
): MaybePromise<Buffer | undefined> {
  return offload<Buffer | undefined>(
    workers,
    () => prepareOnWorker(workers, { registry, object, context, change: {} }),
    () => {
      prepareNew(registry, object, context);
      return undefined;
    },
  );
}

export interface ChangedObject {
  readonly registry: ResourceRegistry;
  readonly change: ChangeContext;
  readonly object: KubeObject;
  readonly current: StoredObject;
}

/** As prepareChanged(), and the times of what has not changed are kept. */
export function prepareChangedOnWorker(
  workers: WorkerPool,
  { registry, change: { endpoint, context }, object, current }: ChangedObject,
): MaybePromise<Buffer | undefined> {
  return offload<Buffer | undefined>(
    workers,
    () => prepareOnWorker(workers, { registry, object, context, change: { old: current.json, endpoint } }),
    async () => {
      const old = current.object();
      prepareChanged(registry, { endpoint, context }, object, old);
      await runCooperatively(keepUnchangedTimes(object, old));
      return undefined;
    },
  );
}

interface ObjectToPrepare {
  readonly registry: ResourceRegistry;
  readonly object: KubeObject;
  readonly context: LifeContext;
  readonly change: Pick<Preparation, 'old' | 'endpoint'>;
}

async function prepareOnWorker(
  workers: WorkerPool,
  { registry, object, context, change }: ObjectToPrepare,
): Promise<Buffer | undefined> {
  const { user, namespace, dryRun, deadlineMs } = context;
  const { kind } = registry;
  const work: Preparation = {
    kind: refOf(kind),
    object: await encodeForTransferCooperatively(object),
    ...change,
    found: kind.strategy.transaction?.findings?.of(object),
    context: { user, namespace, dryRun, nowMs: context.now().getTime() },
  };
  const { warnings, refused, changes, encoded } = await workers.run(PREPARE, work, {
    requires: neededBy(kind),
    deadlineMs,
    transfer: ['object'],
  });
  for (const text of warnings) context.warn(text);
  if (refused !== undefined) throw deserializeStatus(refused);
  if (changes !== undefined) await applyChanges(kind, object, changes);
  // What others have put into it is dropped when they have all had their say.
  return encoded === undefined || needsPruning(object) ? undefined : bufferOf(encoded);
}

/** The worker's side. */
export function runPrepare(
  registry: ResourceRegistry,
  { object: sent, old, endpoint = '', context: plain, found }: Preparation,
  settings: Pick<LifeContext, 'features' | 'options' | 'interrupted'>,
): Prepared {
  const object = decodeTransferred(registry.kind, sent);
  if (found !== undefined) registry.kind.strategy.transaction?.findings?.attach(object, found);
  const changes = memberChanges(object);
  const warnings: string[] = [];
  const { user, namespace, dryRun, nowMs } = plain;
  const context: LifeContext = {
    ...settings,
    user,
    namespace,
    dryRun,
    now: () => new Date(nowMs),
    lookup: NO_LOOKUP,
    warn: (text) => warnings.push(text),
  };
  try {
    if (old === undefined) prepareNew(registry, object, context);
    else {
      const stored = storedObject(registry.store, old);
      prepareChanged(registry, { endpoint, context }, object, stored);
      runSync(keepUnchangedTimes(object, stored));
    }
  } catch (error) {
    return { warnings, refused: serializeStatus(error) };
  }
  const encoded = registry.store.options.codec.encodeJson(withoutResourceVersion(object));
  return { warnings, changes: changes(), encoded: new Uint8Array(encoded) };
}

const needsMainThread = (): never => {
  throw new RunInline('other objects are looked up where they are');
};

const NO_LOOKUP: Lookup = { get: needsMainThread, list: needsMainThread };
