// Encryption at rest: from its flags to transformers, health checks, metrics and the reload of its configuration.
import crypto from 'node:crypto';
import os from 'node:os';
import { identityOf } from '../../bootstrap/identity-lease.js';
import { ConfigError } from '../../config/config-error.js';
import { type EncryptionLoadOptions, loadEncryption, readEncryptionFile } from '../../config/encryption/load.js';
import { type ReloadMetrics, reloadMetrics } from '../../config/reload-metrics.js';
import { reloadOnChange } from '../../config/reload.js';
import type { EncryptionSettings } from '../../encryption/configuration.js';
import { EncryptionAtRest } from '../../encryption/encryption-at-rest.js';
import { createEncryptionMetrics } from '../../encryption/encryption-metrics.js';
import { openProviders, type ProviderParts, type Providers } from '../../encryption/providers.js';
import { pooledRandom } from '../../encryption/random.js';
import { Rotation } from '../../encryption/rotation.js';
import type { ValueTransformer } from '../../encryption/transformer.js';
import type { KeyValueStore } from '../../kv/kv.js';
import { systemClock } from '../../lib/async/clock.js';
import type { ReloadRequests } from '../../lib/files/reload-requests.js';
import type { Logger } from '../../lib/telemetry/log.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import { pause } from '../../lib/async/pause.js';
import { aggregateText } from '../../machinery/field-error.js';
import type { GroupResource } from '../../machinery/status.js';
import type { Options } from '../../options/options.js';
import { GrpcConnection } from '../../outbound/grpc.js';
import type { ResourceStoreOptions } from '../../storage/store.js';
import { encryptionPaths } from '../paths/encryption-paths.js';
import type { Health, HealthCheck } from '../lifecycle/health.js';
import type { Lifecycle } from '../lifecycle/lifecycle.js';
import type { PathHandler } from '../paths/paths.js';
import type { PostStartHook, PostStartHooks } from '../lifecycle/post-start-hooks.js';

export interface EncryptionParts {
  readonly health: Health;
  readonly hooks: PostStartHooks;
  readonly lifecycle: Lifecycle;
  readonly metrics: MetricRegistry;
  readonly log: Logger;
}

/** The configuration of `--encryption-provider-config`, if there is one; throws a ConfigError. */
export function readEncryption(options: Options): { text: string; settings: EncryptionSettings } | undefined {
  const { encryptionProviderConfig: file } = options.etcd;
  if (file === '') return undefined;
  const text = readEncryptionFile(file);
  return { text, settings: loadEncryption(text, loadOptions(options)) };
}

export interface Encryption {
  /** For the store of a resource; undefined when its values are and stay in clear. */
  transformer(options: ResourceStoreOptions, kv: KeyValueStore): ValueTransformer | undefined;
  /** Where its keys are looked at and rotated. */
  readonly paths: readonly PathHandler[];
}

/** Undefined when nothing is to be encrypted. */
export async function buildEncryption(
  options: Options,
  { health, hooks, lifecycle, metrics, log }: EncryptionParts,
): Promise<Encryption | undefined> {
  const { encryptionProviderConfigAutomaticReload: reload } = options.etcd;
  const serverId = identityOf(os.hostname());
  // A server that encrypts nothing has these metrics, too.
  const counts = createEncryptionMetrics(metrics, serverId, Date.now);
  const read = readEncryption(options);
  if (read === undefined) return undefined;
  const { text, settings } = read;
  const reloadCounts = reloadMetrics(metrics, { topic: 'encryption', serverId, stability: 'ALPHA', nowMs: Date.now });
  const parts: ProviderParts = {
    connect: connectToSocket,
    clock: systemClock,
    random: pooledRandom(),
    newUid: () => crypto.randomUUID(),
    metrics: counts,
    log,
  };
  const encryption = new EncryptionAtRest(await keptAlive(openProviders(settings, parts)), reload);
  reloadCounts.inEffect(text);
  lifecycle.onDrained(() => encryption.providers.close());
  for (const check of healthChecks(encryption)) health.addExceptLivez(check);
  if (reload) {
    hooks.add(reloadHook({ options, text, encryption, parts, metrics: reloadCounts, reloads: lifecycle.reloads, log }));
  }
  const rotation = new Rotation(encryption, {
    clock: systemClock,
    signal: lifecycle.stopping,
    log,
  });
  return {
    transformer({ resource, prefix }, kv) {
      const transformer = encryption.transformerOf(resource);
      if (transformer !== undefined) rotation.add({ resource, prefix, kv, transformer, ...ttlOf(options, resource) });
      return transformer;
    },
    paths: encryptionPaths(rotation),
  };
}

/** Only events go by themselves. */
const ttlOf = ({ misc }: Options, { group, resource }: GroupResource): { ttlSeconds?: number } =>
  group === '' && resource === 'events' ? { ttlSeconds: misc.eventTtlMs / 1000 } : {};

const LONG_MS = 0x7fffffff;

/** Until the port is open nothing else keeps a process that waits for a KMS plugin from ending. */
function keptAlive<T>(work: Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, LONG_MS);
  return work.finally(() => clearInterval(timer));
}

const loadOptions = ({ etcd, featureGates }: Options): EncryptionLoadOptions => ({
  file: etcd.encryptionProviderConfig,
  reload: etcd.encryptionProviderConfigAutomaticReload,
  kmsV1: featureGates.enabled('KMSv1'),
});

/** A response of a KMS plugin is small; the limit is kube-apiserver's. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** A name that begins with @ is an abstract socket, which Linux writes with a zero. */
function connectToSocket(socket: string): Promise<GrpcConnection> {
  const unixPath = socket.startsWith('@') ? `\0${socket.slice(1)}` : socket;
  return GrpcConnection.open({ unixPath }, { maxMessageBytes: MAX_ANSWER_BYTES });
}

/**
 * One check for all where the configuration may change or has no KMS v1, else one for each service by its number:
 * probes are configured by these names.
 */
function healthChecks(encryption: EncryptionAtRest): HealthCheck[] {
  const { services } = encryption.providers;
  const v1 = services.some(({ settings }) => settings.version === 'v1');
  if (encryption.changes || (services.length > 0 && !v1)) {
    return [{ name: 'kms-providers', check: () => servicesMistake(encryption.providers) }];
  }
  return services.map((service, i) => ({ name: `kms-provider-${i}`, check: () => service.check() }));
}

/** What is wrong with any of the services, if anything. */
async function servicesMistake({ services }: Providers): Promise<string | undefined> {
  const errors: string[] = [];
  const results = await Promise.all(services.map((service) => service.check()));
  for (const [i, wrong] of results.entries()) if (wrong !== undefined) errors.push(`kms-provider-${i}: ${wrong}`);
  return errors.length === 0 ? undefined : aggregateText(errors);
}

interface ReloadParts {
  readonly options: Options;
  /** What the configuration in force was read from. */
  readonly text: string;
  readonly encryption: EncryptionAtRest;
  readonly parts: ProviderParts;
  readonly metrics: ReloadMetrics;
  readonly reloads: ReloadRequests;
  readonly log: Logger;
}

/** A good change takes effect; a bad one, or one whose KMS plugins are not well, leaves the old in force. */
function reloadHook({ options, text, encryption, parts, metrics, reloads, log }: ReloadParts): PostStartHook {
  const { encryptionProviderConfig: file } = options.etcd;
  return {
    name: 'start-encryption-provider-config-automatic-reload',
    run: (stopping) =>
      reloadOnChange<Providers>({
        what: 'encryption configuration',
        file,
        current: text,
        load: async (changed) => openHealthy(loadEncryption(changed, loadOptions(options)), parts, stopping),
        apply(providers) {
          const before = encryption.replace(providers);
          // Calls that began with the old one have their time.
          parts.clock.after(graceMs(before), () => before.close());
        },
        succeeded(changed) {
          metrics.succeeded(changed);
          log.v(2)?.info('Loaded a changed encryption configuration', { file });
        },
        failed: () => metrics.failed(),
        log,
        stopping,
        reloads,
        retryMs: RETRY_MS,
      }),
  };
}

const RETRY_MS = 10_000;
/** KMS plugins of a new configuration have so long to be well. */
const MIN_HEALTHY_MS = 10_000;
const HEALTH_POLL_MS = 100;

async function openHealthy(
  settings: EncryptionSettings,
  parts: ProviderParts,
  stopping: AbortSignal,
): Promise<Providers> {
  const providers = await openProviders(settings, parts);
  const endMs = parts.clock.now() + Math.max(MIN_HEALTHY_MS, graceMs(providers));
  for (;;) {
    const wrong = await servicesMistake(providers);
    if (wrong === undefined) return providers;
    if (parts.clock.now() >= endMs || stopping.aborted) {
      providers.close();
      throw new ConfigError(`the KMS plugins of the new configuration are not well: ${wrong}`);
    }
    await pause(HEALTH_POLL_MS, stopping);
  }
}

/** Twice as long as a check of all plugins, one after the other, may take. */
const graceMs = ({ services }: Providers): number =>
  2 * services.reduce((sum, { settings }) => sum + settings.timeoutMs * (settings.version === 'v1' ? 2 : 1), 0);
