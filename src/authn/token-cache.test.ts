import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Authenticated, AuthenticationError, type TokenAuthenticator } from './authenticator.js';
import { TestClock } from './jwt/testing.js';
import { cachedTokens, type TokenCacheOptions } from './token-cache.js';

const BOB: Authenticated = { user: { name: 'bob', groups: [] } };

function cached(inner: TokenAuthenticator['authenticateToken'], options: Partial<TokenCacheOptions> = {}) {
  const clock = new TestClock();
  let calls = 0;
  const counted: TokenAuthenticator = {
    authenticateToken(...passed) {
      calls++;
      return inner(...passed);
    },
  };
  const tokens = cachedTokens(counted, {
    successTtlMs: 10_000,
    failureTtlMs: 0,
    memoizeErrors: true,
    nowMs: () => clock.now(),
    clock,
    ...options,
  });
  return { clock, tokens, calls: () => calls };
}

test('a good token is judged once in its time, by all who bring it at once together', async () => {
  const { clock, tokens, calls } = cached(async () => BOB);
  await Promise.all([tokens.authenticateToken('t', []), tokens.authenticateToken('t', [])]);
  await tokens.authenticateToken('t', []);
  assert.equal(calls(), 1);
  await tokens.authenticateToken('t', ['others']);
  assert.equal(calls(), 2, 'for other audiences it is another question');
  await clock.advance(10_000);
  await tokens.authenticateToken('t', []);
  assert.equal(calls(), 3);
});

test('a reason may be the remote side’s trouble: it is not cached where that is configured', async () => {
  const refuse = async (): Promise<undefined> => {
    throw new AuthenticationError('no answer');
  };
  const { tokens, calls } = cached(refuse, { failureTtlMs: 10_000, memoizeErrors: false });
  await assert.rejects(async () => tokens.authenticateToken('t', []), /no answer/);
  await assert.rejects(async () => tokens.authenticateToken('t', []), /no answer/);
  assert.equal(calls(), 2);
  const unknown = cached(async () => undefined, { failureTtlMs: 10_000, memoizeErrors: false });
  await unknown.tokens.authenticateToken('t', []);
  await unknown.tokens.authenticateToken('t', []);
  assert.equal(unknown.calls(), 1, 'a plain no is');
});

test('whoever does not answer in time knows nobody, and others do not wait for it', async () => {
  const { clock, tokens } = cached((token) => (token === 'slow' ? new Promise(() => undefined) : Promise.resolve(BOB)));
  const slow = assert.rejects(async () => tokens.authenticateToken('slow', []), /context deadline exceeded/);
  assert.equal(await tokens.authenticateToken('quick', []), BOB);
  await clock.advance(30_000);
  await slow;
});
