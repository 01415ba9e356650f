// SIGHUP from a service manager: files are looked at although no change of them was seen, here because the folder that was
// watched is another one by then.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, afterEach, test } from 'node:test';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { freePort } from './support/free-port.js';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-hangup-'));
const folder = path.join(work, 'config');
let server: ChildProcess | undefined;

afterEach(async () => {
  if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
  server.kill('SIGKILL');
  await once(server, 'exit');
});
after(() => fs.rmSync(work, { recursive: true, force: true }));

for (const workers of [1, 2]) {
  test(`${workers === 1 ? 'a server' : 'every worker process'} looks at its files at SIGHUP`, async () => {
    write('Node', 'RBAC');
    const { child, log } = await start(workers, { NOTIFY_SOCKET: path.join(work, 'nobody') });
    fs.renameSync(folder, `${folder}.${workers}`);
    write('RBAC', 'Node');
    child.kill('SIGHUP');
    await pollUntil(() => log().split('Reloaded the authorization configuration').length > workers);
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });
}

test('without a service manager SIGHUP ends it', async () => {
  write('RBAC');
  const { child } = await start(1, {});
  child.kill('SIGHUP');
  assert.deepEqual(await once(child, 'exit'), [null, 'SIGHUP']);
});

function write(...types: readonly string[]): void {
  fs.mkdirSync(folder, { recursive: true });
  const authorizers = types.map((type) => ({ type, name: type.toLowerCase() }));
  const config = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration', authorizers };
  fs.writeFileSync(path.join(folder, 'authorization.json'), JSON.stringify(config));
}

async function start(
  workers: number,
  env: Record<string, string>,
): Promise<{ readonly child: ChildProcess; readonly log: () => string }> {
  const flags = [
    `--data-dir=${fs.mkdtempSync(path.join(work, 'data-'))}`,
    `--secure-port=${await freePort()}`,
    '--bind-address=127.0.0.1',
    `--workers=${workers}`,
    `--authorization-config=${path.join(folder, 'authorization.json')}`,
  ];
  const child = spawn(path.join(root, 'bin', 'binnacle'), flags, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: work, ...env },
  });
  server = child;
  let log = '';
  child.stderr.on('data', (text: Buffer) => (log += text.toString()));
  const started = workers === 1 ? 'Serving securely on' : 'All worker processes have started';
  await pollUntil(() => log.includes(started) || child.exitCode !== null);
  assert.equal(child.exitCode, null, log);
  return { child, log: () => log };
}
