// Calls to the key-value store for one resource: timed for metrics, failures as storage errors, values as entries.
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import type { KeyValue, KeyValueStore } from '../kv/kv.js';
import type { Trace } from '../tracing/trace.js';
import type { Entry } from './entry.js';
import { fromKv } from './errors.js';
import type { StorageMetrics, StoreOperation } from './metrics.js';
import type { ResourceStoreOptions } from './store.js';
import type { Values } from './values.js';

export class StoreCalls {
  readonly options: ResourceStoreOptions;

  constructor(
    readonly kv: KeyValueStore,
    readonly values: Values,
    readonly metrics: StorageMetrics,
  ) {
    this.options = values.options;
  }

  timed<T>(operation: StoreOperation, call: Promise<T>): Promise<T> {
    return fromKv(this.observed(operation, call), this.options);
  }

  /** Fails as the store did. */
  async observed<T>(operation: StoreOperation, call: Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      const result = await call;
      this.count(operation, began, false);
      return result;
    } catch (error) {
      this.count(operation, began, true);
      throw error;
    }
  }

  count(operation: StoreOperation, beganMs: number, failed: boolean): void {
    this.metrics.request?.(operation, (performance.now() - beganMs) / 1000, failed);
  }

  entry(kv: KeyValue, trace?: Trace): MaybePromise<Entry> {
    return this.values.entry(kv.key.slice(this.options.prefix.length), kv.value, kv.modRevision, trace);
  }
}
