// runs-on: every-node
// workers: one, every worker logs what is wrong with a file
// What is wrong with a file that changed under the running program is logged once, in one line that names the file and
// the field, and what was in effect stays so.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { createAuthority } from './support/certificates.js';
import { startTestServer, type TestServer } from './support/server.js';
import { pollUntil, settled } from '../src/lib/testing/poll-until.js';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-reloads-'));
const files = {
  authentication: path.join(folder, 'authentication.yaml'),
  authorization: path.join(folder, 'authorization.yaml'),
  encryption: path.join(folder, 'encryption.yaml'),
};
const serving = createAuthority(folder, 'authority').issue('server', 'server', { ipAddresses: ['127.0.0.1'] });
const APISERVER = 'apiserver.config.k8s.io/v1';
const of = (kind: string, rest: string): string => `apiVersion: ${APISERVER}\nkind: ${kind}\n${rest}\n`;
const authorization = (...types: string[]): string =>
  of(
    'AuthorizationConfiguration',
    `authorizers: [${types.map((type) => `{type: ${type}, name: ${type.toLowerCase()}}`).join(', ')}]`,
  );
let server: TestServer;

before(async () => {
  replace(files.authentication, of('AuthenticationConfiguration', 'jwt: []'));
  replace(files.authorization, authorization('Node', 'RBAC'));
  replace(files.encryption, encryption('QUJDREVGR0hJSktMTU5PUA=='));
  server = await startTestServer({
    adminToken: 'admin-token',
    authorizationModes: [],
    flags: [
      `--authentication-config=${files.authentication}`,
      `--authorization-config=${files.authorization}`,
      `--encryption-provider-config=${files.encryption}`,
      '--encryption-provider-config-automatic-reload',
      `--tls-cert-file=${serving.cert}`,
      `--tls-private-key-file=${serving.key}`,
    ],
  });
});

after(async () => {
  await server.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

const CASES: readonly { what: string; change: () => void; says: readonly string[] }[] = [
  {
    what: 'an authentication configuration with a wrong value',
    change: () =>
      replace(files.authentication, of('AuthenticationConfiguration', 'jwt: [{issuer: {url: "http://x"}}]')),
    says: [files.authentication, 'jwt[0].issuer.url'],
  },
  {
    what: 'an authentication configuration with an unknown field',
    change: () => replace(files.authentication, of('AuthenticationConfiguration', 'jwtt: []')),
    says: [files.authentication, 'jwtt'],
  },
  {
    what: 'an authorization configuration with a wrong value',
    change: () => replace(files.authorization, of('AuthorizationConfiguration', 'authorizers: [{type: X, name: x}]')),
    says: [files.authorization, 'authorizers[0].type'],
  },
  {
    what: 'an authorization configuration that is gone',
    change: () => fs.rmSync(files.authorization),
    says: [files.authorization, 'no such file or directory'],
  },
  {
    what: 'an encryption configuration with a wrong key',
    change: () => replace(files.encryption, encryption('QUJD')),
    says: [files.encryption, 'resources[0].providers[0].aesgcm.keys[0].secret'],
  },
  {
    what: 'a serving certificate that is none',
    change: () => replace(serving.cert, 'none\n'),
    says: [serving.cert, serving.key, 'failed to find any PEM data in certificate input'],
  },
];

for (const { what, change, says } of CASES) {
  test(`${what} is logged once, in one line`, async () => {
    const from = server.log().length;
    change();
    const lines = (): string[] => server.log().slice(from).split('\n').slice(0, -1);
    await pollUntil(() => lines().some((line) => line.startsWith('E')));
    // Whatever else changes in the folder, the same problem is not logged again.
    for (let i = 0; i < 3; i++) {
      fs.writeFileSync(path.join(folder, 'beside'), String(i));
      await settled(() => lines().length);
    }
    assert.equal(lines().length, 1, lines().join('\n'));
    for (const each of says) assert.ok(lines()[0]?.includes(each), `${each}: ${lines()[0]}`);
    assert.equal((await server.request('GET', '/api/v1/namespaces')).status, 200, 'what was in effect stays so');
  });
}

test('an authorization configuration that is there again takes effect', async () => {
  replace(files.authorization, authorization('RBAC', 'Node'));
  await pollUntil(() => server.log().includes('Reloaded the authorization configuration'));
});

function encryption(secret: string): string {
  const providers = `[{aesgcm: {keys: [{name: one, secret: ${secret}}]}}, {identity: {}}]`;
  return of('EncryptionConfiguration', `resources: [{resources: [secrets], providers: ${providers}}]`);
}

/** In one step: a file that is half written would be tried, too. */
function replace(file: string, text: string): void {
  fs.writeFileSync(`${file}.new`, text);
  fs.renameSync(`${file}.new`, file);
}
