// Defaults of an EncryptionConfiguration, and what it becomes once it is known to be valid.
import { parseGoUrl } from '../../lib/go/url.js';
import { parseDurationMs } from '../../machinery/time.js';
import type { EncryptionEntry, KmsSettings, ProviderSettings } from '../../encryption/configuration.js';
import type {
  EncryptionConfiguration,
  Key,
  KMSConfiguration,
  ProviderConfiguration,
} from '../../schema/generated/apiserverconfig.v1.js';
import { decodeSecret } from './secret.js';

const DEFAULT_TIMEOUT = '3s';
const DEFAULT_VERSION = 'v1';
/** KMS v1 only. */
const DEFAULT_CACHE_SIZE = 1000;

export function withDefaults(config: EncryptionConfiguration): EncryptionConfiguration {
  const resources = config.resources?.map((entry) => ({
    ...entry,
    providers: entry.providers?.map((provider) => ({
      ...provider,
      ...(provider.kms && { kms: kmsWithDefaults(provider.kms) }),
    })),
  }));
  return { ...config, resources } as EncryptionConfiguration;
}

function kmsWithDefaults(kms: KMSConfiguration): KMSConfiguration {
  const apiVersion = kms.apiVersion === '' ? DEFAULT_VERSION : kms.apiVersion;
  return {
    ...kms,
    apiVersion,
    timeout: kms.timeout ?? DEFAULT_TIMEOUT,
    ...(apiVersion === 'v1' && { cachesize: kms.cachesize ?? DEFAULT_CACHE_SIZE }),
  };
}

/** Of a configuration with its defaults and without mistakes. */
export const entriesOf = ({ resources }: EncryptionConfiguration): EncryptionEntry[] =>
  (resources ?? []).map((entry) => ({
    resources: entry.resources ?? [],
    providers: (entry.providers ?? []).map(providerOf),
  }));

function providerOf({ aesgcm, aescbc, secretbox, kms }: ProviderConfiguration): ProviderSettings {
  if (aesgcm) return { kind: 'aesgcm', keys: keysOf(aesgcm.keys) };
  if (aescbc) return { kind: 'aescbc', keys: keysOf(aescbc.keys) };
  if (secretbox) return { kind: 'secretbox', keys: keysOf(secretbox.keys) };
  if (kms) return kmsOf(kms);
  return { kind: 'identity' };
}

const keysOf = (keys: readonly Key[] | null): { name: string; secret: Buffer }[] =>
  (keys ?? []).map(({ name, secret }) => ({ name, secret: decodeSecret(secret) ?? Buffer.alloc(0) }));

function kmsOf({ apiVersion, name, endpoint, timeout, cachesize }: KMSConfiguration): KmsSettings {
  return {
    kind: 'kms',
    version: apiVersion === 'v1' ? 'v1' : 'v2',
    name,
    socket: socketOf(endpoint),
    timeoutMs: parseDurationMs(timeout ?? DEFAULT_TIMEOUT),
    cacheSize: cachesize ?? DEFAULT_CACHE_SIZE,
  };
}

/** `unix:///run/kms.sock` is a file, `unix:///@name` a name without one. */
function socketOf(endpoint: string): string {
  const url = parseGoUrl(endpoint);
  const path = 'error' in url ? '' : url.path;
  return path.startsWith('/@') ? path.slice(1) : path;
}
