// Follows all objects of a store, for as long as it is wanted: whatever ends a watch, the next one goes on from there.
import type { Logger } from '../lib/telemetry/log.js';
import { errorText } from '../lib/text/error-text.js';
import { pause } from '../lib/async/pause.js';
import type { ResourceStore, StoredObject, WatchEvent } from './store.js';

export interface InformerOptions {
  readonly store: ResourceStore;
  /** Only objects of this name, in every namespace; absent for all. */
  readonly name?: string;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** `before` is the version this one replaces, absent for an object that was not known. */
  onUpsert(object: StoredObject, before: StoredObject | undefined): void;
  /** The object as last seen, also when it went while nobody watched. */
  onDelete(object: StoredObject): void;
}

export interface Informer {
  /** Resolves once the state that was there at the start has been handed over, or when `signal` aborts. */
  readonly synced: Promise<void>;
  /** What is known now, by key. */
  readonly objects: ReadonlyMap<string, StoredObject>;
}

const RETRY_MS = 1000;

/** Watches until `signal` aborts. A watch that ends is begun anew, and what was deleted meanwhile is found out. */
export function startInformer(options: InformerOptions): Informer {
  const { store, name, signal, log } = options;
  const objects = new Map<string, StoredObject>();
  let markSynced = (): void => undefined;
  const synced = new Promise<void>((resolve) => (markSynced = resolve));
  signal.addEventListener('abort', () => markSynced(), { once: true });
  void run();
  return { synced, objects };

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        const ended = await watchOnce();
        if (signal.aborted) return;
        log.warning(`watch ended: ${ended?.message ?? 'the store closed it'}`);
      } catch (error) {
        if (signal.aborted) return;
        log.warning(`watch failed: ${errorText(error)}`);
      }
      await pause(RETRY_MS, signal);
    }
  }

  async function watchOnce(): Promise<Error | undefined> {
    // Keys met since the watch began, until the initial state is complete: what is known and not met is gone.
    let seen = objects.size === 0 ? undefined : new Set<string>();
    const receive = (events: readonly WatchEvent[]): boolean => {
      for (const event of events) {
        if (event.type !== 'BOOKMARK') {
          seen?.add(event.object.key);
          apply(event);
        } else if (event.initialEventsEnd === true) {
          for (const [key, object] of objects) if (seen?.has(key) === false) remove(key, object);
          seen = undefined;
          markSynced();
        }
      }
      return true;
    };
    const watch = await store.watch(
      {
        namespace: '',
        ...(name !== undefined && { name }),
        resourceVersion: '',
        resourceVersionMatch: 'NotOlderThan',
        allowBookmarks: true,
        sendInitialEvents: true,
        signal,
      },
      receive,
    );
    return watch.ended;
  }

  function apply({ type, object }: Exclude<WatchEvent, { type: 'BOOKMARK' }>): void {
    if (type === 'DELETED') {
      remove(object.key, object);
      return;
    }
    const before = objects.get(object.key);
    objects.set(object.key, object);
    // A restarted watch sends known objects again.
    if (before?.revision !== object.revision) notify(() => options.onUpsert(object, before));
  }

  function remove(key: string, object: StoredObject): void {
    if (objects.delete(key)) notify(() => options.onDelete(object));
  }

  /** Those who watch beside us must not suffer from a receiver that fails, on an object nobody can read, say. */
  function notify(receiver: () => void): void {
    try {
      receiver();
    } catch (error) {
      log.warning(`watch event failed: ${errorText(error)}`);
    }
  }
}
