// runs-on: every-node
// Whatever is sent as a credential, only a refusal or the right user comes out.
import { silentLog } from '../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHmac, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '../lib/async/clock.js';
import type { HttpRequest } from '../lib/http/http.js';
import { MetricRegistry } from '../lib/telemetry/metrics.js';
import type { KubeObject } from '../machinery/object.js';
import type { UserInfo } from '../machinery/user.js';
import { AuthenticationError } from './authenticator.js';
import { createCaBundle } from './ca-bundle.js';
import { certificateExpiration } from './certificate-metrics.js';
import { type Authentication, createAuthenticator } from './create-authenticator.js';
import { createBoundTokenAuthenticator } from './service-account/bound-tokens.js';
import { createTokenIssuer } from './service-account/issuer.js';
import { fixedKeys, parseSigningKey, parseVerifyingKeys } from './service-account/keys.js';
import { createTokenUses } from './service-account/metrics.js';
import { parseTokenFile } from './token-file.js';

const ISSUER = 'https://kubernetes.default.svc';
const UID = 'd6a2a0a0-0000-4000-8000-000000000001';
const pemOf = (type: 'rsa' | 'ec'): string => {
  const { privateKey } =
    type === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
};
const rsaPem = pemOf('rsa');
const ecPem = pemOf('ec');
const objects: Record<string, KubeObject> = {
  'serviceaccounts/default/robot': { metadata: { name: 'robot', namespace: 'default', uid: UID } },
  'pods/default/p': { metadata: { name: 'p', namespace: 'default', uid: 'pod-uid' } },
};

let folder = '';
let authentication: Authentication;
const registry = new MetricRegistry();
let certificate: Buffer;
const tokens: string[] = [];

before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'binnacle-authn-'));
  const openssl = (line: string) => execFileSync('openssl', line.split(' '), { cwd: folder, stdio: 'pipe' });
  const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';
  openssl(`req -x509 ${newKey} -keyout ca.key -out ca.pem -subj /CN=ca -days 30`);
  openssl(`req -new ${newKey} -keyout c.key -out c.csr -subj /O=dev/O=qa/CN=alice`);
  writeFileSync(path.join(folder, 'ext'), 'extendedKeyUsage=clientAuth\n');
  openssl('x509 -req -in c.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out c.pem -days 30 -extfile ext');
  certificate = Buffer.from(
    readFileSync(path.join(folder, 'c.pem'), 'utf8').replace(/-----[^-]*-----|\s/g, ''),
    'base64',
  );
  const keys = [...parseVerifyingKeys(rsaPem), ...parseVerifyingKeys(ecPem)];
  authentication = createAuthenticator({
    apiAudiences: [ISSUER],
    clientCa: createCaBundle({ path: path.join(folder, 'ca.pem'), nowMs: Date.now, log: silentLog }),
    tokenFile: parseTokenFile('statictoken,bob,bob-uid,"a,b"\n', 'tokens.csv', silentLog),
    serviceAccounts: [
      createBoundTokenAuthenticator({
        issuers: [ISSUER],
        keys: fixedKeys(keys),
        apiAudiences: [ISSUER],
        objects: { get: async (resource, namespace, name) => objects[`${resource}/${namespace}/${name}`] },
        uses: createTokenUses(new MetricRegistry()),
        features: { enabled: () => true },
        nowMs: Date.now,
      }),
    ],
    anonymous: { enabled: true },
    parseCertificateUid: true,
    observeCertificate: certificateExpiration(registry),
    tokenCache: { successTtlMs: 10_000, failureTtlMs: 0, clock: systemClock },
    nowMs: Date.now,
  });
  for (const pem of [rsaPem, ecPem]) {
    const issuer = createTokenIssuer({ issuer: ISSUER, key: parseSigningKey(pem), newId: randomUUID });
    const bound = {
      namespace: 'default',
      serviceaccount: { name: 'robot', uid: UID },
      pod: { name: 'p', uid: 'pod-uid' },
    };
    const issue = (seconds: number, audience = ISSUER) =>
      issuer.issue({ bound, audiences: [audience], expirationSeconds: seconds, now: new Date() });
    tokens.push((await issue(3600)).token);
    if (pem === rsaPem) {
      expired = (await issue(-120)).token;
      foreign = (await issue(3600, 'vault')).token;
    }
  }
});
after(() => rmSync(folder, { recursive: true }));
/** A token that says what it likes, well signed. */
function signed(payload: string): string {
  const part = (text: string): string => Buffer.from(text).toString('base64url');
  const body = `${part('{"alg":"RS256"}')}.${part(payload)}`;
  return `${body}.${sign('sha256', Buffer.from(body), rsaPem).toString('base64url')}`;
}

let expired = '';
let foreign = '';

const requestWith = (headers: Record<string, string>, clientCertificates: readonly Buffer[] = []): HttpRequest =>
  ({ headers, clientCertificates, path: '/' }) as HttpRequest;

/** The user, or 401. Anything else that is thrown fails the test. */
async function userOf(request: HttpRequest): Promise<UserInfo | 401> {
  try {
    return (await authentication.authenticate(request))?.user ?? 401;
  } catch (error) {
    if (error instanceof AuthenticationError) return 401;
    throw error;
  }
}
const bearer = (token: string) => userOf(requestWith({ authorization: `Bearer ${token}` }));

test('good credentials yield their users', async () => {
  for (const token of tokens) {
    const user = await bearer(token);
    assert.ok(user !== 401);
    assert.equal(user.name, 'system:serviceaccount:default:robot');
    assert.equal(user.uid, UID);
    assert.deepEqual(user.groups, ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated']);
    assert.deepEqual(user.extra?.['authentication.kubernetes.io/pod-name'], ['p']);
    assert.match(user.extra?.['authentication.kubernetes.io/credential-id']?.[0] ?? '', /^JTI=/);
  }
  assert.deepEqual(await bearer('statictoken'), {
    name: 'bob',
    uid: 'bob-uid',
    groups: ['a', 'b', 'system:authenticated'],
  });
  const alice = await userOf(requestWith({}, [certificate]));
  assert.ok(alice !== 401);
  assert.equal(alice.name, 'alice');
  assert.deepEqual(alice.groups, ['dev', 'qa', 'system:authenticated']);
  await userOf(requestWith({}, [certificate]));
  const expires = /^apiserver_client_certificate_expiration_seconds_bucket\{le="(.*)"\} 2$/m.exec(registry.text());
  assert.equal(expires?.[1], '2.592e+06', 'thirty days at most, for each time it is shown');
  const nobody = await userOf(requestWith({}));
  assert.deepEqual(nobody, { name: 'system:anonymous', groups: ['system:unauthenticated'] });
});

test('old tokens, tokens for others and forged algorithms are refused', async () => {
  assert.equal(await bearer(expired), 401);
  assert.equal(await bearer(foreign), 401);
  await assert.rejects(authentication.reviewToken(expired, []), /service account token has expired/);
  await assert.rejects(
    authentication.reviewToken(foreign, []),
    /token audiences \["vault"\] is invalid for the target audiences \["https:\/\/kubernetes.default.svc"\]/,
  );
  const [, payload = ''] = (tokens[0] ?? '').split('.');
  const header = (alg: string) => Buffer.from(JSON.stringify({ alg })).toString('base64url');
  assert.equal(await bearer(`${header('none')}.${payload}.`), 401);
  const secret = parseVerifyingKeys(rsaPem)[0]?.key.export({ format: 'pem', type: 'spki' }) ?? '';
  const signature = createHmac('sha256', secret)
    .update(`${header('HS256')}.${payload}`)
    .digest('base64url');
  assert.equal(await bearer(`${header('HS256')}.${payload}.${signature}`), 401);
});

test('tokens with any change are refused, or still the same user', async () => {
  const right = new Set(['system:serviceaccount:default:robot', 'bob', 'system:anonymous']);
  const changed = fc
    .tuple(fc.constantFrom(0, 1), fc.nat(2000), fc.constantFrom('A', 'b', '.', '_', ''), fc.nat(3))
    .map(([which, at, by, cut]) => {
      const token = tokens[which] ?? '';
      const place = at % token.length;
      return token.slice(0, place) + by + token.slice(place + cut);
    });
  await fc.assert(
    fc.asyncProperty(fc.oneof(changed, fc.string(), fc.base64String()), async (token) => {
      const user = await bearer(token);
      if (user === 401) return;
      assert.ok(right.has(user.name), `${token} became ${user.name}`);
      assert.ok(!user.groups.includes('system:masters'));
      if (user.name.startsWith('system:serviceaccount')) assert.equal(user.uid, UID);
    }),
    { numRuns: 500 },
  );
});

test('certificates with any change are refused, or still the same user', async () => {
  const changed = fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }), fc.nat(2)).map(([at, byte, mode]) => {
    const place = at % certificate.length;
    const copy = Buffer.from(certificate);
    if (mode === 0) copy[place] = byte;
    return mode === 1 ? copy.subarray(0, place) : mode === 2 ? Buffer.concat([copy, Buffer.from([byte])]) : copy;
  });
  const anyBytes = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
  await fc.assert(
    fc.asyncProperty(fc.oneof(changed, anyBytes), async (bytes) => {
      const user = await userOf(requestWith({}, [bytes]));
      if (user !== 401) assert.deepEqual([user.name, ...user.groups], ['alice', 'dev', 'qa', 'system:authenticated']);
    }),
    { numRuns: 500 },
  );
});

test('a time that no clock has does not make a token last, and a claim said twice makes it none', async () => {
  const soon = Math.floor(Date.now() / 1000) + 600;
  const account = `{"namespace":"default","serviceaccount":{"name":"robot","uid":"${UID}"}}`;
  const token = (times: string, claims = account): string =>
    signed(`{"iss":"${ISSUER}","aud":"${ISSUER}",${times},"kubernetes.io":${claims}}`);
  for (const times of [`"exp":${soon}`, '"exp":9000000000000000000', `"exp":${soon},"nbf":1e300,"iat":1e300`]) {
    assert.notEqual(await bearer(token(times)), 401, times);
  }
  for (const times of [
    '"exp":1e300',
    '"exp":-1e300',
    '"exp":1e400',
    '"exp":9223372036854775807',
    '"exp":9223372036854775808',
    `"exp":"${soon}"`,
    `"exp":1,"exp":${soon}`,
    `"exp":${soon},"aud":"${ISSUER}"`,
    `"exp":${soon},"a":{"b":1,"b":2}`,
  ]) {
    assert.equal(await bearer(token(times)), 401, times);
  }
  const twice = `{"namespace":"default","namespace":"default","serviceaccount":{"name":"robot","uid":"${UID}"}}`;
  assert.equal(await bearer(token(`"exp":${soon}`, twice)), 401);
});
