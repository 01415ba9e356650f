// The metrics that storage reports of one resource. Called on hot paths, so arguments are values that the caller already has.

export type StoreOperation = 'get' | 'list' | 'listWithCount' | 'create' | 'update' | 'delete';

export interface StorageMetrics {
  /** A call to the store ended (`etcd_request_duration_seconds`, `etcd_requests_total`, `etcd_request_errors_total`). */
  request?(operation: StoreOperation, seconds: number, failed: boolean): void;
  /** A list was read from the store (`apiserver_storage_list_*`). */
  listed?(fetched: number, evaluated: number, returned: number): void;
  /** Events came from the store to a watch of a resource without a cache (`apiserver_storage_events_received_total`). */
  received?(count: number): void;
  /** Events came from the store to the cache (the same, and `apiserver_watch_cache_events_*_total`). */
  cacheReceived?(count: number): void;
  /** The cache was filled (`apiserver_watch_cache_initializations_total`). */
  filled?(): void;
  /** How far the cache is (`apiserver_watch_cache_resource_version`). */
  reached?(revision: number): void;
  /** A read waited for the cache to be fresh (`apiserver_watch_cache_read_wait_seconds`). */
  waited?(seconds: number): void;
  /** A list was answered from the cache, out of so many objects (`apiserver_cache_list_*`). */
  cacheListed?(index: string, fetched: number, returned: number): void;
  /** A watch began with so many events that the cache had (`apiserver_init_events_total`). */
  watchStarted?(events: number): void;
  /** `apiserver_watch_cache_consistent_read_total`. */
  consistentRead?(success: boolean, fallback: boolean): void;
}
