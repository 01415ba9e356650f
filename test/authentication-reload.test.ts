// The file of --authentication-config, changed under the running program: a good one takes effect, a bad one leaves the
// old in effect and says so, and a good one after that takes effect again.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import fs from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { exportJWK, SignJWT } from 'jose';
import { createAuthority } from './support/certificates.js';
import { startTestServer, type TestServer } from './support/server.js';
import { ofEveryWorker } from './support/worker-flags.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';

const AUDIENCE = 'https://kubernetes.acme.test';
const REVIEWS = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-reload-'));
const file = path.join(folder, 'authentication.json');
const authority = createAuthority(folder, 'issuers');
const serving = authority.issue('issuer', 'server', { ipAddresses: ['127.0.0.1'] });
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
let issuer: https.Server;
let issuerUrl = '';
let token = '';
let server: TestServer;

before(async () => {
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', use: 'sig', alg: 'ES256' }] };
  issuer = https.createServer(
    { cert: fs.readFileSync(serving.cert), key: fs.readFileSync(serving.key) },
    (request, response) => {
      const about = { issuer: issuerUrl, jwks_uri: `${issuerUrl}/keys` };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(request.url === '/keys' ? jwks : about));
    },
  );
  await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve));
  issuerUrl = `https://127.0.0.1:${(issuer.address() as AddressInfo).port}`;
  token = await new SignJWT({ sub: 'eve' })
    .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
    .setIssuer(issuerUrl)
    .setAudience(AUDIENCE)
    .setExpirationTime('1h')
    .sign(privateKey);
  write(JSON.stringify(configuration('one:')));
  server = await startTestServer({ flags: [`--authentication-config=${file}`] });
});

after(async () => {
  await server.stop();
  issuer.closeAllConnections();
  issuer.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

test('a good file takes effect, a bad one leaves the old in effect, a good one takes effect again', async () => {
  await pollUntil(() => isUsername('one:eve'));

  write(JSON.stringify(configuration('two:')));
  await pollUntil(() => isUsername('two:eve'));
  assert.deepEqual(await reloads(), { success: 1, failure: 0 });
  assert.match(server.log(), /Reloaded the authentication configuration/);

  write('{"kind":"AuthenticationConfiguration","apiVersion":"apiserver.config.k8s.io/v1","jwt":[{"issuer":{}}]}');
  await pollUntil(async () => (await reloads()).failure === 1);
  assert.match(server.log(), /Kept the authentication configuration in use/);
  assert.ok(await isUsername('two:eve'));

  write(JSON.stringify(configuration('three:')));
  await pollUntil(() => isUsername('three:eve'));
  assert.deepEqual(await reloads(), { success: 2, failure: 1 });
});

const configuration = (prefix: string): object => ({
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AuthenticationConfiguration',
  jwt: [
    {
      issuer: { url: issuerUrl, audiences: [AUDIENCE], certificateAuthority: fs.readFileSync(authority.ca, 'utf8') },
      claimMappings: { username: { claim: 'sub', prefix } },
    },
  ],
});

/** As operators' tools do it: whole, or not at all. */
function write(text: string): void {
  fs.writeFileSync(`${file}.new`, text);
  fs.renameSync(`${file}.new`, file);
}

const isUsername = async (name: string): Promise<boolean> =>
  (await ofEveryWorker(username)).every((found) => found === name);

/** Who the token's bearer is; empty for nobody. */
function username(): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = https.request(
      `${server.url}${REVIEWS}`,
      {
        method: 'POST',
        agent: false,
        ca: fs.readFileSync(path.join(server.folder, 'pki', 'ca.crt')),
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => {
          const { status } = JSON.parse(text) as { status: { userInfo?: { username: string } } };
          resolve(response.statusCode === 201 ? (status.userInfo?.username ?? '') : '');
        });
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }));
  });
}

async function reloads(): Promise<{ success: number; failure: number }> {
  const { body } = await server.request('GET', '/metrics');
  const count = (status: string): number => {
    const name = 'apiserver_authentication_config_controller_automatic_reloads_total{';
    const line = body.split('\n').find((one) => one.startsWith(name) && one.includes(`status="${status}"`));
    return Number(line?.split(' ').at(-1) ?? 0);
  };
  return { success: count('success'), failure: count('failure') };
}
