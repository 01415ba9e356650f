// The Debian package in a root of its own: what this machine has, with a layer above it that takes all changes. It needs
// root and overlayfs for that.
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { freePort } from './support/free-port.js';
import { type Kubectl, kubectlProgram, kubectlWith } from './support/kubectl.js';

/** Of 100. */
const MAX_EXPOSURE = 20;
const kubectlFile = kubectlProgram();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-debian-'));
for (const name of ['changes', 'work', 'root']) fs.mkdirSync(path.join(folder, name));
const at = (name: string): string => path.join(folder, name);
/** A file as the root has it, if it was written there. */
const changed = (file: string): string => path.join(folder, 'changes', file);

const MOUNT = `mount -t overlay overlay -o lowerdir=/,upperdir=${at('changes')},workdir=${at('work')} ${at('root')} &&
  mount --bind /proc ${at('root')}/proc && mount --bind /dev ${at('root')}/dev && exec chroot ${at('root')} "$@"`;
const intoRoot = (...words: string[]): string[] => ['--mount', 'sh', '-c', MOUNT, 'sh', ...words];

/** Runs in the root; throws with all that was printed where it does not end with 0. */
function inRoot(...words: string[]): string {
  const { status, stdout, stderr } = spawnSync('unshare', intoRoot(...words), { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${words.join(' ')}: ${status}\n${stdout}${stderr}`);
  return stdout;
}

const reason = whyNot();
if (reason !== false) fs.rmSync(folder, { recursive: true });

describe('the Debian package', { skip: reason, timeout: 300_000 }, () => {
  let port: number;
  let server: ChildProcess | undefined;
  before(async () => {
    port = await freePort();
    for (const version of ['0.1.0', '0.1.1']) {
      execFileSync(process.execPath, [
        'tools/package-debian.mjs',
        '--draft',
        '--out',
        at('packages'),
        '--version',
        version,
      ]);
    }
    fs.mkdirSync(changed('srv'), { recursive: true });
    for (const name of fs.readdirSync(at('packages'))) fs.copyFileSync(at(`packages/${name}`), changed(`srv/${name}`));
  });
  after(async () => {
    await stop();
    fs.rmSync(folder, { recursive: true, force: true });
  });
  const install = (version: string): string =>
    inRoot('sh', '-c', `DEBIAN_FRONTEND=noninteractive dpkg --force-confold -i /srv/binnacle_${version}_*.deb`);
  const exists = (file: string): boolean => spawnSync('unshare', intoRoot('test', '-e', file)).status === 0;

  it('installs with a user of its own, whose folder nobody else reads', () => {
    install('0.1.0');
    assert.match(inRoot('getent', 'passwd', 'binnacle'), /:\/var\/lib\/binnacle:\/usr\/sbin\/nologin\n$/);
    assert.equal(inRoot('stat', '-c', '%U:%G %a', '/var/lib/binnacle'), 'binnacle:binnacle 700\n');
    assert.match(inRoot('binnacle', 'version'), /^Binnacle /);
  });

  describe('the unit', { skip: !fs.existsSync('/usr/bin/systemd-analyze') && 'there is no systemd' }, () => {
    const unit = '/usr/lib/systemd/system/binnacle.service';
    const analyze = (...words: string[]): { readonly status: number | null; readonly stderr: string } =>
      spawnSync('unshare', intoRoot('systemd-analyze', ...words), { encoding: 'utf8' });

    it('is understood by systemd', () => {
      const { status, stderr } = analyze('verify', '--man=no', unit);
      assert.deepEqual(stderr.match(/.*binnacle.*/g), null);
      assert.equal(status, 0);
    });

    it('leaves the server little of the machine, as systemd judges it', () => {
      const { status, stderr } = analyze('security', '--offline=true', `--threshold=${MAX_EXPOSURE}`, unit);
      assert.equal(status, 0, stderr);
    });
  });

  it('serves as the unit starts it, with the flags of /etc/binnacle', async () => {
    const flags = inRoot('cat', '/etc/binnacle/flags').replace('--secure-port=6443', `--secure-port=${port}`);
    fs.mkdirSync(changed('etc/binnacle'), { recursive: true });
    fs.writeFileSync(changed('etc/binnacle/flags'), flags);
    await start();
    await kubectl()('create namespace kept');
    await stop();
  });

  it('keeps flags and data when it is upgraded', async () => {
    install('0.1.1');
    assert.match(inRoot('cat', '/etc/binnacle/flags'), new RegExp(`--secure-port=${port}`));
    await start();
    assert.match((await kubectl()('get namespace kept -o name')).out, /^namespace\/kept$/m);
    await stop();
  });

  it('leaves data and configuration when it is removed, and nothing when it is purged', () => {
    inRoot('dpkg', '--remove', 'binnacle');
    assert.equal(exists('/usr/bin/binnacle'), false);
    assert.equal(exists('/var/lib/binnacle/store.mdb'), true);
    assert.equal(exists('/etc/binnacle/flags'), true);
    inRoot('dpkg', '--purge', 'binnacle');
    for (const file of ['/var/lib/binnacle', '/etc/binnacle', '/usr/lib/binnacle'])
      assert.equal(exists(file), false, file);
    assert.equal(spawnSync('unshare', intoRoot('getent', 'passwd', 'binnacle')).status, 2);
  });

  const kubectl = (): Kubectl => kubectlWith(kubectlFile ?? '', changed('var/lib/binnacle/admin.kubeconfig'), folder);

  async function start(): Promise<void> {
    const [, words = ''] = /^ExecStart=(.*)$/m.exec(inRoot('cat', '/usr/lib/systemd/system/binnacle.service')) ?? [];
    const user = ['setpriv', '--reuid=binnacle', '--regid=binnacle', '--clear-groups'];
    const child = spawn('unshare', intoRoot(...user, ...words.split(' ')), { stdio: ['ignore', 'ignore', 'pipe'] });
    server = child;
    let log = '';
    child.stderr.on('data', (text: Buffer) => (log += text.toString()));
    await pollUntil(() => log.includes('Serving securely on') || child.exitCode !== null);
    assert.equal(child.exitCode, null, log);
    await pollUntil(async () => (await kubectl()('get --raw /readyz').catch(() => undefined)) !== undefined);
  }

  async function stop(): Promise<void> {
    if (server === undefined || server.exitCode !== null) return;
    const ended = new Promise((resolve) => server?.on('exit', resolve));
    server.kill('SIGTERM');
    assert.equal(await ended, 0);
  }
});

function whyNot(): string | false {
  if (kubectlFile === undefined) return 'there is no kubectl';
  if (!fs.existsSync('/usr/bin/dpkg-deb')) return 'there is no dpkg-deb';
  if (spawnSync('unshare', intoRoot('true')).status !== 0) return 'a root of its own needs root and overlayfs';
  return spawnSync('dpkg-query', ['-W', 'nodejs', 'adduser']).status === 0 ? false : "nodejs is not Debian's";
}
