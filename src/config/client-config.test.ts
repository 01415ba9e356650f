import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { clientConfigOf } from './client-config.js';
import { ConfigError } from './config-error.js';
import { loadKubeconfig, parseKubeconfig } from './kubeconfig.js';

const config = (cluster: string, user: string): string => `
clusters: [{name: c, cluster: {${cluster}}}]
users: [{name: u, user: {${user}}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`;
const refusal = (text: string): string => {
  try {
    clientConfigOf(parseKubeconfig(text, '/somewhere/config'));
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
  return 'accepted';
};

test('server, trust and credentials come from the current context', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kubeconfig-'));
  fs.writeFileSync(path.join(folder, 'ca.crt'), 'trusted');
  fs.writeFileSync(path.join(folder, 'token'), 'first\n');
  const file = path.join(folder, 'config');
  fs.writeFileSync(file, config('server: "https://hook.test/x", certificate-authority: ca.crt', 'tokenFile: token'));
  const client = clientConfigOf(loadKubeconfig(file));
  assert.equal(client.server.href, 'https://hook.test/x');
  assert.equal(String(client.tls().ca), 'trusted');
  assert.deepEqual(client.headers(), { authorization: 'Bearer first' });
  fs.writeFileSync(path.join(folder, 'token'), 'renewed');
  assert.deepEqual(client.headers(), { authorization: 'Bearer renewed' });
  fs.rmSync(folder, { recursive: true });
});

test('all that is wrong is told', () => {
  assert.equal(refusal(config('', '')), 'invalid configuration: no server found for cluster "c"');
  assert.equal(
    refusal(config('server: a, certificate-authority: /absent', 'client-certificate-data: YQ==')),
    'invalid configuration: [client-key-data or client-key must be specified for u to use the clientCert authentication method., ' +
      'unable to read certificate-authority /absent for c due to open /absent: no such file or directory]',
  );
  assert.equal(
    refusal('current-context: other\nclusters: [{name: c, cluster: {server: a}}]'),
    'invalid configuration: context was not found for specified context: other',
  );
  assert.match(refusal(''), /no configuration has been provided/);
  assert.match(refusal(config('server: a, certificate-authority-data: "!"', '')), /illegal base64 data/);
  assert.throws(() => loadKubeconfig('/absent/config'), { message: 'stat /absent/config: no such file or directory' });
});
