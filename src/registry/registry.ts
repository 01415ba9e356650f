// One resource's registry: its kind's rules on its store. The verbs are functions beside it, a file each.
import { WORKER_MIN_BYTES, type WorkerPool, workersForBytes } from '../lib/async/worker-pool.js';
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import { goQuote } from '../lib/go/quote.js';
import { SMALL, type SizedWork } from '../lib/scheduling/sized-work.js';
import { timeOf } from '../machinery/time.js';
import { badRequest, type GroupKind, type GroupResource } from '../machinery/status.js';
import type { KubeObject } from '../machinery/object.js';
import { pathSegmentName } from '../machinery/validation/names.js';
import { encodedBy, type ResourceStore, type StoredObject } from '../storage/store.js';
import type { KindDefinition } from './kind.js';
import type { KeyedQueue } from './keyed-queue.js';

export interface ResourceRegistry {
  readonly kind: KindDefinition;
  readonly resource: GroupResource;
  readonly groupKind: GroupKind;
  readonly store: ResourceStore;
  readonly clock: () => Date;
  readonly newUid: () => string;
  /** Random lower-case letters and digits that make a generated name unique. */
  readonly nameSuffix: () => string;
  /** Keys of objects that are being stored under a generated name, shared by all registries of a store. */
  readonly drawnKeys: Set<string>;
  /** Queues the updates of one object, shared by all registries of a store. */
  readonly updateQueue: KeyedQueue;
  /** Semantic equality of a member of two objects: absent and empty are the same, quantities compare by value. */
  readonly equal: (member: string, a: unknown, b: unknown) => boolean;
  /** Objects get the finalizers that the garbage collector works on. */
  readonly garbageCollection: boolean;
  readonly deleteCollectionWorkers: number;
  /** Where the rules of large objects are run; without it, here. */
  readonly workers?: WorkerPool | undefined;
}

/** Where work on something of this size is done, when not here. */
export const workersFor = (
  { workers, kind }: Pick<ResourceRegistry, 'workers' | 'kind'>,
  bytes: number,
): WorkerPool | undefined => workersForBytes(workers, bytes * (kind.strategy.cost?.weight ?? 1));

/** Whether work on something of this size is done in the way of what is large, be it without workers. */
export const isForWorkers = (registry: Pick<ResourceRegistry, 'workers' | 'kind'>, bytes: number): boolean =>
  bytes > WORKER_MIN_BYTES || workersFor(registry, bytes) !== undefined;

/** Runs the plugins that look at the finished object. */
export type AdmitCreate = (object: KubeObject) => MaybePromise<void>;
export type AdmitUpdate = (object: KubeObject, old: Readonly<KubeObject>) => MaybePromise<void>;
export type AdmitDelete = (old: Readonly<KubeObject>) => MaybePromise<void>;

export function keyOf(registry: ResourceRegistry, namespace: string, name: string): string {
  return registry.kind.namespaced ? `${namespace}/${name}` : name;
}

/** The key of a name that a client sent: throws where the name is empty or cannot be one. */
export function requestedKey(registry: ResourceRegistry, namespace: string, name: string): string {
  if (name === '') throw badRequest('Name parameter required.');
  const problems = pathSegmentName(name, false);
  if (problems.length > 0) throw badRequest(`Name parameter invalid: ${goQuote(name)}: ${problems.join(';')}`);
  return keyOf(registry, namespace, name);
}

/** An object that was not stored (a dry run), in the form of a stored one. */
export async function unstored(
  registry: ResourceRegistry,
  key: string,
  written: KubeObject,
  work: SizedWork = SMALL,
): Promise<StoredObject> {
  const { store } = registry;
  const { codec, fieldsOf } = store.options;
  const result = (await store.view?.dryRunResult(written)) ?? written;
  const json = await encodedBy(codec, result, work);
  const object = codec.isStoredAsOther?.(result) === true ? codec.decodeJson(json) : result;
  const fields = fieldsOf(object);
  return {
    key,
    revision: 0,
    json,
    size: json.length,
    object: () => object,
    labels: object.metadata.labels ?? {},
    field: (name) => fields[name] ?? '',
  };
}

/** `2006-01-02T15:04:05Z`: how metadata keeps a time. */
export const timestamp = timeOf;
