// Opens one resource's store on a key-value store.
import type { Logger } from '../lib/telemetry/log.js';
import type { ValueTransformer } from '../encryption/transformer.js';
import { type Clock, systemClock } from '../lib/async/clock.js';
import type { KeyValueStore } from '../kv/kv.js';
import { PROTOBUF_MEDIA_TYPE } from '../machinery/names.js';
import { Cache } from './cache.js';
import { CachedStore } from './cached.js';
import { DirectStore } from './direct.js';
import type { EncodedBytes } from './encoded-bytes.js';
import { HistoryBudget } from './history-budget.js';
import { HistoryLoader } from './load-history.js';
import type { StorageMetrics } from './metrics.js';
import { Recent } from './recent.js';
import type { ManagedResourceStore, ResourceStoreOptions } from './store.js';
import type { StoredBytes } from './entry-source.js';
import { type ValueForm, Values } from './values.js';

export interface ResourceStoreSetup {
  readonly kv: KeyValueStore;
  readonly options: ResourceStoreOptions;
  readonly clock?: Clock;
  readonly log?: Logger;
  /** False reads straight from the store (`--watch-cache=false`, `--watch-cache-sizes=pods#0`). */
  readonly cache?: boolean;
  /** Which bytes the store keeps; by default the served JSON in a local store, protobuf elsewhere. */
  readonly form?: ValueForm;
  /** Encryption at rest. */
  readonly transformer?: ValueTransformer | undefined;
  readonly metrics?: StorageMetrics;
  /** Shared by all resources, so that together they keep so much of what they could read or parse again. */
  readonly recent?: Recent;
  /** Shared by all resources: objects in other forms than the stored one. */
  readonly encoded?: EncodedBytes;
  /** Shared by all resources, so that together they load so much of the store's history. */
  readonly historyBudget?: HistoryBudget;
}

export function createResourceStore(setup: ResourceStoreSetup): ManagedResourceStore {
  const { kv, options, clock = systemClock, log, transformer, metrics, recent = new Recent() } = setup;
  const values = new Values(options, {
    form: setup.form ?? (kv.local ? { kind: 'json' } : { kind: 'storage', mediaType: PROTOBUF_MEDIA_TYPE }),
    transformer,
    stored: canAnswerAtOnce(kv) ? kv : undefined,
    olderRevision: kv.olderRevision,
    encoded: setup.encoded,
    recent,
    elsewhere: !kv.local,
  });
  const loader = new HistoryLoader(kv, values, clock, setup.historyBudget ?? new HistoryBudget());
  const direct = new DirectStore({ kv, values, loader, clock, metrics });
  if (setup.cache === false) return direct;
  return new CachedStore(new Cache({ kv, values, clock, log, metrics }), direct, loader);
}

const canAnswerAtOnce = (kv: KeyValueStore): kv is KeyValueStore & StoredBytes => kv.currentValue !== undefined;
