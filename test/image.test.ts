// The container image: a layout whose parts are what they are named by, and a server that runs from it in a container, with a
// root that is not written, as a user that is not root.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { Container, type ImageConfig, ociRuntime } from './support/container.js';
import { freePort } from './support/free-port.js';
import { kubectlProgram, kubectlWith } from './support/kubectl.js';
import { Podman } from './support/podman.js';

const MAX_IMAGE_BYTES = 120_000_000;

interface Part {
  readonly digest: string;
  readonly size: number;
}
interface Config {
  readonly config: ImageConfig;
  readonly rootfs: { readonly diff_ids: readonly string[] };
}

const kubectlFile = kubectlProgram();
const runtime = ociRuntime();

describe('the container image', { skip: whyNot(), timeout: 300_000 }, () => {
  let folder: string;
  let layout: string;
  let config: Config;
  let layers: readonly Part[];
  let container: Container | undefined;
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
    await container?.end();
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

  it('serves kubectl from a container with a root that is read only, not as root, and is healthy', async (t) => {
    if (runtime === undefined) return t.skip('there is no runc: run `node tools/fetch-test-binaries.mjs`');
    const bundle = path.join(folder, 'bundle');
    const rootfs = path.join(bundle, 'rootfs');
    const data = path.join(folder, 'data');
    for (const each of [bundle, rootfs, data]) fs.mkdirSync(each);
    for (const { digest } of layers) execFileSync('tar', ['-xzf', '-', '-C', rootfs], { input: blob(digest) });
    const { User, Entrypoint, Cmd } = config.config;
    const [uid, gid] = User.split(':').map(Number);
    assert.ok(uid !== undefined && gid !== undefined && uid > 0);
    fs.chmodSync(folder, 0o711);
    fs.chownSync(data, uid, gid);
    const port = await freePort();
    const args = [...Entrypoint, ...Cmd, `--secure-port=${port}`, '--bind-address=127.0.0.1'];
    const volumes = { '/var/lib/binnacle': data };
    container = new Container({ runtime, bundle, config: config.config, args, volumes });
    const { process: server } = container;
    const isOver = (): boolean => server.exitCode !== null;
    await pollUntil(() => container?.log.includes('Serving securely on') === true || isOver());
    assert.equal(server.exitCode, null, container.log);
    await pollUntil(() => container?.isHealthy() === true);
    const kubectl = kubectlWith(kubectlFile ?? '', path.join(data, 'admin.kubeconfig'), folder);
    await kubectl('create namespace shop');
    const write = "require('node:fs').writeFileSync('/usr/lib/binnacle/x', '')";
    assert.match(container.exec(Entrypoint[0] ?? '', '-e', write).out, /EROFS|EACCES/);
    const whoami = "console.log(process.getuid(), require('node:fs').readFileSync('/proc/mounts', 'utf8'))";
    assert.match(container.exec(Entrypoint[0] ?? '', '-e', whoami).out, new RegExp(`^${uid} \\S+ / \\S+ ro,`));
    // A server that hangs is not healthy, and one that goes on is again.
    container.signal('STOP');
    assert.equal(container.isHealthy(), false);
    container.signal('CONT');
    assert.equal(container.isHealthy(), true);
    const ended = new Promise((resolve) => server.on('exit', resolve));
    container.signal('TERM');
    assert.equal(await ended, 0);
  });

  it('is loaded and run by Podman, with the health check that the page on installing names', async (t) => {
    const { podman, why } = Podman.open(path.join(folder, 'podman'));
    if (podman === undefined) return t.skip(why);
    const archive = path.join(folder, 'image.tar');
    execFileSync('tar', ['-cf', archive, '-C', layout, '.']);
    const image = podman.load(archive);
    assert.match(image, /^localhost\/binnacle:/);
    const { Cmd, Healthcheck } = config.config;
    const healthCheck = JSON.stringify(Healthcheck.Test.slice(1));
    assert.ok(fs.readFileSync('docs/how-to/install.md', 'utf8').includes(`--health-cmd='${healthCheck}'`));
    const port = await freePort();
    const options = [
      '--read-only',
      '--network=host',
      `--health-cmd=${healthCheck}`,
      '--health-interval=disable',
      ...LIMITS,
    ];
    const flags = [`--secure-port=${port}`, '--bind-address=127.0.0.1'];
    podman.run('run', '--detach', '--name=server', ...options, image, ...Cmd, ...flags);
    try {
      await pollUntil(() => podman.succeeds('healthcheck', 'run', 'server'));
      const [node = '', program = ''] = config.config.Entrypoint;
      const kubeconfig = path.join(folder, 'podman.kubeconfig');
      const asked = ['exec', 'server', node, program, 'kubeconfig', '--data-dir=/var/lib/binnacle'];
      fs.writeFileSync(kubeconfig, podman.run(...asked), { mode: 0o600 });
      await kubectlWith(kubectlFile ?? '', kubeconfig, folder)('create namespace shop');
      podman.run('stop', 'server');
      assert.equal(podman.run('inspect', '--format={{.State.ExitCode}}', 'server'), '0');
    } finally {
      podman.run('rm', '--force', '--volumes', 'server');
    }
  });
});

/** Those that Podman asks for by default are more than every machine allows. */
const LIMITS = ['--ulimit=nofile=1024:1024', '--ulimit=nproc=1024:1024'];

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

function whyNot(): string | false {
  if (kubectlFile === undefined) return 'there is no kubectl';
  if (process.getuid?.() !== 0) return 'it needs root';
  return fs.existsSync('/usr/bin/apt-get') ? false : "the C libraries are Debian's packages, and there is no apt";
}
