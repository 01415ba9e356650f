// Encryption's counts under the names dashboards know.
import { type CounterSeries, exponentialBuckets, type MetricRegistry } from '../lib/telemetry/metrics.js';
import { keyHash } from './kms/key-hash.js';
import type { Direction, EncryptionMetrics } from './metrics.js';

/** Key ids come from the outside: only so many have series at a time. */
const MAX_KEY_SERIES = 100;

/** `serverId` distinguishes the servers of a cluster. */
export function createEncryptionMetrics(
  registry: MetricRegistry,
  serverId: string,
  now: () => number,
): EncryptionMetrics {
  return { ...transformations(registry), ...kmsPlugins(registry, keyHash(serverId), now) };
}

type Transformations = Pick<EncryptionMetrics, 'encrypted' | 'encryptionFailed' | 'opened' | 'decryptionFailed'>;

function transformations(registry: MetricRegistry): Transformations {
  const seconds = registry.histogram({
    name: 'apiserver_storage_transformation_duration_seconds',
    help: 'How long encrypting and decrypting a value took.',
    labels: ['transformation_type', 'transformer_prefix'],
    buckets: exponentialBuckets(5e-6, 2, 25),
    stability: 'ALPHA',
  });
  const operations = registry.counter({
    name: 'apiserver_storage_transformation_operations_total',
    help: 'Values encrypted or decrypted, by outcome.',
    labels: ['resource', 'transformation_type', 'transformer_prefix', 'status'],
    stability: 'ALPHA',
  });
  const done = (direction: Direction) => (resource: string, prefix: string, ms: number) => {
    operations.with(resource, direction, prefix, 'OK').inc();
    seconds.with(direction, prefix).observe(ms / 1000);
  };
  const failed = (direction: Direction) => (resource: string, prefix: string, status: string) =>
    operations.with(resource, direction, prefix, status).inc();
  return {
    encrypted: done('to_storage'),
    encryptionFailed: failed('to_storage'),
    opened: done('from_storage'),
    decryptionFailed: failed('from_storage'),
  };
}

type KmsPlugins = Omit<EncryptionMetrics, keyof Transformations>;

function kmsPlugins(registry: MetricRegistry, server: string, now: () => number): KmsPlugins {
  const { latency, used, usedAt, seenAt, invalid, seeds, misses, made, fill, arrivals } = kmsFamilies(registry);
  const nowSeconds = (): number => now() / 1000;
  const usedSeries = new KeySeries((labels) => ({
    count: used.with(...labels, server),
    at: usedAt.with(...labels, server),
  }));
  const seenSeries = new KeySeries((labels) => ({ count: undefined, at: seenAt.with(...labels, server) }));
  return {
    called: (provider, method, status, seconds) => latency.with(provider, method, status).observe(seconds),
    keyUsed(direction, provider, keyId) {
      const { count, at } = usedSeries.of(direction, provider, keyId, (labels) => {
        used.remove(...labels, server);
        usedAt.remove(...labels, server);
      });
      count?.inc();
      at.set(nowSeconds());
    },
    keySeen: (provider, keyId) =>
      seenSeries.of(undefined, provider, keyId, (labels) => seenAt.remove(...labels, server)).at.set(nowSeconds()),
    invalidKey: (provider, why) => invalid.with(provider, why).inc(),
    seedsKept: (provider, count) => seeds.with(provider).set(count),
    unwrapped: () => misses.with().inc(),
    keyMade: (seconds) => made.with().observe(seconds),
    dataKeysKept: (part) => fill.with().set(part),
    arrived: (direction, sinceLastSeconds) => arrivals.with(direction).observe(sinceLastSeconds),
  };
}

/** The metric families of KMS plugins; the types follow from the literal. */
function kmsFamilies(registry: MetricRegistry) {
  const envelope = 'apiserver_envelope_encryption';
  const latency = registry.histogram({
    name: `${envelope}_kms_operations_latency_seconds`,
    help: 'How long calls to KMS plugins took, by how they ended.',
    labels: ['provider_name', 'method_name', 'grpc_status_code'],
    buckets: exponentialBuckets(0.0001, 2, 20),
    stability: 'ALPHA',
  });
  const keyLabels = ['transformation_type', 'provider_name', 'key_id_hash', 'apiserver_id_hash'];
  const used = registry.counter({
    name: `${envelope}_key_id_hash_total`,
    help: 'How often a key of a KMS plugin was used.',
    labels: keyLabels,
    stability: 'ALPHA',
  });
  const usedAt = registry.gauge({
    name: `${envelope}_key_id_hash_last_timestamp_seconds`,
    across: 'max',
    help: 'When a key of a KMS plugin was last used.',
    labels: keyLabels,
    stability: 'ALPHA',
  });
  const seenAt = registry.gauge({
    name: `${envelope}_key_id_hash_status_last_timestamp_seconds`,
    across: 'max',
    help: 'When the status of a KMS plugin last named a key.',
    labels: ['provider_name', 'key_id_hash', 'apiserver_id_hash'],
    stability: 'ALPHA',
  });
  const invalid = registry.counter({
    name: `${envelope}_invalid_key_id_from_status_total`,
    help: 'Invalid key ids in the status of a KMS plugin.',
    labels: ['provider_name', 'error'],
    stability: 'ALPHA',
  });
  const seeds = registry.gauge({
    name: `${envelope}_dek_source_cache_size`,
    help: 'Unwrapped data keys and seeds in memory.',
    labels: ['provider_name'],
    stability: 'ALPHA',
  });
  const misses = registry.counter({
    name: 'apiserver_storage_envelope_transformation_cache_misses_total',
    help: 'Data keys that a KMS plugin had to unwrap.',
    stability: 'ALPHA',
  });
  const made = registry.histogram({
    name: 'apiserver_storage_data_key_generation_duration_seconds',
    help: 'How long making a data key took.',
    buckets: exponentialBuckets(5e-6, 2, 14),
    stability: 'ALPHA',
  });
  registry.counter({
    name: 'apiserver_storage_data_key_generation_failures_total',
    help: 'Data keys that could not be made; random bytes never fail here.',
    stability: 'ALPHA',
  });
  const fill = registry.gauge({
    name: `${envelope}_dek_cache_fill_percent`,
    across: 'max',
    help: 'How much of the cache of data keys is used (KMS v1).',
    stability: 'ALPHA',
  });
  const arrivals = registry.histogram({
    name: `${envelope}_dek_cache_inter_arrival_time_seconds`,
    help: 'Time between values encrypted or decrypted (KMS v1).',
    labels: ['transformation_type'],
    buckets: exponentialBuckets(60, 2, 10),
    stability: 'ALPHA',
  });
  return { latency, used, usedAt, seenAt, invalid, seeds, misses, made, fill, arrivals };
}

interface KeySample {
  readonly count: CounterSeries | undefined;
  readonly at: { set(value: number): void };
}

/** Series by key id; hashing the id for every value would cost more than decrypting it. */
class KeySeries {
  readonly #known = new Map<string, { readonly labels: readonly string[]; readonly sample: KeySample }>();

  constructor(readonly make: (labels: readonly string[]) => KeySample) {}

  of(
    direction: Direction | undefined,
    provider: string,
    keyId: string,
    drop: (labels: readonly string[]) => void,
  ): KeySample {
    const key = `${direction ?? ''}\0${provider}\0${keyId}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known.sample;
    if (this.#known.size >= MAX_KEY_SERIES) this.#dropOldest(drop);
    const labels = [...(direction === undefined ? [] : [direction]), provider, keyHash(keyId)];
    const sample = this.make(labels);
    this.#known.set(key, { labels, sample });
    return sample;
  }

  #dropOldest(drop: (labels: readonly string[]) => void): void {
    const [oldest] = this.#known;
    if (oldest === undefined) return;
    this.#known.delete(oldest[0]);
    drop(oldest[1].labels);
  }
}
