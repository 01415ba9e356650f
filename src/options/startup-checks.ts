// What options that are valid among themselves may still meet: files that are not there or hold something else. The
// rows stand in the order in which the parts of a server are built, and the first error is reported.
import fs from 'node:fs';
import { CIPHER_SUITES, TLS_VERSIONS } from '../lib/x509/cipher-suites.js';
import { CsvError, parseCsv } from '../lib/text/csv.js';
import { goFileError, readTextFile } from '../lib/go/file-error.js';
import { goQuote } from '../lib/go/quote.js';
import { intText } from './int-text.js';
import { kubeletFilesError, caBundleError, publicKeysError, servingPairError, storeFilesError } from './key-files.js';
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

/** What is wrong, and which flag it came with. */
export interface StartupMistake {
  readonly error: string;
  readonly about: string;
  readonly exitCode: number;
}

/** Of a mistake that kube-apiserver meets where it has no way back. */
const FATAL = 255;

export function startupError(options: Options, hooks: StartupHooks = {}): StartupMistake | undefined {
  const checks: readonly (readonly [check: Check | undefined, flag: string, exitCode?: number])[] = [
    [servingCertificateError, '--tls-cert-file'],
    [cipherSuitesError, '--tls-cipher-suites'],
    [tlsVersionError, '--tls-min-version'],
    [sniCertificatesError, '--tls-sni-cert-key'],
    [inflightError, '--max-requests-inflight'],
    [({ apiEnablement }) => runtimeConfigValueError(apiEnablement.runtimeConfig), '--runtime-config'],
    [egressFileError, '--egress-selector-config-file'],
    [hooks.egressSelector, '--egress-selector-config-file'],
    [tracingFileError, '--tracing-config-file'],
    [hooks.tracing, '--tracing-config-file'],
    [hooks.encryption, '--encryption-provider-config'],
    [clientCaError, '--client-ca-file'],
    [hooks.authentication, '--authentication-config'],
    [requestHeaderCaError, '--requestheader-client-ca-file'],
    [serviceAccountKeysError, '--service-account-key-file'],
    [tokenFileError, '--token-auth-file'],
    [hooks.jwtAuthenticators, '--authentication-config'],
    [tokenWebhookError, '--authentication-token-webhook-config-file'],
    [hooks.tokenWebhook, '--authentication-token-webhook-config-file'],
    [authorizationWebhookError, '--authorization-webhook-config-file'],
    [hooks.authorization, '--authorization-config'],
    [hooks.auditPolicy, '--audit-policy-file'],
    [hooks.admission, '--admission-control-config-file'],
    [peersStoreError, '--etcd-certfile'],
    [peerProxyError, '--peer-ca-file'],
    [leasesError, '--etcd-certfile', FATAL],
    [storeError, '--etcd-certfile'],
    [tooNewApisError, '--runtime-config'],
  ];
  for (const [check, flag, exitCode = 1] of checks) {
    const error = check?.(options);
    if (error !== undefined) return { error, about: flag, exitCode };
  }
  return undefined;
}

/** Of an etcd that is not there in time. */
export function unreachedStoreMistake({ misc, featureGates }: Options): Pick<StartupMistake, 'error' | 'exitCode'> {
  const late = 'context deadline exceeded';
  if (featureGates.enabled('UnknownVersionInteroperabilityProxy')) return { error: inFactory(late), exitCode: 1 };
  if (!LEASE_RECONCILERS.includes(misc.endpointReconcilerType)) return { error: late, exitCode: 1 };
  return { error: inLeases(late), exitCode: FATAL };
}

const inFactory = (why: string): string => `error creating storage factory: ${why}`;
const inLeases = (why: string): string => `Error creating leases: ${inFactory(why)}`;

/** Met, as in kube-apiserver, once the store has answered and the parts of the server are put together. */
export function assemblyMistake(options: Options): Pick<StartupMistake, 'error' | 'exitCode'> | undefined {
  const error = proxyCertificateError(options) ?? http2SuitesError(options);
  return error === undefined ? undefined : { error, exitCode: 1 };
}

/** Met once the server begins its work, which then ends. */
export const workError = (options: Options): string | undefined => reconcilerError(options) ?? kubeletsError(options);

function servingCertificateError({ secureServing: { tlsCertFile, tlsPrivateKeyFile } }: Options): string | undefined {
  if (tlsCertFile === '' && tlsPrivateKeyFile === '') return undefined;
  return servingPairError('serving-cert', tlsCertFile, tlsPrivateKeyFile);
}

function cipherSuitesError({ secureServing: { tlsCipherSuites } }: Options): string | undefined {
  const suite = tlsCipherSuites.find((name) => !Object.hasOwn(CIPHER_SUITES, name));
  return suite === undefined ? undefined : `Cipher suite ${suite} not supported or doesn't exist`;
}

function tlsVersionError({ secureServing: { tlsMinVersion } }: Options): string | undefined {
  if (tlsMinVersion === '' || Object.hasOwn(TLS_VERSIONS, tlsMinVersion)) return undefined;
  return `unknown tls version ${goQuote(tlsMinVersion)}`;
}

function sniCertificatesError({ secureServing: { tlsSniCertKey } }: Options): string | undefined {
  for (const { certFile, keyFile } of tlsSniCertKey) {
    const error = servingPairError('sni-serving-cert', certFile, keyFile);
    if (error !== undefined) return `failed to load SNI cert and key: ${error}`;
  }
  return undefined;
}

function inflightError({ features, generic }: Options): string | undefined {
  const { maxRequestsInflight: reads, maxMutatingRequestsInflight: writes } = generic;
  // A sum that does not fit is none.
  const fits = reads === 0 || writes === 0 || reads + writes < 2 ** 63;
  if (!features.enablePriorityAndFairness || (fits && reads + writes > 0)) return undefined;
  return `invalid configuration: MaxRequestsInFlight=${intText(reads)} and MaxMutatingRequestsInFlight=${intText(writes)}; they must add up to something positive`;
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

/** Servers that hand requests on to each other keep their addresses in the store. */
function peersStoreError(options: Options): string | undefined {
  if (!options.featureGates.enabled('UnknownVersionInteroperabilityProxy')) return undefined;
  const why = storeError(options);
  return why === undefined ? undefined : inFactory(why);
}

const LEASE_RECONCILERS = ['', 'lease'];
const RECONCILERS = [...LEASE_RECONCILERS, 'master-count', 'none'];

function reconcilerError({ misc: { endpointReconcilerType: type } }: Options): string | undefined {
  if (RECONCILERS.includes(type)) return undefined;
  return `--endpoint-reconciler-type: Reconciler not implemented: ${type}; there are lease, master-count and none`;
}

function leasesError(options: Options): string | undefined {
  if (!LEASE_RECONCILERS.includes(options.misc.endpointReconcilerType)) return undefined;
  const why = storeError(options);
  return why === undefined ? undefined : inLeases(why);
}

function storeError({ embeddedStore, etcd }: Options): string | undefined {
  if (embeddedStore) return undefined;
  return storeFilesError({ caFile: etcd.etcdCafile, certFile: etcd.etcdCertfile, keyFile: etcd.etcdKeyfile });
}

function kubeletsError({ misc }: Options): string | undefined {
  const why = kubeletFilesError({
    caFile: misc.kubeletCertificateAuthority,
    certFile: misc.kubeletClientCertificate,
    keyFile: misc.kubeletClientKey,
  });
  return why === undefined ? undefined : `problem initializing API group "": ${why}`;
}

function tooNewApisError({ apiEnablement, emulatedApis }: Options): string | undefined {
  return runtimeConfigTooNewError(apiEnablement.runtimeConfig, emulatedApis);
}

function proxyCertificateError({ misc }: Options): string | undefined {
  const { proxyClientCertFile: certFile, proxyClientKeyFile: keyFile } = misc;
  if (certFile === '' || keyFile === '') return undefined;
  return servingPairError('aggregator-proxy-cert', certFile, keyFile);
}

/** One of these is what every client of HTTP/2 can speak. */
const HTTP2_SUITES = ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'];

function http2SuitesError({ secureServing }: Options): string | undefined {
  const { disableHttp2Serving, tlsCipherSuites, tlsMinVersion } = secureServing;
  if (disableHttp2Serving || tlsCipherSuites.length === 0 || tlsMinVersion === 'VersionTLS13') return undefined;
  if (HTTP2_SUITES.some((suite) => tlsCipherSuites.includes(suite))) return undefined;
  return `error configuring http2: http2: TLSConfig.CipherSuites is missing an HTTP/2-required AES_128_GCM_SHA256 cipher (need at least one of ${HTTP2_SUITES.join(' or ')})`;
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

/** Ignoring a configured authorizer could allow what it would deny. */
function statError(file: string): string | undefined {
  try {
    fs.statSync(file);
    return undefined;
  } catch (error) {
    return goFileError(error, file, 'stat');
  }
}
