// The server as envtest of controller-runtime starts it: from the folder of programs that `binnacle envtest-assets` makes, by
// kube-apiserver's name and flags, on the etcd of that folder, with certificates and keys of its own.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { type EtcdProcess, startEtcd } from './etcd-process.js';
import { createAuthority } from './support/certificates.js';
import { freePort } from './support/free-port.js';

const root = path.resolve(process.env['BINNACLE_ROOT'] ?? '.');

describe('an environment for tests of operators', () => {
  const assets = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-assets-'));
  const program = path.join(assets, 'kube-apiserver');
  const certDir = path.join(assets, 'certs');
  execFileSync(path.join(root, 'bin', 'binnacle'), ['envtest-assets', assets]);
  fs.mkdirSync(certDir);
  const serving = createAuthority(certDir, 'serving');
  const clients = createAuthority(certDir, 'clients');
  const keys = serving.issue('service-accounts', 'client');
  const { cert, key } = serving.issue('apiserver', 'server', { ipAddresses: ['127.0.0.1'], dnsNames: ['localhost'] });
  fs.renameSync(cert, path.join(certDir, 'apiserver.crt'));
  fs.renameSync(key, path.join(certDir, 'apiserver.key'));
  const admin = clients.issue('admin', 'client', { organizations: ['system:masters'] });
  let etcd: EtcdProcess;
  let server: ChildProcess;
  let port: number;

  before(async () => {
    etcd = await startEtcd(path.join(assets, 'etcd'));
    port = await freePort();
    server = spawn(
      program,
      [
        '--allow-privileged=true',
        '--authorization-mode=RBAC',
        '--bind-address=127.0.0.1',
        `--cert-dir=${certDir}`,
        `--client-ca-file=${clients.ca}`,
        '--disable-admission-plugins=ServiceAccount',
        `--etcd-servers=${etcd.url}`,
        `--secure-port=${port}`,
        `--service-account-issuer=https://127.0.0.1:${port}/`,
        `--service-account-key-file=${keys.cert}`,
        `--service-account-signing-key-file=${keys.key}`,
        '--service-cluster-ip-range=10.0.0.0/24',
      ],
      { stdio: 'ignore' },
    );
    await pollUntil(async () => (await get('/healthz').catch(() => undefined))?.body === 'ok');
  });
  after(async () => {
    server.kill();
    await etcd.remove();
    fs.rmSync(assets, { recursive: true, force: true });
  });

  const get = (to: string, identity: https.RequestOptions = {}): Promise<{ status: number; body: string }> =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path: to, agent: false, ca: fs.readFileSync(serving.ca), ...identity };
      https
        .get(options, (response) => {
          let body = '';
          response.on('data', (bytes: Buffer) => (body += bytes.toString()));
          response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
        })
        .on('error', reject);
    });

  it('finds in the help that no port without encryption can be opened', async () => {
    const { stdout } = await promisify(execFile)(program, ['--help']);
    assert.match(stdout, /^\s*--secure-port\b/m);
    assert.doesNotMatch(stdout, /^\s*--insecure-port\b/m);
  });

  it('serves with the certificate that lies in its folder, and knows its clients by theirs', async () => {
    const identity = { cert: fs.readFileSync(admin.cert), key: fs.readFileSync(admin.key) };
    assert.equal((await get('/api/v1/namespaces/default')).status, 403);
    assert.equal((await get('/api/v1/namespaces/default', identity)).status, 200);
  });
});
