// The authenticator, built from the options.
import fs from 'node:fs';
import { certificateExpiration } from '../../authn/certificate-metrics.js';
import { anonymousEnabled, type Authentication, createAuthenticator } from '../../authn/create-authenticator.js';
import type { TokenCacheMetrics } from '../../authn/token-cache-metrics.js';
import { parseTokenFile } from '../../authn/token-file.js';
import type { TokenAuthenticator } from '../../authn/authenticator.js';
import { systemClock } from '../../lib/async/clock.js';
import type { Logger } from '../../lib/telemetry/log.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { Options } from '../../options/options.js';
import type { OtherTokens } from './other-tokens.js';
import { trustOf } from './trust.js';

export function buildAuthentication(
  options: Options,
  parts: {
    readonly apiAudiences: readonly string[];
    readonly clientCaFile: string;
    readonly serviceAccounts: readonly TokenAuthenticator[];
    readonly other: OtherTokens;
    readonly cacheMetrics: TokenCacheMetrics;
    readonly metrics: MetricRegistry;
    readonly log: Logger;
  },
): Authentication {
  const { authentication } = options;
  const { log } = parts;
  const nowMs = Date.now;
  const { tokenAuthFile } = authentication;
  return createAuthenticator({
    apiAudiences: parts.apiAudiences,
    ...trustOf(options, parts.clientCaFile, log),
    ...(tokenAuthFile !== '' && {
      tokenFile: parseTokenFile(fs.readFileSync(tokenAuthFile, 'utf8'), tokenAuthFile, log),
    }),
    serviceAccounts: parts.serviceAccounts,
    otherTokens: parts.other.tokens,
    anonymous: parts.other.anonymous ?? {
      enabled: anonymousEnabled(authentication.anonymousAuth, options.authorization.authorizationMode),
    },
    observeCertificate: certificateExpiration(parts.metrics),
    parseCertificateUid: options.featureGates.enabled('AllowParsingUserUIDFromCertAuth'),
    tokenCache: { successTtlMs: 10_000, failureTtlMs: 0, clock: systemClock, metrics: parts.cacheMetrics },
    nowMs,
  });
}
