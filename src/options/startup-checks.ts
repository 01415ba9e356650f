// What options that are valid among themselves may still meet: files that are not there or hold something else. The
// rows stand in the order in which the parts of a server are built, and the first mistake is the one that is told.
import fs from 'node:fs';
import { CsvError, parseCsv } from '../lib/csv.js';
import { goFileError, readTextFile } from '../lib/go-file-error.js';
import { goQuote } from '../lib/go-quote.js';
import { CIPHER_SUITES, TLS_VERSIONS } from './cipher-suites.js';
import { caBundleError, publicKeysError, servingPairError } from './key-files.js';
import type { Options } from './options.js';
import { runtimeConfigTooNewError, runtimeConfigValueError } from './runtime-config.js';

type Check = (options: Options) => string | undefined;

/** Readers of the structured configuration files; each returns what is wrong with its file, in full words. */
export type StartupHooks = Partial<
  Record<
    | 'egressSelector'
    | 'tracing'
    | 'encryption'
    | 'authentication'
    | 'jwtAuthenticators'
    | 'tokenWebhook'
    | 'authorization'
    | 'auditPolicy'
    | 'admission',
    Check
  >
>;

export function startupError(options: Options, hooks: StartupHooks = {}): string | undefined {
  const checks: readonly (Check | undefined)[] = [
    servingError,
    inflightError,
    ({ apiEnablement }) => runtimeConfigValueError(apiEnablement.runtimeConfig),
    egressFileError,
    hooks.egressSelector,
    tracingFileError,
    hooks.tracing,
    hooks.encryption,
    clientCaError,
    hooks.authentication,
    requestHeaderCaError,
    serviceAccountKeysError,
    tokenFileError,
    hooks.jwtAuthenticators,
    tokenWebhookError,
    hooks.tokenWebhook,
    authorizationWebhookError,
    hooks.authorization,
    hooks.auditPolicy,
    hooks.admission,
    peerProxyError,
    reconcilerError,
    tooNewApisError,
  ];
  for (const check of checks) {
    const error = check?.(options);
    if (error !== undefined) return error;
  }
  return undefined;
}

function servingError({ secureServing }: Options): string | undefined {
  const { tlsCertFile, tlsPrivateKeyFile, tlsCipherSuites, tlsMinVersion, tlsSniCertKey } = secureServing;
  if (tlsCertFile !== '' || tlsPrivateKeyFile !== '') {
    const error = servingPairError('serving-cert', tlsCertFile, tlsPrivateKeyFile);
    if (error !== undefined) return error;
  }
  const suite = tlsCipherSuites.find((name) => !Object.hasOwn(CIPHER_SUITES, name));
  if (suite !== undefined) return `Cipher suite ${suite} not supported or doesn't exist`;
  if (tlsMinVersion !== '' && !Object.hasOwn(TLS_VERSIONS, tlsMinVersion)) {
    return `unknown tls version ${goQuote(tlsMinVersion)}`;
  }
  for (const { certFile, keyFile } of tlsSniCertKey) {
    const error = servingPairError('sni-serving-cert', certFile, keyFile);
    if (error !== undefined) return `failed to load SNI cert and key: ${error}`;
  }
  return undefined;
}

function inflightError({ features, generic }: Options): string | undefined {
  const { maxRequestsInflight: reads, maxMutatingRequestsInflight: writes } = generic;
  if (!features.enablePriorityAndFairness || reads + writes > 0) return undefined;
  return `invalid configuration: MaxRequestsInFlight=${reads} and MaxMutatingRequestsInFlight=${writes}; they must add up to something positive`;
}

/** Servers show each other who they are. */
function peerProxyError({ misc }: Options): string | undefined {
  if (misc.peerCaFile === '') return undefined;
  if (misc.proxyClientCertFile === '') return 'error building peer proxy handler, proxy-cert-file not specified';
  if (misc.proxyClientKeyFile === '') return 'error building peer proxy handler, proxy-key-file not specified';
  const read = [misc.peerCaFile, misc.proxyClientCertFile, misc.proxyClientKeyFile].map(readTextFile);
  const failed = read.find((each) => !each.ok);
  return failed === undefined || failed.ok ? undefined : `failed to create proxy transport: ${failed.error}`;
}

const RECONCILERS = ['', 'lease', 'master-count', 'none'];

function reconcilerError({ misc: { endpointReconcilerType: type } }: Options): string | undefined {
  return RECONCILERS.includes(type)
    ? undefined
    : `--endpoint-reconciler-type: Reconciler not implemented: ${type}; there are lease, master-count and none`;
}

/** Met last, when the APIs themselves are set up. */
function tooNewApisError({ apiEnablement, emulatedApis }: Options): string | undefined {
  return runtimeConfigTooNewError(apiEnablement.runtimeConfig, emulatedApis);
}

function egressFileError({ egressSelector: { egressSelectorConfigFile: file } }: Options): string | undefined {
  const read = file === '' ? undefined : readTextFile(file);
  if (read === undefined || read.ok) return undefined;
  return `failed to read egress selector config: unable to read egress selector configuration from ${goQuote(file)} [${read.error}]`;
}

function tracingFileError({ traces: { tracingConfigFile: file } }: Options): string | undefined {
  const read = file === '' ? undefined : readTextFile(file);
  if (read === undefined || read.ok) return undefined;
  return `failed to read tracing config: unable to read tracing configuration from ${goQuote(file)}: ${read.error}`;
}

function clientCaError({ authentication: { clientCaFile } }: Options): string | undefined {
  return clientCaFile === '' ? undefined : caBundleError('client-ca-bundle', clientCaFile);
}

function requestHeaderCaError({ authentication: { requestheaderClientCaFile: file } }: Options): string | undefined {
  return file === '' ? undefined : caBundleError('request-header', file);
}

function serviceAccountKeysError({ authentication }: Options): string | undefined {
  for (const file of authentication.serviceAccountKeyFile) {
    const error = publicKeysError(file);
    if (error !== undefined) return error;
  }
  return undefined;
}

const MIN_TOKEN_COLUMNS = 3;

function tokenFileError({ authentication: { tokenAuthFile: file } }: Options): string | undefined {
  if (file === '') return undefined;
  const read = readTextFile(file);
  if (!read.ok) return read.error;
  try {
    const short = parseCsv(read.text).find(({ fields }) => fields.length < MIN_TOKEN_COLUMNS);
    if (short === undefined) return undefined;
    return `token file '${file}' must have at least 3 columns (token, user name, user uid), found ${short.fields.length}`;
  } catch (error) {
    if (error instanceof CsvError) return error.message;
    throw error;
  }
}

const REVIEW_VERSIONS = ['v1', 'v1beta1'];

function tokenWebhookError({ authentication }: Options): string | undefined {
  const { authenticationTokenWebhookConfigFile: file, authenticationTokenWebhookVersion: version } = authentication;
  if (file === '') return undefined;
  const error = statError(file);
  if (error !== undefined) return error;
  if (REVIEW_VERSIONS.includes(version)) return undefined;
  return `unsupported authentication webhook version ${goQuote(version)}, supported versions are "v1", "v1beta1"`;
}

function authorizationWebhookError({ authorization }: Options): string | undefined {
  const {
    authorizationMode,
    authorizationWebhookConfigFile: file,
    authorizationWebhookVersion: version,
  } = authorization;
  if (!authorizationMode.includes('Webhook')) return undefined;
  const error = statError(file);
  if (error !== undefined) return `invalid authorization config: ${error}`;
  if (REVIEW_VERSIONS.includes(version)) return undefined;
  return `invalid authorization config: unsupported webhook authorizer version ${goQuote(version)}, supported versions are "v1", "v1beta1"`;
}

/** Passing over an authorizer that was asked for could let in whom it would have kept out. */
function statError(file: string): string | undefined {
  try {
    fs.statSync(file);
    return undefined;
  } catch (error) {
    return goFileError(error, file, 'stat');
  }
}
