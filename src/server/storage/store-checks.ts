// Whether the stores can be reached, for health and readiness.
import { errorText } from '../../lib/text/error-text.js';
import { type MaybePromise, whenReady } from '../../lib/async/maybe-promise.js';
import type { KeyValueStore } from '../../kv/kv.js';
import type { Options } from '../../options/options.js';
import type { Health } from '../lifecycle/health.js';
import type { Stores } from './open-stores.js';

/** The names are kube-apiserver's, whatever the store is: probes are configured by them. */
export function addStoreChecks({ etcd }: Options, stores: Stores, health: Health): void {
  // The embedded store answers at once.
  const isLocal = [...stores.all.values()].every(({ local }) => local);
  const checkAll = (timeoutMs: number): Probe => {
    const probe = (): Promise<string | undefined> => firstFailure(stores, timeoutMs);
    return isLocal ? probe : limited(probe, { everyMs: timeoutMs / 2, nowMs: () => performance.now() });
  };
  health.add({ name: 'etcd', check: checkAll(etcd.etcdHealthcheckTimeoutMs) });
  health.addReadyz({ name: 'etcd-readiness', check: checkAll(etcd.etcdReadycheckTimeoutMs) });
}

type Probe = () => MaybePromise<string | undefined>;

/**
 * The probe, at most once in `everyMs`; between, its last outcome, also while the next one is under way: a store that does
 * not answer holds up one probe of health, not all of them.
 */
export function limited(
  probe: Probe,
  { everyMs, nowMs }: { readonly everyMs: number; readonly nowMs: () => number },
): Probe {
  let nextMs = -Infinity;
  let last: { readonly failure: string | undefined } | undefined;
  let underWay: MaybePromise<string | undefined>;
  return () => {
    if (nowMs() < nextMs) return last === undefined ? underWay : last.failure;
    nextMs = nowMs() + everyMs;
    underWay = whenReady(probe(), (failure) => {
      last = { failure };
      return failure;
    });
    return underWay;
  };
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
