// What systemd receives from a server under Type=notify with a watchdog: on a real socket, by its own program systemd-notify.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { freePort } from './support/free-port.js';
import { withWorkers } from './support/worker-flags.js';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();
const WATCHDOG_USEC = '400000';
/** Node.js has no datagram sockets of this kind. A message that is received has its descriptors closed, as systemd does. */
const LISTENER = `use Socket; $| = 1;
my ($socket, $message);
socket($socket, PF_UNIX, SOCK_DGRAM, 0) && bind($socket, sockaddr_un($ARGV[0])) or die $!;
print "listening\\n";
while (defined recv($socket, $message, 4096, 0)) { print "$message\\n" }`;

describe('a server under systemd', { skip: whyNot(), timeout: 60_000 }, () => {
  let folder: string;
  let listener: ChildProcess;
  let server: ChildProcess;
  let received = '';
  let log = '';
  const messages = (name: string): number => received.split('\n').filter((line) => line === name).length;
  before(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-notify-'));
    const socket = path.join(folder, 'notify');
    listener = spawn('perl', ['-e', LISTENER, socket], { stdio: ['ignore', 'pipe', 'inherit'] });
    listener.stdout?.on('data', (text: Buffer) => (received += text.toString()));
    await pollUntil(() => messages('listening') === 1 || listener.exitCode !== null);
    assert.equal(listener.exitCode, null);
    const flags = [
      `--data-dir=${path.join(folder, 'data')}`,
      `--secure-port=${await freePort()}`,
      '--bind-address=127.0.0.1',
    ];
    server = spawn(path.join(root, 'bin', 'binnacle'), withWorkers(flags), {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env['PATH'], HOME: folder, NOTIFY_SOCKET: socket, WATCHDOG_USEC },
    });
    server.stderr?.on('data', (text: Buffer) => (log += text.toString()));
  });
  after(async () => {
    for (const child of [server, listener]) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    fs.rmSync(folder, { recursive: true, force: true });
  });

  it('says that it is ready once it serves, and goes on to say that it lives', async () => {
    await pollUntil(() => messages('READY=1') === 1 || server.exitCode !== null);
    assert.match(log, /Serving securely on/);
    assert.equal(server.exitCode, null, log);
    await pollUntil(() => messages('WATCHDOG=1') >= 2 || server.exitCode !== null);
    assert.ok(received.indexOf('READY=1') < received.indexOf('WATCHDOG=1'), received);
  });

  it('says that it stops before it ends', async () => {
    server.kill('SIGTERM');
    assert.deepEqual(await once(server, 'exit'), [0, null], log);
    await pollUntil(() => messages('STOPPING=1') === 1);
  });
});

function whyNot(): string | false {
  if (spawnSync('systemd-notify', ['--version']).status !== 0) return 'there is no systemd-notify';
  return spawnSync('perl', ['-MSocket', '-e', '1']).status === 0 ? false : 'there is no perl to listen with';
}
