import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { ConfigError } from './config-error.js';
import { inClusterConfig } from './in-cluster.js';

test('outside a pod there is no way in, and it is said so', () => {
  assert.throws(() => inClusterConfig({}), ConfigError);
  const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
  assert.throws(() => inClusterConfig(env, '/absent'), {
    message: /^open \/absent\/token: no such file or directory$/,
  });
});

test('in a pod the server, its authority and the token are found; a renewed token is used', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'in-cluster-'));
  fs.writeFileSync(path.join(folder, 'token'), 'first\n');
  fs.writeFileSync(path.join(folder, 'ca.crt'), 'trusted');
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' };
  const config = inClusterConfig(env, folder);
  assert.equal(config.server.href, 'https://[fd00::1]:6443/');
  assert.equal(String(config.tls().ca), 'trusted');
  fs.writeFileSync(path.join(folder, 'token'), 'renewed');
  assert.deepEqual(config.headers(), { authorization: 'Bearer renewed' });
  fs.rmSync(folder, { recursive: true });
});
