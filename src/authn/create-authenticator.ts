// Who makes a request: every authenticator, in the order they are tried.
import type { HttpRequest } from '../lib/http/http.js';
import { percentDecode } from '../lib/http/percent-decode.js';
import { goQuote } from '../lib/go/quote.js';
import { whenReady } from '../lib/async/maybe-promise.js';
import { ANONYMOUS_USER, AUTHENTICATED_GROUP, UNAUTHENTICATED_GROUP, type UserInfo } from '../machinery/user.js';
import type { Authenticated, RequestAuthenticator, TokenAuthenticator } from './authenticator.js';
import { AuthenticationError } from './authenticator.js';
import { audienceAgnostic } from './audience.js';
import {
  createBearerAuthenticator,
  createWebSocketAuthenticator,
  EXTRA_SPACE_WARNING,
  hasExtraSpace,
  INVALID_BEARER_TOKEN,
  required,
} from './bearer-token.js';
import { createCertificateAuthenticator, createCertificateVerifier } from './client-certificate.js';
import { createRequestHeaderAuthenticator } from './request-header.js';
import { cachedTokens, type TokenCacheOptions } from './token-cache.js';
import { createTokenFileAuthenticator } from './token-file.js';
import type { AuthenticationTrust } from './trust.js';
import { unionOfRequests, unionOfTokens } from './union.js';

export interface AuthenticatorOptions extends AuthenticationTrust {
  /** The server's own audiences (--api-audiences, or the service-account issuer). */
  readonly apiAudiences: readonly string[];
  /** --token-auth-file, parsed. */
  readonly tokenFile?: ReadonlyMap<string, UserInfo>;
  /** Legacy first, then bound tokens. */
  readonly serviceAccounts?: readonly TokenAuthenticator[];
  /** Bootstrap tokens, OIDC, webhooks: each knows what to do about audiences. Tried last. */
  readonly otherTokens?: readonly TokenAuthenticator[];
  readonly anonymous: AnonymousOptions;
  readonly parseCertificateUid: boolean;
  /** Observes the remaining validity of each client certificate. */
  readonly observeCertificate?: (remainingMs: number) => void;
  readonly tokenCache: Pick<TokenCacheOptions, 'successTtlMs' | 'failureTtlMs' | 'clock' | 'metrics'>;
  readonly nowMs: () => number;
}

export interface AnonymousOptions {
  readonly enabled: boolean;
  /** Only these paths; empty for all. */
  readonly paths?: readonly string[];
}

export interface Authentication extends RequestAuthenticator {
  /** For TokenReview: who a token is, as a request with it would be. `audiences` empty: the server's own. */
  reviewToken(token: string, audiences: readonly string[]): Promise<Authenticated>;
}

/** Whether anonymous requests are let in: never when everybody may do everything, not even when configured. */
export const anonymousEnabled = (flag: boolean, authorizationModes: readonly string[]): boolean =>
  flag && !authorizationModes.includes('AlwaysAllow');

export function createAuthenticator(options: AuthenticatorOptions): Authentication {
  const { apiAudiences, nowMs } = options;
  const tokens = tokenAuthenticators(options);
  const tokenUnion = cachedTokens(unionOfTokens(tokens), { ...options.tokenCache, memoizeErrors: true, nowMs });
  const requests: RequestAuthenticator[] = [];
  if (options.requestHeader !== undefined) {
    const verifier = createCertificateVerifier({ bundle: options.requestHeader.clientCa, nowMs });
    requests.push(createRequestHeaderAuthenticator({ ...options.requestHeader, verifier }));
  }
  if (options.clientCa !== undefined) {
    const { clientCa: bundle, observeCertificate: observe } = options;
    const verifier = createCertificateVerifier({ bundle, nowMs, ...(observe !== undefined && { observe }) });
    const { parseCertificateUid: parseUid, ignoresOtherCertificates: ignoresOthers = false } = options;
    requests.push(createCertificateAuthenticator({ verifier, parseUid, ignoresOthers }));
  }
  if (tokens.length > 0) {
    requests.push(createBearerAuthenticator(tokenUnion, apiAudiences));
    requests.push(createWebSocketAuthenticator(tokenUnion, apiAudiences));
  }
  const union = unionOfRequests(requests);

  return {
    authenticate: (request) =>
      whenReady(union.authenticate(request), (known) =>
        known === undefined
          ? anonymous(request, options.anonymous)
          : checkAudiences(withAuthenticatedGroup(known), apiAudiences),
      ),
    async reviewToken(token, audiences) {
      const wanted = audiences.length === 0 ? apiAudiences : audiences;
      try {
        return withAuthenticatedGroup(required(await tokenUnion.authenticateToken(token, wanted)));
      } catch (error) {
        if (!(error instanceof AuthenticationError)) throw error;
        throw new AuthenticationError([INVALID_BEARER_TOKEN, ...error.reasons]);
      }
    },
  };
}

function tokenAuthenticators(options: AuthenticatorOptions): TokenAuthenticator[] {
  const { apiAudiences, tokenFile, serviceAccounts = [], otherTokens = [] } = options;
  // Local ways first: a remote one may cost a round trip for every foreign token.
  return [
    ...(tokenFile === undefined ? [] : [audienceAgnostic(createTokenFileAuthenticator(tokenFile), apiAudiences)]),
    ...serviceAccounts,
    ...otherTokens,
  ];
}

function anonymous(request: HttpRequest, { enabled, paths = [] }: AnonymousOptions): Authenticated | undefined {
  if (!enabled || (paths.length > 0 && !paths.includes(percentDecode(request.path)))) return undefined;
  const warnings = hasExtraSpace(request.headers['authorization'] ?? '') ? { warnings: [EXTRA_SPACE_WARNING] } : {};
  return { user: { name: ANONYMOUS_USER, groups: [UNAUTHENTICATED_GROUP] }, ...warnings };
}

function withAuthenticatedGroup(known: Authenticated): Authenticated {
  const { user } = known;
  if (user.name === ANONYMOUS_USER) return known;
  if (user.groups.includes(AUTHENTICATED_GROUP) || user.groups.includes(UNAUTHENTICATED_GROUP)) return known;
  let completed = withGroup.get(known);
  if (completed === undefined) {
    completed = { ...known, user: { ...user, groups: [...user.groups, AUTHENTICATED_GROUP] } };
    withGroup.set(known, completed);
  }
  return completed;
}

/** Memoized by user: the token cache returns one value for many requests. */
const withGroup = new WeakMap<Authenticated, Authenticated>();

/** A credential made for others only is refused, even when it is genuine. */
function checkAudiences(known: Authenticated, apiAudiences: readonly string[]): Authenticated {
  const { audiences } = known;
  if (apiAudiences.length === 0 || audiences === undefined || audiences.length === 0) return known;
  if (audiences.some((one) => apiAudiences.includes(one))) return known;
  const list = (values: readonly string[]) => `[${values.map(goQuote).join(' ')}]`;
  throw new AuthenticationError(`unable to match the audience: ${list(audiences)} , accepted: ${list(apiAudiences)}`);
}
