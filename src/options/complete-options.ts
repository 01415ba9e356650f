// Fills in what follows from other flags, the machine and the environment. Stops at the first thing that cannot be.
import { append } from '../lib/values/append.js';
import os from 'node:os';
import path from 'node:path';
import { DEFAULT_SERVICE_ACCOUNT_ISSUER, GIT_VERSION, platformWord } from '../machinery/names.js';
import type { Emulation } from './emulation.js';
import { CONTROLLERS, NAMED_ONLY, type Options } from './options.js';
import { optionWarnings } from './option-warnings.js';
import { normalRuntimeConfig } from './runtime-config.js';
import { readServiceRanges } from './service-ranges.js';
import { privateKeyError } from './key-files.js';
import type { Flags } from './topics.js';
import { watchCacheSizesError } from './watch-cache-sizes.js';

export type Environment = Readonly<Record<string, string | undefined>>;
export type Completed =
  | { readonly ok: true; readonly options: Options }
  | { readonly ok: false; readonly error: string };

export interface CompletionInput {
  readonly values: Flags;
  readonly setFlags: ReadonlySet<string>;
  readonly emulation: Emulation;
  readonly env: Environment;
}

export function completeOptions({ values, setFlags, emulation, env }: CompletionInput): Completed {
  const { generic, etcd, secureServing, authentication, authorization, misc } = values;
  const warnings: string[] = [...emulation.warnings];

  const ranges = readServiceRanges(misc.serviceClusterIpRange);
  if (!ranges.ok) return ranges;
  if (ranges.warning !== undefined) warnings.push(ranges.warning);

  if (generic.advertiseAddress === '' || isUnspecified(generic.advertiseAddress)) {
    generic.advertiseAddress = reachableAddress(secureServing.bindAddress);
  }
  if (generic.externalHostname === '') generic.externalHostname = generic.advertiseAddress;
  etcd.storageBackend = platformWord(etcd.storageBackend);
  if (setFlags.has('audit-webhook-batch-initial-backoff') && !setFlags.has('audit-webhook-initial-backoff')) {
    values.audit.auditWebhookInitialBackoffMs = values.audit.auditWebhookBatchInitialBackoffMs;
  }

  if (authorization.authorizationConfig === '' && authorization.authorizationMode.length === 0) {
    authorization.authorizationMode = ['AlwaysAllow'];
  }
  if (authentication.anonymousAuth && authorization.authorizationMode.includes('AlwaysAllow')) {
    authentication.anonymousAuth = false;
    warnings.push(
      'AnonymousAuth is not allowed with the AlwaysAllow authorizer. Resetting AnonymousAuth to false. You should use a different authorizer',
    );
  }

  const embeddedStore = etcd.etcdServers.length === 0;
  const serviceAccountKeys = embeddedStore && SERVICE_ACCOUNT_FLAGS.every((flag) => !setFlags.has(flag));
  if (serviceAccountKeys) authentication.serviceAccountIssuer = [DEFAULT_SERVICE_ACCOUNT_ISSUER];
  if (authentication.apiAudiences.length === 0) authentication.apiAudiences = [...authentication.serviceAccountIssuer];
  const serviceAccountError = serviceAccountMistake(values);
  if (serviceAccountError !== undefined) return { ok: false, error: serviceAccountError };
  append(warnings, optionWarnings(values));

  values.apiEnablement.runtimeConfig = normalRuntimeConfig(values.apiEnablement.runtimeConfig);
  if (etcd.watchCache) {
    const error = watchCacheSizesError(etcd.watchCacheSizes);
    if (error !== undefined) return { ok: false, error };
  }
  const requested = values.binnacle.controllers;
  const options: Options = {
    ...values,
    setFlags,
    featureGates: emulation.featureGates,
    emulatedVersion: emulation.version,
    minCompatibleVersion: emulation.minCompatible,
    emulatedApis: {
      version: emulation.version,
      forwardCompatible: generic.emulationForwardCompatible,
      namedForwardCompatible: generic.runtimeConfigEmulationForwardCompatible,
    },
    gitVersion: values.global.version.startsWith('v') ? values.global.version : GIT_VERSION,
    serviceRanges: ranges.ranges,
    embeddedStore,
    dataDir: path.resolve(values.binnacle.dataDir === '' ? defaultDataDir(env) : values.binnacle.dataDir),
    generate: {
      servingCertificate:
        embeddedStore &&
        !setFlags.has('cert-dir') &&
        secureServing.tlsCertFile === '' &&
        secureServing.tlsPrivateKeyFile === '',
      clientCa: embeddedStore && authentication.clientCaFile === '',
      serviceAccountKeys,
    },
    controllers: CONTROLLERS.filter(
      (name) => requested.includes(name) || (requested.includes('*') && !NAMED_ONLY.has(name)),
    ),
    workers: values.binnacle.workers === 'auto' ? os.availableParallelism() : Number(values.binnacle.workers),
    warnings,
  };
  return { ok: true, options };
}

/** Giving one of these means to bring one's own service-account keys. */
const SERVICE_ACCOUNT_FLAGS = [
  'service-account-issuer',
  'service-account-key-file',
  'service-account-signing-key-file',
  'service-account-signing-endpoint',
];
const HOUR_MS = 3_600_000;
const MAX_TOKEN_LIFE_MS = 2 ** 32 * 1000;

function serviceAccountMistake({ authentication, misc }: Flags): string | undefined {
  const { serviceAccountMaxTokenExpirationMs: maxMs, serviceAccountIssuer } = authentication;
  if (maxMs !== 0 && (maxMs < HOUR_MS || maxMs > MAX_TOKEN_LIFE_MS)) {
    return 'the service-account-max-token-expiration must be between 1 hour and 2^32 seconds';
  }
  const { serviceAccountSigningKeyFile: keyFile, serviceAccountSigningEndpoint: endpoint } = misc;
  if ((serviceAccountIssuer[0] ?? '') === '' || keyFile === '') return undefined;
  if (endpoint !== '') {
    return 'service-account-signing-key-file and service-account-signing-endpoint are mutually exclusive and cannot be set at the same time';
  }
  const error = privateKeyError(keyFile);
  return error === undefined ? undefined : `failed to parse service-account-issuer-key-file: ${error}`;
}

export function defaultDataDir(env: Environment): string {
  const state = env['XDG_STATE_HOME'];
  const home = env['HOME'] || os.homedir();
  // The base-directory rules say to ignore a relative path here.
  const base = state !== undefined && path.isAbsolute(state) ? state : path.join(home, '.local', 'state');
  return path.join(base, 'binnacle');
}

const isUnspecified = (address: string): boolean => /^[0:.]*$/.test(address);
const isLoopback = (address: string): boolean => address === '::1' || address.startsWith('127.');

/** The bound address where others can use it, or the first of the machine's own; loopback on a machine without any. */
function reachableAddress(bound: string): string {
  if (bound !== '' && !isUnspecified(bound) && !isLoopback(bound)) return bound;
  const family = bound.includes(':') ? 'IPv6' : 'IPv4';
  const candidates = Object.values(os.networkInterfaces())
    .flat()
    .filter(
      (one) =>
        one !== undefined && !one.internal && !one.address.startsWith('fe80:') && !one.address.startsWith('169.254.'),
    );
  const chosen = candidates.find((one) => one?.family === family) ?? candidates[0];
  return chosen?.address ?? (family === 'IPv6' ? '::1' : '127.0.0.1');
}
