// Whether the stores can be reached, for health and readiness.
import { errorText } from '../lib/error-text.js';
import type { MaybePromise } from '../lib/maybe-promise.js';
import type { KeyValueStore } from '../kv/kv.js';
import type { Options } from '../options/options.js';
import type { Health } from './health.js';
import type { Stores } from './open-stores.js';

/** The names are the reference's, whatever the store is: probes are configured by them. */
export function addStoreChecks({ etcd }: Options, stores: Stores, health: Health): void {
  const checkAll = (timeoutMs: number) => (): MaybePromise<string | undefined> => firstFailure(stores, timeoutMs);
  health.add({ name: 'etcd', check: checkAll(etcd.etcdHealthcheckTimeoutMs) });
  health.addReadyz({ name: 'etcd-readiness', check: checkAll(etcd.etcdReadycheckTimeoutMs) });
}

async function firstFailure({ all }: Stores, timeoutMs: number): Promise<string | undefined> {
  const results = await Promise.all([...all.values()].map((store) => failureOf(store, timeoutMs)));
  return results.find((failure) => failure !== undefined);
}

async function failureOf(store: KeyValueStore, timeoutMs: number): Promise<string | undefined> {
  try {
    await store.health({ timeoutMs });
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}
