// Tokens of all configured issuers.
import type { Logger } from '../../lib/telemetry/log.js';
import type { Clock } from '../../lib/async/clock.js';
import type { TokenAuthenticator } from '../authenticator.js';
import { createJwtAuthenticator } from './authenticator.js';
import { readIssuer } from './compact-token.js';
import { createDistributedClaims } from './distributed-claims.js';
import type { FetchDocument } from './issuer-http.js';
import { followIssuer, type Issuer } from './issuer.js';
import type { JwtMetrics } from './metrics.js';
import type { ClaimMappings } from './user-of-claims.js';

export interface JwtIssuerConfig {
  readonly issuer: {
    readonly url: string;
    /** Empty: below the issuer's own address. */
    readonly discoveryUrl: string;
    readonly audiences: readonly string[];
  };
  readonly mappings: ClaimMappings;
  readonly fetch: FetchDocument;
}

export interface JwtTokensOptions {
  readonly issuers: readonly JwtIssuerConfig[];
  readonly algorithms: readonly string[];
  readonly clock: Clock;
  readonly metrics: JwtMetrics;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

export interface JwtTokens extends TokenAuthenticator {
  /** Resolves once every issuer was found. */
  readonly ready: Promise<void>;
  /** What is wrong with issuers that were not. */
  unhealthy(): readonly string[];
}

export function createJwtTokens(options: JwtTokensOptions): JwtTokens {
  const issuers: { readonly url: string; readonly issuer: Issuer }[] = [];
  const authenticators = new Map<string, TokenAuthenticator>();
  for (const { issuer: config, mappings, fetch } of options.issuers) {
    const follow = (url: string, discoveryUrl: string): Issuer =>
      followIssuer({
        rules: {
          issuer: url,
          audiences: config.audiences,
          algorithms: options.algorithms,
          nowMs: () => options.clock.now(),
        },
        ...(discoveryUrl !== '' && { discoveryUrl }),
        fetch,
        clock: options.clock,
        signal: options.signal,
        log: options.log,
      });
    const issuer = follow(config.url, config.discoveryUrl);
    issuers.push({ url: config.url, issuer });
    const { groups } = mappings;
    const claim = groups !== undefined && 'claim' in groups ? groups.claim : undefined;
    const authenticator = createJwtAuthenticator({
      issuer,
      mappings,
      ...(claim !== undefined && {
        distributed: createDistributedClaims({ claim, fetch, follow: (url) => follow(url, '') }),
      }),
      observe: options.metrics.of(config.url),
    });
    authenticators.set(config.url, authenticator);
  }
  return {
    ready: Promise.all(issuers.map(({ issuer }) => issuer.found)).then(() => undefined),
    unhealthy: () =>
      issuers.flatMap(({ url, issuer }) => {
        const why = issuer.health();
        return why === undefined ? [] : [`oidc: authenticator for issuer "${url}" is not healthy: ${why}`];
      }),
    // Every issuer has its own tokens, so the one that a token names has the only word.
    authenticateToken(token, audiences) {
      const { issuer } = readIssuer(token);
      return issuer === undefined ? undefined : authenticators.get(issuer)?.authenticateToken(token, audiences);
    },
  };
}
