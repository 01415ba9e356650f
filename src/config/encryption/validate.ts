// What an EncryptionConfiguration must be, with its defaults filled in.
import { append } from '../../lib/values/append.js';
import { parseGoUrl } from '../../lib/go/url.js';
import { goQuote } from '../../lib/go/quote.js';
import { type FieldError, type FieldErrors, FieldPath, invalid, required } from '../../machinery/field-error.js';
import { canonicalDuration, parseDuration } from '../../machinery/time.js';
import { parseResource } from '../../encryption/resource-rules.js';
import type {
  EncryptionConfiguration,
  Key,
  KMSConfiguration,
  ProviderConfiguration,
} from '../../schema/generated/apiserverconfig.v1.js';
import { decodeSecret } from './secret.js';

const AES_KEY_BYTES = [16, 24, 32];
const SECRETBOX_KEY_BYTES = [32];

/** `reload`: names of KMS plugins must then be unique in any version. */
export function validateEncryptionConfiguration(config: EncryptionConfiguration, reload: boolean): FieldErrors {
  const root = FieldPath.of('resources');
  const entries = config.resources ?? [];
  if (entries.length === 0) return [oneRequired(root)];
  const errors: FieldErrors = [];
  const serviceNames = new Set<string>();
  for (const [i, entry] of entries.entries()) {
    const resourcesPath = root.index(i).child('resources');
    const resources = entry.resources ?? [];
    if (resources.length === 0) errors.push(oneRequired(resourcesPath));
    append(errors, overlapErrors(resources, resourcesPath));
    for (const [j, resource] of resources.entries()) {
      const why = resourceMistake(resource);
      if (why !== undefined) errors.push(invalid(resourcesPath.index(j), resource, why));
    }
    const providersPath = root.index(i).child('providers');
    const providers = entry.providers ?? [];
    if (providers.length === 0) errors.push(oneRequired(providersPath));
    for (const [j, provider] of providers.entries()) {
      append(errors, providerErrors(provider, providersPath.index(j), serviceNames, reload));
    }
  }
  return errors;
}

const oneRequired = (path: FieldPath): FieldError => required(path, `at least one ${path.toString()} is required`);

const ANY = '*';
const DUPLICATE = 'the same resource cannot be specified multiple times';
const OVERLAP =
  "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked";

function overlapErrors(resources: readonly string[], path: FieldPath): FieldErrors {
  const parsed = resources.map(parseResource);
  const names = new Set<string>();
  const groups = new Map<string, { count: number; any: boolean }>();
  let duplicate = false;
  let allOfAll = false;
  for (const { group, resource } of parsed) {
    const name = `${resource}.${group}`;
    if (names.has(name)) duplicate = true;
    names.add(name);
    const known = groups.get(group) ?? { count: 0, any: false };
    groups.set(group, { count: known.count + 1, any: known.any || resource === ANY });
    if (group === ANY && resource === ANY) allOfAll = true;
  }
  const errors: FieldErrors = [];
  if (duplicate) errors.push(invalid(path, resources, DUPLICATE));
  const inGroup = [...groups.values()].some(({ count, any }) => any && count > 1);
  if (parsed.length > 1 && (allOfAll || inGroup)) errors.push(invalid(path, resources, OVERLAP));
  return errors;
}

/** Kept by the server for itself. */
const NOT_SERVED = ['apiserveripinfo', 'serviceipallocations', 'servicenodeportallocations'];

function resourceMistake(text: string): string | undefined {
  if (text.toLowerCase() !== text) return 'resource name should not contain capital letters';
  if (text === ANY) {
    return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources";
  }
  if (NOT_SERVED.includes(text)) return 'resources which do not have REST API/s cannot be encrypted';
  const { group, resource } = parseResource(text);
  if (group === 'events.k8s.io') {
    return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file";
  }
  if (group === 'extensions') return "'extensions' group has been removed and cannot be used for encryption";
  if (group === ANY && resource !== ANY) return 'encrypting the same resource across groups is not supported';
  return undefined;
}

function providerErrors(
  provider: ProviderConfiguration,
  path: FieldPath,
  serviceNames: Set<string>,
  reload: boolean,
): FieldErrors {
  const { kms, aesgcm, aescbc, secretbox, identity } = provider;
  const errors: FieldErrors = [];
  const found = [kms, aesgcm, aescbc, secretbox, identity].filter((kind) => kind !== undefined && kind !== null).length;
  if (found === 0) {
    const why = 'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity';
    errors.push(invalid(path, internalForm(provider), why));
  }
  if (found > 1) {
    const why = 'more than one provider specified in a single element, should split into different list elements';
    errors.push(invalid(path, internalForm(provider), why));
  }
  if (kms) {
    append(errors, kmsErrors(kms, path.child('kms'), serviceNames, reload));
    serviceNames.add(kms.name);
  } else if (aesgcm) append(errors, keysErrors(aesgcm.keys, path.child('aesgcm', 'keys'), AES_KEY_BYTES));
  else if (aescbc) append(errors, keysErrors(aescbc.keys, path.child('aescbc', 'keys'), AES_KEY_BYTES));
  else if (secretbox) append(errors, keysErrors(secretbox.keys, path.child('secretbox', 'keys'), SECRETBOX_KEY_BYTES));
  return errors;
}

/** As kube-apiserver shows its internal form of a provider, but never with a secret in it. */
function internalForm({ aesgcm, aescbc, secretbox, identity, kms }: ProviderConfiguration): unknown {
  const keys = (from: { keys: Key[] | null } | null | undefined): unknown =>
    from ? { Keys: from.keys?.map(({ name, secret }) => ({ Name: name, Secret: hidden(secret) })) ?? null } : null;
  return {
    AESGCM: keys(aesgcm),
    AESCBC: keys(aescbc),
    Secretbox: keys(secretbox),
    Identity: identity ? {} : null,
    KMS: kms
      ? {
          APIVersion: kms.apiVersion,
          Name: kms.name,
          CacheSize: kms.cachesize ?? null,
          Endpoint: kms.endpoint,
          Timeout: kms.timeout ?? null,
        }
      : null,
  };
}

const REDACTED = 'REDACTED';
const hidden = (secret: string): string => (secret === '' ? '' : REDACTED);

function keysErrors(keys: readonly Key[] | null, path: FieldPath, sizes: readonly number[]): FieldErrors {
  if (keys === null || keys.length === 0) return [required(path, 'at least one keys is required')];
  return keys.flatMap((key, i) => keyErrors(key, path.index(i), sizes));
}

function keyErrors({ name, secret }: Key, path: FieldPath, sizes: readonly number[]): FieldErrors {
  const errors: FieldErrors = [];
  if (name === '') errors.push(required(path.child('name'), 'name is a mandatory field for a key'));
  const at = path.child('secret');
  if (secret === '') return [...errors, required(at, 'secret is a mandatory field for a key')];
  const bytes = decodeSecret(secret);
  if (bytes === undefined) return [...errors, invalid(at, REDACTED, 'secrets must be base64 encoded')];
  if (!sizes.includes(bytes.length)) {
    const why = `secret is not of the expected length, got ${bytes.length}, expected one of [${sizes.join(' ')}]`;
    errors.push(invalid(at, REDACTED, why));
  }
  return errors;
}

function kmsErrors(
  { apiVersion, name, timeout, endpoint, cachesize }: KMSConfiguration,
  path: FieldPath,
  serviceNames: ReadonlySet<string>,
  reload: boolean,
): FieldErrors {
  const errors: FieldErrors = [];
  const isV1 = apiVersion === 'v1';
  if (name === '') errors.push(required(path.child('name'), 'name is a mandatory field for a provider'));
  if (!isV1 && name.includes(':')) {
    errors.push(invalid(path.child('name'), name, `invalid KMS provider name ${name}, must not contain ':'`));
  }
  if ((reload || !isV1) && serviceNames.has(name)) {
    errors.push(invalid(path.child('name'), name, `duplicate KMS provider name ${name}, names must be unique`));
  }
  if (timeout !== undefined && timeout !== null && parseDuration(timeout) <= 0n) {
    errors.push(invalid(path.child('timeout'), canonicalDuration(timeout), 'timeout should be a positive value'));
  }
  const wrongEndpoint = endpointMistake(endpoint);
  if (wrongEndpoint !== undefined) errors.push(invalid(path.child('endpoint'), endpoint, wrongEndpoint));
  if (!isV1 && cachesize !== undefined && cachesize !== null) {
    errors.push(invalid(path.child('cachesize'), cachesize, 'cachesize is not supported in v2'));
  }
  if (isV1 && cachesize === 0) {
    const why = 'cachesize should be a positive value, or negative to disable';
    errors.push(invalid(path.child('cachesize'), cachesize, why));
  }
  if (!isV1 && apiVersion !== 'v2') {
    const why = 'unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported';
    errors.push(invalid(path.child('apiVersion'), apiVersion, why));
  }
  return errors;
}

function endpointMistake(endpoint: string): string | undefined {
  if (endpoint === '') return 'endpoint is a mandatory field for a kms';
  const url = parseGoUrl(endpoint);
  if ('error' in url) return `invalid endpoint for kms provider, error: ${url.error}`;
  if (url.scheme === 'unix') return undefined;
  return `unsupported scheme ${goQuote(url.scheme)} for KMS provider, only unix is supported`;
}
