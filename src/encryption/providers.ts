// From a checked configuration to what encrypts and opens, with the KMS plugins it needs.
import type { Logger } from '../lib/telemetry/log.js';
import type { Clock } from '../lib/async/clock.js';
import type { GroupResource } from '../machinery/status.js';
import type { GrpcCaller } from '../outbound/lazy-grpc.js';
import { aesCbc } from './aes-cbc.js';
import { aesGcm } from './aes-gcm.js';
import type { EncryptionSettings, KeySettings, KmsSettings, ProviderSettings } from './configuration.js';
import { identity } from './identity.js';
import { KmsPluginClient } from './kms/kms-plugin-client.js';
import { kmsPluginV1 } from './kms/kms-plugin-v1.js';
import { kmsPluginV2 } from './kms/kms-plugin-v2.js';
import { pingedService, polledService, type WatchedService } from './kms/plugin-health.js';
import { EncrypterV1 } from './kms/encrypter-v1.js';
import { EncrypterV2 } from './kms/encrypter-v2.js';
import { WriteKeySource } from './kms/write-key.js';
import type { EncryptionMetrics } from './metrics.js';
import { type PrefixedEncrypter, PrefixedEncrypters } from './prefixed.js';
import type { RandomBytes } from './random.js';
import { ResourceRules } from './resource-rules.js';
import { secretbox } from './secretbox.js';
import type { Encrypter } from './transformer.js';

export interface ProviderParts {
  readonly connect: (socket: string) => Promise<GrpcCaller>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly newUid: () => string;
  readonly metrics: EncryptionMetrics;
  readonly log: Logger;
}

/** A configuration at work. */
export interface Providers {
  readonly settings: EncryptionSettings;
  /** Undefined for a resource that the configuration leaves alone. */
  encrypterOf(resource: GroupResource): PrefixedEncrypters | undefined;
  /** In the order of the file. */
  readonly services: readonly WatchedService[];
  /** Ends connections and polls. */
  close(): void;
}

export async function openProviders(settings: EncryptionSettings, parts: ProviderParts): Promise<Providers> {
  const rules = new ResourceRules<PrefixedEncrypter>();
  const services: WatchedService[] = [];
  for (const { resources, providers } of settings.entries) {
    const encrypters: PrefixedEncrypter[] = [];
    for (const provider of providers) {
      const opened = await openProvider(provider, parts);
      encrypters.push(opened.encrypter);
      if (opened.service !== undefined) services.push(opened.service);
    }
    rules.add(resources, encrypters);
  }
  const known = new Map<readonly PrefixedEncrypter[], PrefixedEncrypters>();
  return {
    settings,
    services,
    encrypterOf(resource) {
      const encrypters = rules.find(resource);
      if (encrypters === undefined) return undefined;
      const encrypter =
        known.get(encrypters) ?? new PrefixedEncrypters(encrypters, 'no matching prefix found', parts.metrics);
      known.set(encrypters, encrypter);
      return encrypter;
    },
    close() {
      for (const service of services) service.close();
    },
  };
}

interface OpenedProvider {
  readonly encrypter: PrefixedEncrypter;
  readonly service?: WatchedService;
}

async function openProvider(provider: ProviderSettings, parts: ProviderParts): Promise<OpenedProvider> {
  switch (provider.kind) {
    case 'identity':
      return { encrypter: { prefix: '', encrypter: identity } };
    case 'aesgcm':
    case 'aescbc':
    case 'secretbox':
      return keyed(provider.kind, provider.keys, parts);
    case 'kms':
      return provider.version === 'v1' ? openV1(provider, parts) : openV2(provider, parts);
  }
}

type MakeEncrypter = (secret: Buffer, random: ProviderParts['random']) => Encrypter | Promise<Encrypter>;

/** Providers with keys of their own; `name` as errors have it. */
const CIPHERS: Readonly<Record<'aesgcm' | 'aescbc' | 'secretbox', { readonly name: string; make: MakeEncrypter }>> = {
  aesgcm: { name: 'AES', make: aesGcm },
  aescbc: { name: 'AES', make: aesCbc },
  secretbox: { name: 'Secretbox', make: secretbox },
};

async function keyed(
  kind: keyof typeof CIPHERS,
  keys: readonly KeySettings[],
  { random, metrics }: ProviderParts,
): Promise<OpenedProvider> {
  const { name, make } = CIPHERS[kind];
  const encrypters: PrefixedEncrypter[] = [];
  for (const key of keys) encrypters.push({ prefix: `${key.name}:`, encrypter: await make(key.secret, random) });
  const unknown = `no matching key was found for the provided ${name} transformer`;
  const encrypter = new PrefixedEncrypters(encrypters, unknown, metrics);
  return { encrypter: { prefix: `k8s:enc:${kind}:v1:`, encrypter } };
}

function openV1(settings: KmsSettings, parts: ProviderParts): OpenedProvider {
  const { name, cacheSize } = settings;
  const { clock, random, metrics } = parts;
  const client = clientOf(settings, parts);
  const service = kmsPluginV1(client);
  return {
    encrypter: {
      prefix: `k8s:enc:kms:v1:${name}:`,
      encrypter: new EncrypterV1({ service, cacheSize, random, metrics }),
    },
    service: pingedService({ settings, service, clock, close: () => client.close() }),
  };
}

/** Calls the plugin once before anything is encrypted; one that is not there is found later. */
async function openV2(settings: KmsSettings, parts: ProviderParts): Promise<OpenedProvider> {
  const { name } = settings;
  const { clock, metrics, log } = parts;
  const client = clientOf(settings, parts, (method, status, seconds) => metrics.called(name, method, status, seconds));
  const service = kmsPluginV2(client);
  const writeKey = new WriteKeySource({ ...parts, name, service });
  const watched = polledService({ settings, writeKey, clock, log, close: () => client.close() });
  await watched.begin();
  return {
    encrypter: { prefix: `k8s:enc:kms:v2:${name}:`, encrypter: new EncrypterV2({ ...parts, name, service, writeKey }) },
    service: watched,
  };
}

function clientOf(
  { socket, timeoutMs }: KmsSettings,
  { connect, clock }: ProviderParts,
  observe?: (method: string, status: string, seconds: number) => void,
): KmsPluginClient {
  return new KmsPluginClient({
    connect: () => connect(socket),
    timeoutMs,
    clock,
    ...(observe !== undefined && { observe }),
  });
}
