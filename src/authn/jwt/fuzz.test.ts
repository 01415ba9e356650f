// Whatever is made of a token, only a refusal or the right user comes out.
import { silentLog } from '../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { authenticationCompiler, type AuthenticationExpression } from '../../cel/environments/authentication.js';
import { MetricRegistry } from '../../lib/telemetry/metrics.js';
import { AuthenticationError } from '../authenticator.js';
import { createJwtTokens } from './jwt-tokens.js';
import { createJwtMetrics } from './metrics.js';
import { TestClock, TestIssuer } from './testing.js';

const compiler = authenticationCompiler({ compatibility: { major: 1, minor: 34 }, features: { enabled: () => true } });
const expression = (text: string): AuthenticationExpression =>
  compiler.compile(text, 'claims', 'any') as AuthenticationExpression;
const clock = new TestClock();
const issuer = new TestIssuer();
const tokens = createJwtTokens({
  issuers: [
    {
      issuer: { url: issuer.url, discoveryUrl: '', audiences: ['me', 'you'] },
      mappings: {
        username: expression('claims.sub'),
        groups: { claim: 'groups', prefix: 'g:' },
        extra: [{ key: 'example.test/x', value: expression('claims.?x.orValue("")') }],
        requiredClaims: [],
        claimRules: [],
        userRules: [],
      },
      fetch: issuer.fetch,
    },
  ],
  algorithms: ['ES256'],
  clock,
  metrics: createJwtMetrics(new MetricRegistry()),
  signal: new AbortController().signal,
  log: silentLog,
});

/** The user's name, or nothing for a refusal; anything else thrown fails the test. */
async function nameOf(token: string): Promise<string | undefined> {
  try {
    return (await tokens.authenticateToken(token, []))?.user.name;
  } catch (error) {
    if (error instanceof AuthenticationError) return undefined;
    throw error;
  }
}

test('tokens that were tampered with, cut, joined or made up are refused', async () => {
  await tokens.ready;
  const good = await issuer.sign({ exp: clock.seconds() + 3600, groups: ['a'] });
  assert.equal(await nameOf(good), 'sam');
  const [header = '', payload = '', signature = ''] = good.split('.');
  const part = fc.oneof(
    fc.constantFrom(header, payload, signature, '', '.', '{}'),
    fc.json().map((text) => Buffer.from(text).toString('base64url')),
    fc
      .record({ alg: fc.constantFrom('none', 'HS256', 'ES256', 'RS256', 7), kid: fc.anything() })
      .map((json) => Buffer.from(JSON.stringify(json) ?? '').toString('base64url')),
    fc.string(),
  );
  const mangled = fc.oneof(
    fc.array(part, { maxLength: 5 }).map((parts) => parts.join('.')),
    fc
      .tuple(fc.nat(good.length - 1), fc.string({ maxLength: 2 }))
      .map(([at, put]) => good.slice(0, at) + put + good.slice(at + 1)),
  );
  await fc.assert(
    fc.asyncProperty(mangled, async (token) => {
      const name = await nameOf(token);
      // The last character of a signature has bits that nobody reads.
      if (name !== undefined) assert.deepEqual([name, token.slice(0, -1)], ['sam', good.slice(0, -1)]);
    }),
    { numRuns: 2000 },
  );
});

test('signed claims of every shape are a user or a refusal, never a failure', async () => {
  await tokens.ready;
  const claims = fc.record(
    {
      sub: fc.oneof(fc.string(), fc.jsonValue()),
      aud: fc.oneof(fc.constant('me'), fc.jsonValue()),
      exp: fc.oneof(fc.constant(2e9), fc.jsonValue()),
      nbf: fc.jsonValue(),
      groups: fc.oneof(fc.array(fc.string()), fc.jsonValue()),
      x: fc.jsonValue(),
      jti: fc.jsonValue(),
      _claim_names: fc.oneof(fc.constant({ groups: 'a' }), fc.jsonValue()),
      _claim_sources: fc.oneof(fc.constant({ a: { endpoint: 'nowhere' } }), fc.jsonValue()),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(claims, async (made) => {
      const name = await nameOf(await issuer.sign(made));
      if (name !== undefined) assert.equal(name, 'sub' in made ? made.sub : 'sam');
    }),
    { numRuns: 500 },
  );
});
