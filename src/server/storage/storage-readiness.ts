// With the WatchCacheInitializationPostStartHook feature the server is ready only when its caches are filled, or when
// `--storage-initialization-timeout` is over: one resource that cannot be read must not keep all the others away.
import type { Logger } from '../../lib/telemetry/log.js';
import { pause } from '../../lib/async/pause.js';
import type { PostStartHook } from '../lifecycle/post-start-hooks.js';

export interface StorageReadinessOptions {
  readonly stores: () => Iterable<{ ready(): Promise<void> }>;
  readonly timeoutMs: number;
  readonly log: Logger;
}

const RETRY_MS = 100;

export function storageReadinessHook({ stores, timeoutMs, log }: StorageReadinessOptions): PostStartHook {
  const run = async (signal: AbortSignal): Promise<void> => {
    const over = new AbortController();
    const anyEnd = AbortSignal.any([signal, over.signal]);
    const filled = Promise.all(Array.from(stores(), (store) => untilReady(store, anyEnd))).then(() => true);
    const inTime = await Promise.race([filled, pause(timeoutMs, anyEnd).then(() => false)]);
    over.abort();
    if (inTime) log.plain('Storage is ready for all registered resources');
    else if (!signal.aborted) log.warning('Deadline exceeded while waiting for storage readiness... ignoring');
  };
  return { name: 'storage-readiness', run };
}

/** Returns when it is, or when `signal` aborts. */
export async function untilReady(store: { ready(): Promise<void> }, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      return await store.ready();
    } catch {
      await pause(RETRY_MS, signal);
    }
  }
}
