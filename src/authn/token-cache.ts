// Caches the results of tokens for a little while: checking one costs a signature and store reads, and busy
// clients send the same one thousands of times a second.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/async/clock.js';
import { withTimeout } from '../lib/async/with-timeout.js';
import type { Authenticated, TokenAuthenticator } from './authenticator.js';
import { AuthenticationError } from './authenticator.js';
import type { TokenCacheMetrics } from './token-cache-metrics.js';

export interface TokenCacheOptions {
  readonly successTtlMs: number;
  /** 0: refusals are not cached. */
  readonly failureTtlMs: number;
  /** False: a refusal with a reason may be the remote side's trouble, and is not cached. */
  readonly memoizeErrors: boolean;
  readonly nowMs: () => number;
  /** Ends checks that take too long. */
  readonly clock: Pick<Clock, 'after'>;
  readonly metrics?: TokenCacheMetrics;
}

type Outcome = { readonly result: Authenticated | undefined } | { readonly refusal: readonly string[] };

const CACHE_ENTRIES = 4096;

export function cachedTokens(inner: TokenAuthenticator, options: TokenCacheOptions): TokenAuthenticator {
  const known = new LRUCache<string, { outcome: Outcome; untilMs: number }>({ max: CACHE_ENTRIES });
  // Concurrent requests with one token wait for one check.
  const running = new Map<string, Promise<Outcome>>();
  return {
    // hot: a cached result is returned at once.
    authenticateToken(token, audiences, connection) {
      const startedMs = options.nowMs();
      const key = connection === undefined ? cacheKey(token, audiences) : keyOnConnection(connection, token, audiences);
      const entry = known.get(key);
      if (entry !== undefined && startedMs < entry.untilMs) {
        options.metrics?.hit();
        return reveal(entry.outcome);
      }
      return check(key, token, audiences, startedMs);
    },
  };

  async function check(
    key: string,
    token: string,
    audiences: readonly string[],
    startedMs: number,
  ): Promise<Authenticated | undefined> {
    options.metrics?.blocked.add(1);
    let under = running.get(key);
    if (under === undefined) {
      under = fetch(key, token, audiences).finally(() => running.delete(key));
      running.set(key, under);
    }
    try {
      return reveal(await under);
    } finally {
      options.metrics?.blocked.add(-1);
      options.metrics?.missed(options.nowMs() - startedMs);
    }
  }

  async function fetch(key: string, token: string, audiences: readonly string[]): Promise<Outcome> {
    const { clock, metrics } = options;
    const attempted = attempt(inner, token, audiences, metrics);
    const outcome = await withTimeout(attempted, { ms: CHECK_TIMEOUT_MS, clock, onTimeout });
    const succeeded = 'result' in outcome && outcome.result !== undefined;
    const ttlMs = succeeded ? options.successTtlMs : options.failureTtlMs;
    const isCacheable = options.memoizeErrors || 'result' in outcome;
    if (ttlMs > 0 && isCacheable) known.set(key, { outcome, untilMs: options.nowMs() + ttlMs });
    return outcome;
  }
}

/** Whoever judges tokens elsewhere has this long, with all that is tried again. */
const CHECK_TIMEOUT_MS = 30_000;

const onTimeout = (): Outcome => ({ refusal: ['context deadline exceeded'] });

async function attempt(
  inner: TokenAuthenticator,
  token: string,
  audiences: readonly string[],
  metrics: TokenCacheMetrics | undefined,
): Promise<Outcome> {
  const fetched = metrics?.fetching();
  let ok = false;
  try {
    const outcome = { result: await inner.authenticateToken(token, audiences) };
    ok = true;
    return outcome;
  } catch (error) {
    // Anything but a refusal is our own failure: it is passed on and not cached.
    if (!(error instanceof AuthenticationError)) throw error;
    return { refusal: error.reasons };
  } finally {
    fetched?.(ok);
  }
}

function reveal(outcome: Outcome): Authenticated | undefined {
  if ('refusal' in outcome) throw new AuthenticationError(outcome.refusal);
  return outcome.result;
}

interface LastToken {
  readonly token: string;
  readonly audiences: readonly string[];
  readonly key: string;
}

/** A connection's header compression keeps the token for as long as it is open; so may we, and digest it once. */
const lastTokens = new WeakMap<object, LastToken>();

function keyOnConnection(connection: object, token: string, audiences: readonly string[]): string {
  const last = lastTokens.get(connection);
  if (last?.token === token && last.audiences === audiences) return last.key;
  const key = cacheKey(token, audiences);
  lastTokens.set(connection, { token, audiences, key });
  return key;
}

/** A digest, so that no credentials lie about in the cache. */
const cacheKey = (token: string, audiences: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([token, audiences]))
    .digest('base64');
