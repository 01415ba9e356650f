// kube-apiserver and etcd as envtest starts them: a folder each, free ports, no sync to disk, an administrator's token.
import { spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { freePort } from '../free-port.mjs';

const READY_EVERY_MS = 20;

/** Resolves once it is ready; `stop` ends both and removes their folder. */
export async function startEnvtestServers({ apiserver, etcd }) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'envtest-'));
  const [client, peer, port] = [await freePort(), await freePort(), await freePort()];
  const token = randomBytes(16).toString('hex');
  const keyFile = path.join(folder, 'sa.key');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  fs.writeFileSync(keyFile, privateKey.export({ type: 'pkcs1', format: 'pem' }));
  fs.writeFileSync(path.join(folder, 'tokens.csv'), `${token},admin,admin,"system:masters"\n`);
  const start = (program, args) => spawn(program, args, { cwd: folder, stdio: 'ignore' });
  const children = [
    start(etcd, [
      '--data-dir=etcd',
      '--unsafe-no-fsync',
      `--listen-client-urls=http://127.0.0.1:${client}`,
      `--advertise-client-urls=http://127.0.0.1:${client}`,
      `--listen-peer-urls=http://127.0.0.1:${peer}`,
    ]),
    start(apiserver, [
      `--etcd-servers=http://127.0.0.1:${client}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      '--cert-dir=.',
      '--token-auth-file=tokens.csv',
      '--authorization-mode=RBAC',
      '--service-cluster-ip-range=10.0.0.0/24',
      '--service-account-issuer=https://127.0.0.1',
      '--service-account-key-file=sa.key',
      '--service-account-signing-key-file=sa.key',
      '--disable-admission-plugins=ServiceAccount',
    ]),
  ];
  const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
  const request = (method, at, body) =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const sent = https.request({ host: '127.0.0.1', port, method, path: at, headers, agent }, (response) => {
        response.resume().on('end', () => resolve({ status: response.statusCode }));
      });
      sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
  const isReady = () =>
    request('GET', '/readyz').then(
      ({ status }) => status === 200,
      () => false,
    );
  while (!(await isReady())) await new Promise((resolve) => setTimeout(resolve, READY_EVERY_MS));
  return {
    request,
    pids: children.map(({ pid }) => pid),
    async stop() {
      agent.destroy();
      const ended = children.map((child) => new Promise((resolve) => child.once('exit', resolve)));
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(ended);
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}
