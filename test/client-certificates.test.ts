// Certificates of clients: those that others show to this server, and the one that it shows to extension servers.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { createAuthority } from './support/certificates.js';
import { json, registerExtension } from './support/extension-server.js';
import { startTestServer, type TestServer } from './support/server.js';
import { skipWithWorkers } from './support/worker-flags.js';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-clients-'));
const authority = createAuthority(folder, 'other-authority');
const [certFile, keyFile] = [path.join(folder, 'proxy.crt'), path.join(folder, 'proxy.key')];
let server: TestServer;

before(async () => {
  const { cert, key } = authority.issue('first', 'client');
  fs.copyFileSync(cert, certFile);
  fs.copyFileSync(key, keyFile);
  server = await startTestServer({
    flags: [`--proxy-client-cert-file=${certFile}`, `--proxy-client-key-file=${keyFile}`],
  });
});
after(async () => {
  await server.stop();
  fs.rmSync(folder, { recursive: true });
});

test('without an authority for clients a certificate is as none: the request is anonymous, or of its token', async () => {
  const { cert, key } = authority.issue('stranger', 'client', { organizations: ['system:masters'] });
  const status = async (to: string, headers = {}): Promise<number> => {
    const identity = { cert: fs.readFileSync(cert), key: fs.readFileSync(key), rejectUnauthorized: false };
    const options = { ...identity, agent: false, headers } as const;
    const response = await new Promise<{ statusCode?: number; resume(): void }>((resolve, reject) => {
      https.get(server.url + to, options, resolve).on('error', reject);
    });
    response.resume();
    return response.statusCode ?? 0;
  };
  assert.equal(await status('/version'), 200);
  assert.equal(await status('/api/v1/secrets'), 403);
  assert.equal(await status('/version', { authorization: 'Bearer wrong' }), 401);
});

const skip = skipWithWorkers('each worker has connections of its own, and logs its own reload');
test('a proxy client certificate that is replaced is shown at the next request', { skip }, async () => {
  const [group, version] = ['shown.example', 'v1'];
  const pki = (name: string): Buffer => fs.readFileSync(path.join(server.folder, 'pki', name));
  const secrets = { cert: pki('apiserver.crt'), key: pki('apiserver.key') };
  let connections = 0;
  const extension = https.createServer(
    { ...secrets, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const list = { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/${version}`, resources: [] };
      if (request.url === `/apis/${group}/${version}`) return json(response, list);
      json(response, { shown: (request.socket as TLSSocket).getPeerCertificate().subject?.CN });
    },
  );
  extension.on('secureConnection', () => connections++);
  await new Promise<void>((resolve) => extension.listen(0, '127.0.0.1', resolve));
  try {
    await registerExtension(server, { group, version, port: (extension.address() as AddressInfo).port });
    const shown = async (): Promise<unknown> =>
      (JSON.parse((await server.request('GET', `/apis/${group}/${version}/things`)).body) as { shown?: unknown }).shown;
    await pollUntil(async () => (await shown()) === 'first');
    const opened = connections;
    for (let i = 0; i < 5; i++) assert.equal(await shown(), 'first');
    assert.equal(connections, opened, 'a connection is used again');

    const { cert, key } = authority.issue('second', 'client');
    fs.copyFileSync(cert, certFile);
    await pollUntil(() => server.log().includes('Kept the proxy client certificate in use'));
    assert.equal(await shown(), 'first', 'a certificate without its key is not used');
    fs.copyFileSync(key, keyFile);
    await pollUntil(() => server.log().includes('Reloaded the proxy client certificate'));
    assert.equal(await shown(), 'second');
  } finally {
    extension.close();
    extension.closeAllConnections();
  }
});
