import { silentLog } from '../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricRegistry } from '../../lib/telemetry/metrics.js';
import { AuthenticationError } from '../authenticator.js';
import { createJwtTokens, type JwtTokens } from './jwt-tokens.js';
import { createJwtMetrics } from './metrics.js';
import { newKey, TestClock, TestIssuer, type TestKey } from './testing.js';
import type { ClaimMappings } from './user-of-claims.js';

const MAPPINGS: ClaimMappings = {
  username: { claim: 'sub', prefix: 'x:' },
  groups: { claim: 'groups', prefix: '' },
  extra: [],
  requiredClaims: [],
  claimRules: [],
  userRules: [],
};

function follow(issuer: TestIssuer, clock: TestClock): JwtTokens {
  return createJwtTokens({
    issuers: [
      {
        issuer: { url: issuer.url, discoveryUrl: '', audiences: ['me'] },
        mappings: MAPPINGS,
        fetch: issuer.fetch,
      },
    ],
    algorithms: ['ES256'],
    clock,
    metrics: createJwtMetrics(new MetricRegistry()),
    signal: new AbortController().signal,
    log: silentLog,
  });
}

async function nameOf(tokens: JwtTokens, token: string): Promise<string> {
  try {
    return (await tokens.authenticateToken(token, []))?.user.name ?? 'nobody';
  } catch (error) {
    if (!(error instanceof AuthenticationError)) throw error;
    return error.message;
  }
}

test('keys are rotated: known ones go on working, unknown ones make us look, dropped ones go with the next look', async () => {
  const clock = new TestClock();
  const issuer = new TestIssuer();
  const tokens = follow(issuer, clock);
  await tokens.ready;
  const exp = clock.seconds() + 3600;
  const [first] = issuer.keys as [TestKey];
  assert.equal(await nameOf(tokens, await issuer.sign({ exp })), 'x:sam');
  const second = newKey('k2');
  issuer.keys = [second];
  assert.equal(await nameOf(tokens, await issuer.sign({ exp }, first)), 'x:sam', 'still known');
  assert.deepEqual(issuer.requests, ['/.well-known/openid-configuration', '/keys']);
  assert.equal(await nameOf(tokens, await issuer.sign({ exp }, second)), 'x:sam');
  assert.match(
    await nameOf(tokens, await issuer.sign({ exp, jti: 'a' }, first)),
    /failed to verify id token signature$/,
  );
});

test('tokens expire, and those of tomorrow are for tomorrow', async () => {
  const clock = new TestClock();
  const issuer = new TestIssuer();
  const tokens = follow(issuer, clock);
  await tokens.ready;
  const token = await issuer.sign({ exp: clock.seconds() + 60, nbf: clock.seconds() + 59 });
  assert.equal(await nameOf(tokens, token), 'x:sam', 'within the leeway');
  await clock.advance(61_000);
  assert.match(await nameOf(tokens, token), /token is expired \(Token Expiry: 2030-01-01 00:01:00 \+0000 UTC\)$/);
  assert.match(await nameOf(tokens, await issuer.sign({ exp: 2e9, nbf: clock.seconds() + 61 })), /before the nbf/);
  assert.deepEqual(issuer.requests, ['/.well-known/openid-configuration', '/keys'], 'refused before any fetch');
});

test('an issuer that is away leaves known keys good, and is looked for until it is there', async () => {
  const clock = new TestClock();
  const issuer = new TestIssuer();
  issuer.trouble = () => {
    throw new Error('nobody there');
  };
  const tokens = follow(issuer, clock);
  await clock.advance(0);
  const exp = clock.seconds() + 3600;
  assert.equal(await nameOf(tokens, await issuer.sign({ exp })), 'oidc: authenticator not initialized');
  assert.deepEqual(tokens.unhealthy(), [
    'oidc: authenticator for issuer "https://issuer.test" is not healthy: nobody there',
  ]);
  issuer.trouble = undefined;
  await clock.advance(10_000);
  await tokens.ready;
  assert.deepEqual(tokens.unhealthy(), []);
  assert.equal(await nameOf(tokens, await issuer.sign({ exp })), 'x:sam');
  issuer.trouble = () => {
    throw new Error('gone again');
  };
  assert.equal(await nameOf(tokens, await issuer.sign({ exp, jti: '2' })), 'x:sam');
  assert.match(
    await nameOf(tokens, await issuer.sign({ exp }, newKey('k9'))),
    /fetching keys oidc: get keys failed gone again$/,
  );
});

test('a flood of tokens with unknown keys costs the issuer a few fetches only', async () => {
  const clock = new TestClock();
  const issuer = new TestIssuer();
  const tokens = follow(issuer, clock);
  await tokens.ready;
  const exp = clock.seconds() + 3600;
  assert.equal(await nameOf(tokens, await issuer.sign({ exp })), 'x:sam');
  for (let i = 0; i < 100; i++) await nameOf(tokens, await issuer.sign({ exp }, newKey(`bad-${i}`)));
  assert.ok(issuer.requests.length <= 42, `${issuer.requests.length} requests`);
  const fresh = newKey('fresh');
  issuer.keys = [fresh];
  await clock.advance(1000);
  assert.equal(await nameOf(tokens, await issuer.sign({ exp }, fresh)), 'x:sam', 'a real rotation is noticed soon');
});

test('what the issuer says does not change is not requested again', async () => {
  const clock = new TestClock();
  const issuer = new TestIssuer();
  issuer.jwksHeaders = { 'cache-control': 'public, max-age=3600' };
  const tokens = follow(issuer, clock);
  await tokens.ready;
  const exp = clock.seconds() + 7200;
  assert.equal(await nameOf(tokens, await issuer.sign({ exp })), 'x:sam');
  const second = newKey('k2');
  issuer.keys = [second];
  assert.match(await nameOf(tokens, await issuer.sign({ exp }, second)), /failed to verify id token signature$/);
  await clock.advance(3600_000);
  assert.equal(await nameOf(tokens, await issuer.sign({ exp, jti: '2' }, second)), 'x:sam');
});

test('claims that are said to lie elsewhere must say where', async () => {
  const clock = new TestClock();
  const issuer = new TestIssuer();
  const tokens = follow(issuer, clock);
  await tokens.ready;
  const said = async (claims: object): Promise<string> =>
    nameOf(tokens, await issuer.sign({ exp: clock.seconds() + 60, ...claims }));
  const wrong = 'oidc: verify token: oidc: failed to unmarshal claims: json: cannot unmarshal';
  assert.equal(await said({ _claim_names: {} }), 'oidc: could not expand distributed claims: oidc: no claim sources');
  assert.equal(await said({ _claim_names: {}, _claim_sources: { a: null } }), 'x:sam');
  assert.equal(
    await said({ _claim_sources: { a: 'there' } }),
    `${wrong} string into Go struct field idToken._claim_sources of type oidc.claimSource`,
  );
  assert.equal(
    await said({ _claim_sources: { a: { endpoint: 7 } } }),
    `${wrong} number into Go struct field claimSource._claim_sources.endpoint of type string`,
  );
});
