// From a checked configuration to what seals and opens, with the key services it needs.
import type { Clock } from '../lib/clock.js';
import type { GroupResource } from '../machinery/status.js';
import type { GrpcCaller } from '../outbound/waiting-grpc.js';
import { aesCbc } from './aes-cbc.js';
import { aesGcm } from './aes-gcm.js';
import type { EncryptionSettings, KeySettings, KmsSettings, ProviderSettings } from './configuration.js';
import { identity } from './identity.js';
import { KeyServiceClient } from './kms/key-service-client.js';
import { keyServiceV1 } from './kms/key-service-v1.js';
import { keyServiceV2 } from './kms/key-service-v2.js';
import { pingedService, polledService, type WatchedService } from './kms/service-health.js';
import { SealerV1 } from './kms/sealer-v1.js';
import { SealerV2 } from './kms/sealer-v2.js';
import { WriteKeySource } from './kms/write-key.js';
import type { EncryptionMetrics } from './metrics.js';
import { type PrefixedSealer, PrefixedSealers } from './prefixed.js';
import type { RandomBytes } from './random.js';
import { ResourceRules } from './resource-rules.js';
import { secretbox } from './secretbox.js';
import type { Sealer } from './transformer.js';

export interface ProviderParts {
  readonly connect: (socket: string) => Promise<GrpcCaller>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly newUid: () => string;
  readonly metrics: EncryptionMetrics;
  readonly log: (message: string) => void;
}

/** A configuration at work. */
export interface Providers {
  readonly settings: EncryptionSettings;
  /** Undefined for a resource that the configuration leaves alone. */
  sealerOf(resource: GroupResource): PrefixedSealers | undefined;
  /** In the order of the file. */
  readonly services: readonly WatchedService[];
  /** Ends connections and polls. */
  close(): void;
}

export async function openProviders(settings: EncryptionSettings, parts: ProviderParts): Promise<Providers> {
  const rules = new ResourceRules<PrefixedSealer>();
  const services: WatchedService[] = [];
  for (const { resources, providers } of settings.entries) {
    const sealers: PrefixedSealer[] = [];
    for (const provider of providers) {
      const opened = await openProvider(provider, parts);
      sealers.push(opened.sealer);
      if (opened.service !== undefined) services.push(opened.service);
    }
    rules.add(resources, sealers);
  }
  const known = new Map<readonly PrefixedSealer[], PrefixedSealers>();
  return {
    settings,
    services,
    sealerOf(resource) {
      const sealers = rules.find(resource);
      if (sealers === undefined) return undefined;
      const sealer = known.get(sealers) ?? new PrefixedSealers(sealers, 'no matching prefix found', parts.metrics);
      known.set(sealers, sealer);
      return sealer;
    },
    close() {
      for (const service of services) service.close();
    },
  };
}

interface OpenedProvider {
  readonly sealer: PrefixedSealer;
  readonly service?: WatchedService;
}

async function openProvider(provider: ProviderSettings, parts: ProviderParts): Promise<OpenedProvider> {
  const { random } = parts;
  switch (provider.kind) {
    case 'identity':
      return { sealer: { prefix: '', sealer: identity } };
    case 'aesgcm':
      return keyed(provider.kind, 'AES', provider.keys, (secret) => aesGcm(secret, random), parts);
    case 'aescbc':
      return keyed(provider.kind, 'AES', provider.keys, (secret) => aesCbc(secret, random), parts);
    case 'secretbox':
      return keyed(provider.kind, 'Secretbox', provider.keys, (secret) => secretbox(secret, random), parts);
    case 'kms':
      return provider.version === 'v1' ? openV1(provider, parts) : openV2(provider, parts);
  }
}

async function keyed(
  kind: string,
  name: string,
  keys: readonly KeySettings[],
  sealerOf: (secret: Buffer) => Sealer | Promise<Sealer>,
  { metrics }: ProviderParts,
): Promise<OpenedProvider> {
  const sealers: PrefixedSealer[] = [];
  for (const key of keys) sealers.push({ prefix: `${key.name}:`, sealer: await sealerOf(key.secret) });
  const unknown = `no matching key was found for the provided ${name} transformer`;
  const sealer = new PrefixedSealers(sealers, unknown, metrics);
  return { sealer: { prefix: `k8s:enc:${kind}:v1:`, sealer } };
}

function openV1(settings: KmsSettings, parts: ProviderParts): OpenedProvider {
  const { name, cacheSize } = settings;
  const { clock, random, metrics } = parts;
  const client = clientOf(settings, parts);
  const service = keyServiceV1(client);
  return {
    sealer: { prefix: `k8s:enc:kms:v1:${name}:`, sealer: new SealerV1({ service, cacheSize, random, metrics }) },
    service: pingedService({ settings, service, clock, close: () => client.close() }),
  };
}

/** The service is asked once before anything is sealed; one that is not there is found later. */
async function openV2(settings: KmsSettings, parts: ProviderParts): Promise<OpenedProvider> {
  const { name } = settings;
  const { clock, metrics, log } = parts;
  const client = clientOf(settings, parts, (method, status, seconds) => metrics.called(name, method, status, seconds));
  const service = keyServiceV2(client);
  const writeKey = new WriteKeySource({ ...parts, name, service });
  const watched = polledService({ settings, writeKey, clock, log, close: () => client.close() });
  await watched.begin();
  return {
    sealer: { prefix: `k8s:enc:kms:v2:${name}:`, sealer: new SealerV2({ ...parts, name, service, writeKey }) },
    service: watched,
  };
}

function clientOf(
  { socket, timeoutMs }: KmsSettings,
  { connect, clock }: ProviderParts,
  observe?: (method: string, status: string, seconds: number) => void,
): KeyServiceClient {
  return new KeyServiceClient({
    connect: () => connect(socket),
    timeoutMs,
    clock,
    ...(observe !== undefined && { observe }),
  });
}
