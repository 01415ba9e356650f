// Makes the Debian package of the built program, for the architecture of this machine, with dpkg-deb.
//
//   node tools/package-debian.mjs [--out DIR] [--version X.Y.Z]    into release/
//   node tools/package-debian.mjs --draft                          not compressed, for tests: compressing is most of the work
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { libraryFolders, stageProgram } from './stage-program.mjs';
import { licensesText } from './third-party-licenses.mjs';

const SOURCE = 'packaging/debian';
const SCRIPTS = ['postinst', 'prerm', 'postrm'];
const args = process.argv.slice(2);
const optionOf = (name, otherwise) => (args.includes(name) ? args[args.indexOf(name) + 1] : otherwise);
const about = JSON.parse(fs.readFileSync('package.json', 'utf8'));
const version = optionOf('--version', about.version);
const out = path.resolve(optionOf('--out', 'release'));
const architecture = run('dpkg', ['--print-architecture']).trim();

const stage = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-debian-'));
try {
  layOut();
  fs.mkdirSync(out, { recursive: true });
  const file = path.join(out, `binnacle_${version}_${architecture}.deb`);
  const epoch = process.env.SOURCE_DATE_EPOCH ?? run('git', ['log', '-1', '--format=%ct']).trim();
  run('dpkg-deb', ['--root-owner-group', args.includes('--draft') ? '-Znone' : '-Zxz', '--build', stage, file], {
    SOURCE_DATE_EPOCH: epoch,
  });
  console.log(`${fs.statSync(file).size}\t${file}`);
} finally {
  fs.rmSync(stage, { recursive: true, force: true });
}

function layOut() {
  const program = path.join('usr', 'lib', 'binnacle');
  stageProgram(at(program));
  fs.mkdirSync(at('usr/bin'), { recursive: true });
  fs.symlinkSync('../lib/binnacle/bin/binnacle', at('usr/bin/binnacle'));
  put('etc/binnacle/flags', fs.readFileSync(path.join(SOURCE, 'flags')));
  put('usr/lib/systemd/system/binnacle.service', fs.readFileSync(path.join(SOURCE, 'binnacle.service')));
  const completions = [
    ['bash', 'usr/share/bash-completion/completions/binnacle'],
    ['zsh', 'usr/share/zsh/vendor-completions/_binnacle'],
    ['fish', 'usr/share/fish/vendor_completions.d/binnacle.fish'],
  ];
  for (const [shell, file] of completions) put(file, run('bin/binnacle', ['completion', shell]));
  const bundled = JSON.parse(fs.readFileSync('dist/bundled-packages.json', 'utf8'));
  const license = fs.readFileSync('LICENSE', 'utf8');
  put(
    'usr/share/doc/binnacle/copyright',
    `${license}\n\n${licensesText([...new Set([...bundled, ...libraryFolders()])])}`,
  );
  put('usr/share/doc/binnacle/changelog.gz', gzipSync(fs.readFileSync('CHANGELOG.md'), { level: 9 }));
  // What the mode of a folder is here must not be what it is there.
  for (const name of fs.readdirSync(stage, { recursive: true })) normalise(at(name));
  put('DEBIAN/conffiles', '/etc/binnacle/flags\n');
  put('DEBIAN/control', control());
  for (const name of SCRIPTS) put(`DEBIAN/${name}`, fs.readFileSync(path.join(SOURCE, name)), 0o755);
  fs.chmodSync(stage, 0o755);
}

function control() {
  const sizes = fs.readdirSync(stage, { recursive: true }).map((name) => fs.lstatSync(at(name)).size);
  return `Package: binnacle
Version: ${version}
Architecture: ${architecture}
Maintainer: ${about.name} <noreply@example.invalid>
Installed-Size: ${Math.ceil(sizes.reduce((sum, size) => sum + size, 0) / 1024)}
Depends: nodejs (>= 20), adduser, libc6, libstdc++6
Section: admin
Priority: optional
Description: Kubernetes API server in one process
 kubectl, client libraries and controllers use it as they use kube-apiserver.
 It keeps its data in an embedded store or in etcd.
`;
}

function normalise(file) {
  const { mode } = fs.lstatSync(file);
  if (fs.lstatSync(file).isSymbolicLink()) return;
  fs.chmodSync(file, (mode & 0o100) !== 0 ? 0o755 : 0o644);
}

function put(name, content, mode = 0o644) {
  fs.mkdirSync(path.dirname(at(name)), { recursive: true });
  fs.writeFileSync(at(name), content, { mode });
}

function at(name) {
  return path.join(stage, name);
}

function run(command, words, env = {}) {
  return execFileSync(command, words, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
}
