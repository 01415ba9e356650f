// The npm package as a machine with arm64 installs it, run by an emulator of such a machine: its native store above all. The
// emulator is slow and large, so that it is fetched only where somebody asks for it.
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { freePort } from './support/free-port.js';
import { installPackage, openFolder, packPackage } from './support/installed-package.js';
import { type Kubectl, kubectlProgram, kubectlWith, NO_KUBECTL } from './support/kubectl.js';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();
const machine = path.join(root, '.cache', 'arm64');
const EMULATOR = path.join(machine, 'usr', 'bin', 'qemu-aarch64-static');
const UNDER_EMULATION = ['-L', machine, path.join(machine, 'bin', 'node')];

describe('the npm package on arm64', { skip: whyNot(), timeout: 600_000 }, () => {
  let folder: string;
  let program: string;
  let port: number;
  let server: ChildProcess | undefined;
  let log = '';
  before(async () => {
    folder = openFolder('arm64');
    const { tarball } = packPackage(folder);
    const app = installPackage(tarball, path.join(folder, 'app'), '--cpu=arm64', '--os=linux');
    assert.ok(app !== undefined, 'the registry cannot be reached');
    program = path.join(app, 'node_modules', 'binnacle', 'bin', 'binnacle');
    port = await freePort();
  });
  after(async () => {
    await stop('SIGKILL');
    fs.rmSync(folder, { recursive: true, force: true });
  });
  const data = (): string => path.join(folder, 'data');
  const env = (): NodeJS.ProcessEnv => ({ PATH: process.env['PATH'], HOME: folder });
  const run = (...words: string[]): string =>
    execFileSync(EMULATOR, [...UNDER_EMULATION, program, ...words], { encoding: 'utf8', env: env() });
  const kubectl = (): Kubectl => kubectlWith(kubectlProgram() ?? '', path.join(data(), 'admin.kubeconfig'), folder);

  it('is that of arm64', () => {
    assert.match(run('version'), /linux\/arm64/);
  });

  it('serves kubectl, and finds what it stored when it is started again', async () => {
    await start();
    await kubectl()('create namespace kept');
    assert.deepEqual(await stop('SIGTERM'), [0, null], log);
    await start();
    assert.match((await kubectl()('get namespace kept -o name')).out, /^namespace\/kept$/m);
    assert.deepEqual(await stop('SIGTERM'), [0, null], log);
    assert.match(run('verify', data()), /sound\n$/);
  });

  async function start(): Promise<void> {
    const flags = [`--data-dir=${data()}`, `--secure-port=${port}`, '--bind-address=127.0.0.1'];
    const child = spawn(EMULATOR, [...UNDER_EMULATION, program, 'serve', ...flags], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: env(),
    });
    server = child;
    child.stderr.on('data', (text: Buffer) => (log += text.toString()));
    const [begin, ended] = [log.length, once(child, 'exit')];
    while (!log.includes('Serving securely on', begin) && child.exitCode === null)
      await Promise.race([once(child.stderr, 'data'), ended]);
    await pollUntil(async () => (await kubectl()('get --raw /readyz').catch(() => undefined)) !== undefined);
    assert.equal(child.exitCode, null, log);
  }

  async function stop(signal: NodeJS.Signals): Promise<unknown> {
    const child = server;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return undefined;
    child.kill(signal);
    return once(child, 'exit');
  }
});

function whyNot(): string | false {
  if (kubectlProgram() === undefined) return NO_KUBECTL;
  return fs.existsSync(EMULATOR) ? false : 'there is no arm64: run `node tools/fetch-test-binaries.mjs --arm64`';
}
