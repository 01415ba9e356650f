// Who signs service-account tokens and what verifies them: key files, or a program beside the server that holds the keys.
import crypto from 'node:crypto';
import fs from 'node:fs';
import { DISCOVERY_MAX_AGE_SECONDS } from '../../authn/service-account/discovery.js';
import { createTokenIssuer, type TokenIssuer } from '../../authn/service-account/issuer.js';
import {
  fixedKeys,
  parseSigningKey,
  parseVerifyingKeys,
  type SigningKey,
  type VerifyingKey,
  type VerifyingKeys,
} from '../../authn/service-account/keys.js';
import { systemClock } from '../../lib/async/clock.js';
import { errorText } from '../../lib/text/error-text.js';
import type { Logger } from '../../lib/telemetry/log.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import { formatDuration } from '../../machinery/time.js';
import type { Options } from '../../options/options.js';
import type { PreparedCertificates } from '../listener/prepare-certificates.js';

export interface TokenSigning {
  /** Absent when no new tokens are issued. */
  readonly issuer?: TokenIssuer;
  readonly keys: VerifyingKeys;
  /** The keys that others may verify tokens with; the identical array until the keys change. */
  readonly published: () => readonly VerifyingKey[];
  /** How long clients may cache the keys. */
  readonly maxAgeSeconds: () => number;
  /** The longest life of a new token; 0 for no limit. */
  readonly maxExpirationSeconds: number;
  /** The longest life of an extended token. */
  readonly maxExtendedExpirationSeconds?: number;
}

export interface TokenSigningParts {
  readonly certificates: PreparedCertificates;
  readonly metrics: MetricRegistry;
  readonly stopping: AbortSignal;
  readonly log: Logger;
}

export function buildTokenSigning(options: Options, parts: TokenSigningParts): TokenSigning | Promise<TokenSigning> {
  if (options.misc.serviceAccountSigningEndpoint !== '') return externalSigning(options, parts);
  const { serviceAccountKeyFiles, serviceAccountSigningKeyFile: file } = parts.certificates;
  const keys = serviceAccountKeyFiles.flatMap((keyFile) => parseVerifyingKeys(fs.readFileSync(keyFile, 'utf8')));
  const issuer = options.authentication.serviceAccountIssuer[0] ?? '';
  return {
    ...(file !== '' && { issuer: createTokenIssuer({ issuer, key: signingKeyFrom(file), newId: newIdOf(options) }) }),
    keys: fixedKeys(keys),
    published: () => keys,
    maxAgeSeconds: () => DISCOVERY_MAX_AGE_SECONDS,
    maxExpirationSeconds: options.authentication.serviceAccountMaxTokenExpirationMs / 1000,
  };
}

/** The gate ServiceAccountTokenJTI: without it tokens have no id. */
const newIdOf = ({ featureGates }: Options): (() => string) =>
  featureGates.enabled('ServiceAccountTokenJTI') ? () => crypto.randomUUID() : () => '';

function signingKeyFrom(file: string): SigningKey {
  try {
    return parseSigningKey(fs.readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`error reading private key file ${file}: ${errorText(error)}`, { cause: error });
  }
}

type ExternalSignerModule = typeof import('../../authn/service-account/external-signer.js') &
  typeof import('../../authn/service-account/signer-client.js') &
  typeof import('../../authn/service-account/signer-metrics.js');

/** Read only where there is such a signer. */
const load = (): ExternalSignerModule => ({
  ...(require('../../authn/service-account/external-signer.js') as ExternalSignerModule),
  ...(require('../../authn/service-account/signer-client.js') as ExternalSignerModule),
  ...(require('../../authn/service-account/signer-metrics.js') as ExternalSignerModule),
});

async function externalSigning(options: Options, { metrics, stopping, log }: TokenSigningParts): Promise<TokenSigning> {
  const { startExternalSigner, createSignerClient, createSignerMetrics } = load();
  const { authentication, misc } = options;
  const signerMetrics = createSignerMetrics(metrics, Date.now);
  const client = createSignerClient({
    unixPath: socketPath(misc.serviceAccountSigningEndpoint),
    clock: systemClock,
    observe: (method, code, seconds) => signerMetrics.called(method, code, seconds),
  });
  const signer = await startExternalSigner({
    issuer: authentication.serviceAccountIssuer[0] ?? '',
    client,
    newId: newIdOf(options),
    clock: systemClock,
    metrics: signerMetrics,
    signal: stopping,
    log,
  });
  const { maxTokenExpirationSeconds: most } = signer;
  const wanted = authentication.serviceAccountMaxTokenExpirationMs / 1000;
  if (wanted > most) {
    throw new Error(
      `service-account-max-token-expiration cannot be set longer than the token expiration supported by service-account-signing-endpoint: ${durationText(wanted)} > ${durationText(most)}`,
    );
  }
  return {
    issuer: signer,
    keys: (id) => signer.keys(id),
    published: () => signer.published(),
    maxAgeSeconds: () => signer.maxAgeSeconds(),
    maxExpirationSeconds: wanted === 0 ? most : wanted,
    maxExtendedExpirationSeconds: most,
  };
}

const durationText = (seconds: number): string => formatDuration(BigInt(Math.round(seconds)) * 1_000_000_000n);

/** A name that begins with @ is an abstract socket's, which the system knows by a zero byte. */
const socketPath = (endpoint: string): string => (endpoint.startsWith('@') ? `\0${endpoint.slice(1)}` : endpoint);
