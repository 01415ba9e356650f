// The Debian package under the real systemd: process 1 of a machine of its own, with this machine's files below a layer that
// takes all changes. It needs root, overlayfs, and a control group of systemd's own.
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { kubectlProgram, NO_KUBECTL } from './support/kubectl.js';

const GROUP = `/sys/fs/cgroup/systemd/binnacle-test-${process.pid}`;
const TARGET = '[Unit]\nDescription=The test\nWants=systemd-journald.service\nAllowIsolate=yes\n';

/** $0 is the folder. Only what belongs to this machine alone can be written: no kernel settings, no devices. */
const BOOT = `
  at=$0/root
  mount --make-rprivate /
  ip link set lo up
  mount -t overlay overlay -o "lowerdir=/,upperdir=$0/changes,workdir=$0/work" "$at"
  mount -t proc proc "$at/proc"
  mount --bind "$at/proc/sys" "$at/proc/sys"
  mount -o remount,ro,bind "$at/proc/sys"
  mount -t sysfs -o ro sysfs "$at/sys"
  mount -t tmpfs tmpfs "$at/sys/fs/cgroup"
  mkdir "$at/sys/fs/cgroup/systemd"
  mount -t cgroup -o none,name=systemd cgroup "$at/sys/fs/cgroup/systemd"
  for each in run tmp dev; do mount -t tmpfs -o mode=755 tmpfs "$at/$each"; done
  chmod 1777 "$at/tmp"
  for each in null zero full random urandom tty; do touch "$at/dev/$each"; mount --bind "/dev/$each" "$at/dev/$each"; done
  mkdir "$at/dev/shm" "$at/dev/pts"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$at/dev/pts"
  ln -s pts/ptmx "$at/dev/ptmx"
  ln -s /proc/self/fd "$at/dev/fd"
  mkdir -p "$at/mnt" "$at/srv"
  mount --bind "$0/packages" "$at/srv"
  cd "$at"
  pivot_root . mnt
  umount -l /mnt
  mount --make-rshared /
  exec env -i container=test PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin \\
    /lib/systemd/systemd --system --unit=binnacle-test.target --log-target=journal`;

describe('the Debian package under systemd', { skip: whyNot(), timeout: 300_000 }, () => {
  let folder: string;
  let machine: ChildProcess;
  let init: string;
  const at = (name: string): string => path.join(folder, name);
  before(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-systemd-'));
    for (const name of ['changes/etc/systemd/system', 'work', 'root', 'packages'])
      fs.mkdirSync(at(name), { recursive: true });
    fs.writeFileSync(at('changes/etc/systemd/system/binnacle-test.target'), TARGET);
    fs.copyFileSync(kubectlProgram() ?? '', at('packages/kubectl'));
    for (const version of ['0.1.0', '0.1.1']) {
      const words = ['tools/package-debian.mjs', '--draft', '--out', at('packages'), '--version', version];
      execFileSync(process.execPath, words);
    }
    machine = start(folder);
    init = await pollUntil(() => childOf(machine));
    await pollUntil(() => spawnSync('nsenter', [...INTO(init), 'systemctl', 'is-system-running']).status === 0);
  });
  after(async () => {
    if (machine.exitCode === null) {
      machine.kill('SIGKILL');
      await once(machine, 'exit');
    }
    // The groups of what has ended can be removed a moment later.
    await pollUntil(() => {
      spawnSync('find', [GROUP, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';']);
      return !fs.existsSync(GROUP);
    });
    fs.rmSync(folder, { recursive: true, force: true });
  });
  const run = (...words: string[]): string => {
    const { status, stdout, stderr } = spawnSync('nsenter', [...INTO(init), ...words], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${words.join(' ')}: ${status}\n${stdout}${stderr}${journal()}`);
    return stdout.trim();
  };
  const journal = (): string =>
    spawnSync('nsenter', [...INTO(init), 'journalctl', '--no-pager', '--unit=binnacle'], { encoding: 'utf8' }).stdout;
  const property = (name: string): string => run('systemctl', 'show', '--value', `--property=${name}`, 'binnacle');
  const kubectl = (...words: string[]): string =>
    run('/srv/kubectl', '--kubeconfig=/var/lib/binnacle/admin.kubeconfig', ...words);
  const install = (version: string): string =>
    run('sh', '-c', `DEBIAN_FRONTEND=noninteractive dpkg --force-confold -i /srv/binnacle_${version}_*.deb`);

  it('starts when it is installed, and the start is over when the server is ready', () => {
    // Images of Debian have one that keeps packages from starting services.
    run('rm', '-f', '/usr/sbin/policy-rc.d');
    install('0.1.0');
    assert.equal(kubectl('get', '--raw', '/readyz'), 'ok');
    assert.equal(run('systemctl', 'is-enabled', 'binnacle'), 'enabled');
    assert.match(journal(), /Serving securely on 127\.0\.0\.1:6443/);
  });

  it('serves shut off from the machine as the unit has it, large objects and several workers too', () => {
    const [, status = ''] = /^NoNewPrivs:\s+(\d)$/m.exec(run('cat', `/proc/${property('MainPID')}/status`)) ?? [];
    assert.equal(status, '1');
    run('sh', '-c', 'echo --workers=2 >>/etc/binnacle/flags');
    run('systemctl', 'restart', 'binnacle');
    run('sh', '-c', 'head -c 400000 /dev/zero | tr "\\0" x >/tmp/large');
    kubectl('create', 'configmap', 'large', '--from-file=/tmp/large');
    kubectl('patch', 'configmap', 'large', '--type=merge', '--patch={"data":{"a":"b"}}');
    assert.equal(kubectl('get', 'configmap', 'large', '-o=jsonpath={.data.a}'), 'b');
    run('sed', '-i', '/--workers/d', '/etc/binnacle/flags');
    run('systemctl', 'restart', 'binnacle');
  });

  it('reads its files again at a reload, in the same process', () => {
    const pid = property('MainPID');
    run('systemctl', 'reload', 'binnacle');
    assert.equal(property('MainPID'), pid);
    assert.equal(kubectl('get', '--raw', '/readyz'), 'ok');
  });

  it('is started again by the watchdog when it hangs', async () => {
    run('mkdir', '-p', '/run/systemd/system/binnacle.service.d');
    run('sh', '-c', 'printf "[Service]\\nWatchdogSec=4\\n" >/run/systemd/system/binnacle.service.d/watchdog.conf');
    run('systemctl', 'daemon-reload');
    run('systemctl', 'restart', 'binnacle');
    const pid = property('MainPID');
    run('kill', '-STOP', pid);
    await pollUntil(() => property('MainPID') !== pid && property('ActiveState') === 'active');
    assert.match(journal(), /Watchdog timeout/);
    assert.equal(kubectl('get', '--raw', '/readyz'), 'ok');
  });

  it('runs the new version on the same data after an upgrade, and ends in order when it is removed', () => {
    const pid = property('MainPID');
    install('0.1.1');
    assert.notEqual(property('MainPID'), pid);
    assert.equal(kubectl('get', 'configmap', 'large', '-o=name'), 'configmap/large');
    run('dpkg', '--purge', 'binnacle');
    assert.match(journal(), /Deactivated successfully/);
    assert.equal(spawnSync('nsenter', [...INTO(init), 'test', '-e', '/var/lib/binnacle']).status, 1);
  });
});

const INTO = (pid: string): string[] => ['--target', pid, '--mount', '--pid', '--net', '--uts', '--ipc', '--cgroup'];

function start(folder: string): ChildProcess {
  fs.mkdirSync(GROUP);
  const own = '--mount --pid --fork --kill-child=SIGKILL --net --uts --ipc --cgroup';
  const script = `echo $$ >${GROUP}/cgroup.procs && exec unshare ${own} bash -ec "$1" "$0"`;
  return spawn('bash', ['-c', script, folder, BOOT], { stdio: ['ignore', 'inherit', 'inherit'] });
}

/** The process that is number 1 on the machine. */
const childOf = ({ pid }: ChildProcess): string | undefined =>
  fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim() || undefined;

function whyNot(): string | false {
  if (kubectlProgram() === undefined) return NO_KUBECTL;
  if (!fs.existsSync('/lib/systemd/systemd')) return 'there is no systemd';
  if (process.getuid?.() !== 0) return 'it needs root';
  if (spawnSync('dpkg-query', ['-W', 'nodejs', 'adduser']).status !== 0) return "nodejs is not Debian's";
  const isMounted = fs.existsSync('/sys/fs/cgroup/systemd/cgroup.procs');
  return isMounted ? false : 'there is no control group of systemd that it could have a part of';
}
