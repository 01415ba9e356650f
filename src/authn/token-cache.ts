// Remembers what tokens proved to be, for a little while: checking one costs a signature and store reads, and busy
// clients send the same one thousands of times a second.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Authenticated, TokenAuthenticator } from './authenticator.js';
import { AuthenticationError } from './authenticator.js';

export interface TokenCacheOptions {
  readonly successTtlMs: number;
  /** 0: refusals are not remembered. */
  readonly failureTtlMs: number;
  readonly nowMs: () => number;
}

type Outcome = { readonly result: Authenticated | undefined } | { readonly refusal: string };

const CACHE_ENTRIES = 4096;

export function cachedTokens(inner: TokenAuthenticator, options: TokenCacheOptions): TokenAuthenticator {
  const known = new LRUCache<string, { outcome: Outcome; untilMs: number }>({ max: CACHE_ENTRIES });
  // Concurrent requests with one token wait for one check.
  const running = new Map<string, Promise<Outcome>>();
  return {
    async authenticateToken(token, audiences) {
      const key = cacheKey(token, audiences);
      const entry = known.get(key);
      if (entry !== undefined && options.nowMs() < entry.untilMs) return reveal(entry.outcome);
      let check = running.get(key);
      if (check === undefined) {
        check = attempt(inner, token, audiences).finally(() => running.delete(key));
        running.set(key, check);
      }
      const outcome = await check;
      const succeeded = 'result' in outcome && outcome.result !== undefined;
      const ttlMs = succeeded ? options.successTtlMs : options.failureTtlMs;
      if (ttlMs > 0) known.set(key, { outcome, untilMs: options.nowMs() + ttlMs });
      return reveal(outcome);
    },
  };
}

async function attempt(inner: TokenAuthenticator, token: string, audiences: readonly string[]): Promise<Outcome> {
  try {
    return { result: await inner.authenticateToken(token, audiences) };
  } catch (error) {
    // Anything but a refusal is our own failure: it is passed on and not remembered.
    if (!(error instanceof AuthenticationError)) throw error;
    return { refusal: error.message };
  }
}

function reveal(outcome: Outcome): Authenticated | undefined {
  if ('refusal' in outcome) throw new AuthenticationError(outcome.refusal);
  return outcome.result;
}

/** A digest, so that no credentials lie about in the cache. */
const cacheKey = (token: string, audiences: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([token, audiences]))
    .digest('base64');
