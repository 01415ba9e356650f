// Makes a container image of the built program as an OCI layout in a tar file, without a daemon: Node.js and the C libraries
// it needs below, the program above. No shell, no package manager; the user is not root, and nothing but the data folder is
// written. For the architecture of this machine.
//
//   node tools/package-image.mjs [--out DIR]    into release/, as one tar file
//   node tools/package-image.mjs --draft        hardly compressed, without compiled code, and as a folder, for tests
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { stageProgram } from './stage-program.mjs';

/** The release line of Node.js in the image: the one with the longest support. */
const NODE_MAJOR = '22';
const LIBRARIES = ['libc6', 'libgcc-s1', 'libstdc++6'];
/** Documents, translations and tools of the libraries. */
const LEFT_OUT = [
  'usr/share/doc',
  'usr/share/man',
  'usr/share/lintian',
  'usr/share/locale',
  'usr/share/gdb',
  'usr/share/gcc',
  'sbin',
  'usr/sbin',
];
const USER = 65532;
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' };
const PROGRAM = ['/usr/bin/node', '/usr/lib/binnacle/bin/binnacle'];
const DATA = '/var/lib/binnacle';

const args = process.argv.slice(2);
const isDraft = args.includes('--draft');
const out = path.resolve(args.includes('--out') ? args[args.indexOf('--out') + 1] : 'release');
const { version, description, license } = JSON.parse(fs.readFileSync('package.json', 'utf8'));
const epoch = process.env.SOURCE_DATE_EPOCH ?? run('git', ['log', '-1', '--format=%ct']).trim();
const created = new Date(Number(epoch) * 1000).toISOString();
const name = `binnacle-${version}-linux-${ARCHITECTURES[process.arch]}.oci`;

// Whoever makes it, everybody can read what is in it.
process.umask(0o022);
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-image-'));
const layout = path.join(out, name);
fs.rmSync(layout, { recursive: true, force: true });
fs.mkdirSync(path.join(layout, 'blobs', 'sha256'), { recursive: true });
try {
  run('node', ['tools/fetch-node.mjs', NODE_MAJOR]);
  const layers = [
    { made: 'Node.js and the C libraries it needs', ...layerOf(base(), 0) },
    { made: 'the program', ...layerOf(program(), 0) },
    { made: 'the data folder', ...layerOf(dataFolder(), USER) },
  ];
  writeLayout(layers);
  if (!isDraft) run('tar', [...tarOptions(0), '-cf', `${layout}.tar`, '-C', layout, '.']);
  const bytes = layers.reduce((sum, { size }) => sum + size, 0);
  console.log(`${bytes}\t${layout}${isDraft ? '' : '.tar'}`);
} finally {
  fs.rmSync(work, { recursive: true, force: true });
  if (!isDraft) fs.rmSync(layout, { recursive: true, force: true });
}

function base() {
  const folder = path.join(work, 'base');
  const packages = path.join(work, 'packages');
  for (const each of [folder, packages]) fs.mkdirSync(each);
  run('apt-get', ['-qq', '-o', 'APT::Sandbox::User=root', 'download', ...LIBRARIES], packages);
  for (const file of fs.readdirSync(packages)) run('dpkg-deb', ['-x', path.join(packages, file), folder]);
  for (const each of LEFT_OUT) fs.rmSync(path.join(folder, each), { recursive: true, force: true });
  removeFoldersNamed(folder, 'gconv');
  // Where packages have everything below /usr, the loader is still looked for in /lib64.
  for (const each of ['lib', 'lib64']) {
    if (!fs.existsSync(path.join(folder, each)) && fs.existsSync(path.join(folder, 'usr', each))) {
      fs.symlinkSync(`usr/${each}`, path.join(folder, each));
    }
  }
  fs.mkdirSync(path.join(folder, 'usr', 'bin'), { recursive: true });
  const node = path.join(folder, PROGRAM[0]);
  fs.copyFileSync(path.join('.cache', `node-${NODE_MAJOR}`, 'bin', 'node'), node);
  fs.chmodSync(node, 0o755);
  write(
    folder,
    'etc/passwd',
    `root:x:0:0:root:/root:/sbin/nologin\nbinnacle:x:${USER}:${USER}::${DATA}:/sbin/nologin\n`,
  );
  write(folder, 'etc/group', `root:x:0:\nbinnacle:x:${USER}:\n`);
  write(folder, 'etc/nsswitch.conf', 'hosts: files dns\n');
  return folder;
}

/** With V8's compiled code: an image's own folders are not written when it runs. */
function program() {
  const folder = path.join(work, 'program');
  const staged = path.join(folder, 'usr', 'lib', 'binnacle');
  stageProgram(staged);
  if (isDraft) return folder;
  const bin = path.resolve('.cache', `node-${NODE_MAJOR}`, 'bin');
  execFileSync('node', ['tools/warm.mjs', staged], { env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } });
  return folder;
}

function dataFolder() {
  const folder = path.join(work, 'data');
  fs.mkdirSync(path.join(folder, DATA), { recursive: true });
  fs.chmodSync(path.join(folder, DATA), 0o700);
  return folder;
}

function layerOf(folder, owner) {
  const file = `${folder}.tar`;
  // The folders above the data folder are root's, from the layers below.
  const content = owner === 0 ? '.' : `.${DATA}`;
  run('tar', [...tarOptions(owner), '-cf', file, '-C', folder, content]);
  const bytes = fs.readFileSync(file);
  return { ...blob(gzipSync(bytes, { level: isDraft ? 1 : 9 })), diffId: `sha256:${sha256(bytes)}` };
}

/** The same content gives the same bytes. */
function tarOptions(owner) {
  return [
    '--sort=name',
    `--mtime=@${epoch}`,
    `--owner=${owner}`,
    `--group=${owner}`,
    '--numeric-owner',
    '--format=posix',
    '--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime',
  ];
}

function writeLayout(layers) {
  const config = json({
    created,
    architecture: ARCHITECTURES[process.arch],
    os: 'linux',
    config: {
      User: `${USER}:${USER}`,
      Env: ['PATH=/usr/bin', `HOME=${DATA}`],
      Entrypoint: PROGRAM,
      Cmd: ['serve', `--data-dir=${DATA}`],
      WorkingDir: '/',
      ExposedPorts: { '6443/tcp': {} },
      Volumes: { [DATA]: {} },
      StopSignal: 'SIGTERM',
      // Not in OCI's own specification: Docker reads it, Podman and others pass over it.
      Healthcheck: {
        Test: ['CMD', ...PROGRAM, 'status', `--data-dir=${DATA}`],
        Interval: 30e9,
        Timeout: 10e9,
        StartPeriod: 30e9,
      },
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(({ made }) => ({ created, created_by: made })),
  });
  const manifest = json({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...config },
    layers: layers.map(({ digest, size }) => ({
      mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip',
      digest,
      size,
    })),
    annotations: {
      'org.opencontainers.image.title': 'Binnacle',
      'org.opencontainers.image.description': description,
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.licenses': license,
      'org.opencontainers.image.created': created,
    },
  });
  write(layout, 'oci-layout', JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        mediaType: 'application/vnd.oci.image.manifest.v1+json',
        ...manifest,
        platform: { architecture: ARCHITECTURES[process.arch], os: 'linux' },
        annotations: { 'org.opencontainers.image.ref.name': `binnacle:${version}` },
      },
    ],
  };
  write(layout, 'index.json', JSON.stringify(index));
}

function json(value) {
  return blob(Buffer.from(JSON.stringify(value)));
}

function blob(bytes) {
  const hash = sha256(bytes);
  fs.writeFileSync(path.join(layout, 'blobs', 'sha256', hash), bytes);
  return { digest: `sha256:${hash}`, size: bytes.length };
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

function removeFoldersNamed(folder, wanted) {
  for (const each of fs.readdirSync(folder, { recursive: true })) {
    if (path.basename(each) === wanted) fs.rmSync(path.join(folder, each), { recursive: true, force: true });
  }
}

function write(folder, file, text) {
  fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
  fs.writeFileSync(path.join(folder, file), text);
}

function run(command, words, cwd) {
  return execFileSync(command, words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}
