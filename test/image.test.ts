// The container image: a layout whose parts are what they are named by, and a server that runs from it as a container would,
// with a root that is not written, as a user that is not root. No container engine is needed, but root and mounts are.
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { freePort } from './support/free-port.js';
import { kubectlProgram, kubectlWith } from './support/kubectl.js';

const MAX_IMAGE_BYTES = 120_000_000;

interface Part {
  readonly digest: string;
  readonly size: number;
}
interface Config {
  readonly config: {
    readonly User: string;
    readonly Entrypoint: readonly string[];
    readonly Cmd: readonly string[];
    readonly Healthcheck: { readonly Test: readonly string[] };
  };
  readonly rootfs: { readonly diff_ids: readonly string[] };
}

const kubectlFile = kubectlProgram();

describe('the container image', { skip: whyNot(), timeout: 300_000 }, () => {
  let folder: string;
  let layout: string;
  let config: Config;
  let layers: readonly Part[];
  let server: ChildProcess | undefined;
  const blob = (digest: string): Buffer => fs.readFileSync(path.join(layout, 'blobs', digest.replace(':', '/')));
  const parse = <T>(bytes: Buffer): T => JSON.parse(bytes.toString()) as T;

  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-image-test-'));
    execFileSync(process.execPath, ['tools/package-image.mjs', '--draft', '--out', folder]);
    layout = path.join(folder, fs.readdirSync(folder).find((name) => name.endsWith('.oci')) ?? '');
    const index = parse<{ manifests: [Part] }>(fs.readFileSync(path.join(layout, 'index.json')));
    const manifest = parse<{ config: Part; layers: readonly Part[] }>(blob(index.manifests[0].digest));
    ({ layers } = manifest);
    config = parse<Config>(blob(manifest.config.digest));
  });
  after(async () => {
    if (server !== undefined && server.exitCode === null) {
      const ended = new Promise((resolve) => server?.on('exit', resolve));
      server.kill('SIGKILL');
      await ended;
    }
    fs.rmSync(folder, { recursive: true, force: true });
  });

  it('consists of what its names say, and is small', () => {
    for (const name of fs.readdirSync(path.join(layout, 'blobs', 'sha256')))
      assert.equal(sha256(blob(`sha256:${name}`)), name);
    assert.deepEqual(
      layers.map(({ digest }) => `sha256:${sha256(gunzipSync(blob(digest)))}`),
      config.rootfs.diff_ids,
    );
    const bytes = layers.reduce((sum, { size }) => sum + size, 0);
    assert.ok(bytes <= MAX_IMAGE_BYTES, `${bytes} bytes`);
  });

  it('serves kubectl from a root that is read only, not as root, and is healthy', async () => {
    const root = path.join(folder, 'root');
    const data = path.join(folder, 'data');
    for (const each of [root, data]) fs.mkdirSync(each);
    for (const { digest } of layers) execFileSync('tar', ['-xzf', '-', '-C', root], { input: blob(digest) });
    for (const each of ['proc', 'dev']) fs.mkdirSync(path.join(root, each));
    const [uid, gid] = config.config.User.split(':').map(Number);
    assert.ok(uid !== undefined && gid !== undefined && uid > 0);
    fs.chmodSync(folder, 0o711);
    fs.chownSync(data, uid, gid);
    const inImage = (words: readonly string[]): string[] => [
      '--mount',
      'sh',
      '-c',
      MOUNT,
      root,
      data,
      config.config.User,
      ...words,
    ];
    const port = await freePort();
    const flags = [`--secure-port=${port}`, '--bind-address=127.0.0.1'];
    const { Entrypoint, Cmd, Healthcheck } = config.config;
    const child = spawn('unshare', inImage([...Entrypoint, ...Cmd, ...flags]), { stdio: ['ignore', 'ignore', 'pipe'] });
    server = child;
    let log = '';
    child.stderr.on('data', (text: Buffer) => (log += text.toString()));
    await pollUntil(() => log.includes('Serving securely on') || child.exitCode !== null);
    assert.equal(child.exitCode, null, log);
    const healthy = (): boolean => spawnSync('unshare', inImage(Healthcheck.Test.slice(1))).status === 0;
    await pollUntil(healthy);
    const kubectl = kubectlWith(kubectlFile ?? '', path.join(data, 'admin.kubeconfig'), folder);
    await kubectl('create namespace shop');
    const ended = new Promise((resolve) => child.on('exit', resolve));
    child.kill('SIGTERM');
    assert.equal(await ended, 0);
    assert.equal(healthy(), false);
  });
});

/** $0 is the root, $1 the data folder, $2 the user; what follows is run. */
const MOUNT = `mount --bind "$0" "$0" && mount --bind /proc "$0/proc" && mount --bind /dev "$0/dev" &&
  mount --bind "$1" "$0/var/lib/binnacle" && mount -o remount,bind,ro "$0" &&
  root=$0 user=$2 && shift 2 && exec env -i PATH=/usr/bin:/usr/sbin HOME=/var/lib/binnacle chroot --userspec="$user" "$root" "$@"`;

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

function whyNot(): string | false {
  if (kubectlFile === undefined) return 'there is no kubectl';
  if (process.getuid?.() !== 0 || spawnSync('unshare', ['--mount', 'true']).status !== 0)
    return 'it needs root and mounts';
  return fs.existsSync('/usr/bin/apt-get') ? false : "the C libraries are Debian's packages, and there is no apt";
}
