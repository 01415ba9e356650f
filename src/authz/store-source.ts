// Follows a resource's store, for the RBAC index.
import type { KubeObject } from '../machinery/object.js';
import type { ResourceStore, WatchEvent } from '../storage/store.js';
import type { NamedObject, RbacChange, RbacSource } from './rbac-objects.js';

export interface StoreSource<T extends NamedObject> extends RbacSource<T> {
  /** Resolves once the state that was there at the start has been handed over. */
  readonly synced: Promise<void>;
}

export interface StoreSourceOptions {
  readonly store: ResourceStore;
  readonly signal: AbortSignal;
  readonly log: (message: string) => void;
}

const RETRY_MS = 1000;

/** Watches until `signal` aborts. A watch that ends is begun anew, and what was deleted meanwhile is found out. */
export function createStoreSource<T extends NamedObject & KubeObject>(options: StoreSourceOptions): StoreSource<T> {
  const receivers: ((change: RbacChange<T>) => void)[] = [];
  const objects = new Map<string, T>();
  let markSynced = (): void => undefined;
  const synced = new Promise<void>((resolve) => (markSynced = resolve));
  void run();
  return {
    synced,
    subscribe(receive) {
      for (const object of objects.values()) receive({ type: 'put', object });
      receivers.push(receive);
    },
  };

  async function run(): Promise<void> {
    while (!options.signal.aborted) {
      try {
        const ended = await watchOnce();
        if (ended !== undefined) options.log(`watch ended: ${ended.message}`);
      } catch (error) {
        options.log(`watch failed: ${(error as Error).message}`);
        await pause(RETRY_MS, options.signal);
      }
    }
  }

  async function watchOnce(): Promise<Error | undefined> {
    // Keys met since the watch began, until the initial state is complete.
    let seen: Set<string> | undefined = new Set<string>();
    const receive = (events: readonly WatchEvent[]): boolean => {
      for (const event of events) {
        if (event.type !== 'BOOKMARK') {
          apply(event);
          seen?.add(event.object.key);
        } else if (event.initialEventsEnd === true && seen !== undefined) {
          for (const key of objects.keys()) if (!seen.has(key)) remove(key);
          seen = undefined;
          markSynced();
        }
      }
      return true;
    };
    const watch = await options.store.watch(
      {
        namespace: '',
        resourceVersion: '',
        resourceVersionMatch: 'NotOlderThan',
        allowBookmarks: true,
        sendInitialEvents: true,
        signal: options.signal,
      },
      receive,
    );
    return watch.ended;
  }

  function apply(event: Exclude<WatchEvent, { type: 'BOOKMARK' }>): void {
    if (event.type === 'DELETED') {
      remove(event.object.key);
      return;
    }
    const object = event.object.object() as unknown as T;
    objects.set(event.object.key, object);
    for (const receive of receivers) receive({ type: 'put', object });
  }

  function remove(key: string): void {
    const object = objects.get(key);
    if (object === undefined) return;
    objects.delete(key);
    const { namespace = '', name = '' } = object.metadata;
    for (const receive of receivers) receive({ type: 'delete', namespace, name });
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
