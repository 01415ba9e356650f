// A real OpenID provider in front of the real program: its tokens are people, their groups are roles, and both stay so
// when the provider goes away.
import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import fs from 'node:fs';
import type http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { generateKeys, issueCertificate, privateKeyPem } from '../src/lib/x509/issue-certificate.js';
import { startTestServer, type TestServer } from './support/server.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';

/** It brings no types of its own. */
const PROVIDER: string = 'oidc-provider';
const AUDIENCE = 'https://kubernetes.acme.test';
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-openid-'));
const pki = makePki();
let provider: { readonly url: string; readonly close: () => Promise<void> };
let server: TestServer;

before(async () => {
  provider = await startProvider();
  const file = path.join(folder, 'authentication.json');
  fs.writeFileSync(file, JSON.stringify(configuration(provider.url)));
  server = await startTestServer({ flags: [`--authentication-config=${file}`] });
});

after(async () => {
  await server.stop();
  await provider.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

test('tokens of a real provider are users with their groups, before and after the provider goes', async () => {
  const token = await tokenOf('builder');
  const other = await tokenOf('builder');
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const me = await pollUntil(
    () => call(token, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', review),
    // The server looks for its issuers while it serves already.
    ({ status }) => status !== 401,
  );
  assert.equal(me.status, 201, me.body);
  const { userInfo } = (JSON.parse(me.body) as { status: { userInfo: Record<string, unknown> } }).status;
  assert.equal(userInfo['username'], 'acme:builder');
  assert.deepEqual(userInfo['groups'], ['acme:developers', 'system:authenticated']);

  assert.equal((await call(token, 'GET', '/api/v1/namespaces/default/pods')).status, 403);
  const bound = await server.request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'developers-look' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:aggregate-to-view' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'acme:developers' }],
  });
  assert.equal(bound.status, 201, bound.body);
  assert.equal((await call(token, 'GET', '/api/v1/namespaces/default/pods')).status, 200);
  assert.equal((await call(token, 'DELETE', '/api/v1/namespaces/default/pods/x')).status, 403);

  await provider.close();
  assert.equal((await call(other, 'GET', '/api/v1/namespaces/default/pods')).status, 200, 'the keys are known');
  const [head = '', body = ''] = other.split('.');
  const forged = `${head}.${body}.${'A'.repeat(342)}`;
  const refused = await call(forged, 'GET', '/api/v1/namespaces/default/pods');
  assert.equal(refused.status, 401);
  assert.equal((JSON.parse(refused.body) as { message: string }).message, 'Unauthorized', 'and nothing of why');
});

const configuration = (issuer: string): object => ({
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AuthenticationConfiguration',
  jwt: [
    {
      issuer: { url: issuer, audiences: [AUDIENCE], certificateAuthority: pki.ca },
      claimMappings: {
        username: { claim: 'sub', prefix: 'acme:' },
        groups: { expression: 'dyn(claims.roles).map(role, "acme:" + role)' },
      },
      claimValidationRules: [{ expression: 'claims.exp - claims.iat <= 3600', message: 'an hour at most' }],
      userValidationRules: [{ expression: '!user.username.startsWith("system:")' }],
    },
  ],
});

interface ProviderClass {
  new (issuer: string, options: object): { callback(): http.RequestListener };
}

async function startProvider(): Promise<typeof provider> {
  const { default: Provider } = (await import(PROVIDER)) as { default: ProviderClass };
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  let listener: http.RequestListener = (_request, response) => response.end();
  const listening = https.createServer({ cert: pki.cert, key: pki.key }, (request, response) =>
    listener(request, response),
  );
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  const resource = {
    scope: '',
    audience: AUDIENCE,
    accessTokenFormat: 'jwt',
    accessTokenTTL: 600,
    jwt: { sign: { alg: 'RS256' } },
  };
  listener = new Provider(url, {
    clients: [
      {
        client_id: 'builder',
        client_secret: 'a-secret-of-some-length',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'r1', use: 'sig', alg: 'RS256' }] },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => AUDIENCE,
        getResourceServerInfo: () => resource,
      },
    },
    extraTokenClaims: () => ({ roles: ['developers'] }),
  }).callback();
  let closed: Promise<void> | undefined;
  return {
    url,
    close: () =>
      (closed ??= new Promise((resolve) => {
        listening.close(() => resolve());
        listening.closeAllConnections();
      })),
  };
}

async function tokenOf(client: string): Promise<string> {
  const basic = Buffer.from(`${client}:a-secret-of-some-length`).toString('base64');
  const answer = await send(`${provider.url}/token`, {
    method: 'POST',
    ca: pki.ca,
    headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: `Basic ${basic}` },
    body: 'grant_type=client_credentials',
  });
  assert.equal(answer.status, 200, answer.body);
  return (JSON.parse(answer.body) as { access_token: string }).access_token;
}

const call = (token: string, method: string, to: string, body?: object): Promise<Answer> =>
  send(`${server.url}${to}`, {
    method,
    ca: fs.readFileSync(path.join(server.folder, 'pki', 'ca.crt')),
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

interface Answer {
  readonly status: number;
  readonly body: string;
}

function send(url: string, { body, ...options }: https.RequestOptions & { body?: string }): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = https.request(url, { ...options, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}

function makePki(): { readonly ca: string; readonly cert: string; readonly key: string } {
  const issuer = { subject: { commonName: 'acme' }, keys: generateKeys() };
  const keys = generateKeys();
  const times = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };
  const ca = issueCertificate({
    ...times,
    subject: issuer.subject,
    publicKey: issuer.keys.publicKey,
    issuer,
    use: 'authority',
  });
  const cert = issueCertificate({
    ...times,
    subject: { commonName: 'provider' },
    publicKey: createPublicKey(keys.privateKey),
    issuer,
    use: 'server',
    ipAddresses: ['127.0.0.1'],
  });
  return { ca, cert, key: privateKeyPem(keys.privateKey) };
}
