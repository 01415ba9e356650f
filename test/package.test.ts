// runs-on: every-node
// The npm package: what is in it, and that it works where it is installed.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { freePort } from './support/free-port.js';
import { kubectlProgram, kubectlWith, NO_KUBECTL } from './support/kubectl.js';
import { installPackage, openFolder, type Package, packPackage } from './support/installed-package.js';

const root = path.resolve(process.env['BINNACLE_ROOT'] ?? '.');
const MAX_TARBALL_BYTES = 4_000_000;
const NOBODY = 65534;
const kubectlFile = kubectlProgram();

describe('the npm package', { timeout: 120_000 }, () => {
  let folder: string;
  let made: Package;
  let installed: string | undefined;
  before(() => {
    folder = openFolder('package');
    made = packPackage(folder);
    installed = installPackage(made.tarball, path.join(folder, 'app'), '--save-dev');
  });
  after(() => fs.rmSync(folder, { recursive: true, force: true }));

  it('holds the program, its documents of types and licences, and nothing else', () => {
    assert.deepEqual(made.files.map((file) => file.path).sort(), [
      'LICENSE',
      'README.md',
      'bin/binnacle',
      'bin/etcd',
      'bin/kube-apiserver',
      'bin/load-bundle.cjs',
      'bin/package.json',
      'dist/binnacle.cjs',
      'dist/commands.cjs',
      'dist/definitions-v2.txt',
      'dist/definitions-v3.txt',
      'dist/etcd.cjs',
      'dist/testing.cjs',
      'dist/testing.d.cts',
      'dist/testing.d.mts',
      'dist/testing.mjs',
      'dist/third-party-licenses.txt',
      'dist/worker.cjs',
      'package.json',
    ]);
    assert.ok(made.sizeBytes <= MAX_TARBALL_BYTES, `${made.sizeBytes} bytes`);
  });

  it('brings the native store for this machine and nothing that only developers need', (t) => {
    const modules = path.join(installedOr(t), 'node_modules');
    assert.ok(fs.existsSync(path.join(modules, '@lmdb', `lmdb-${process.platform}-${process.arch}`)));
    for (const name of ['esbuild', 'typescript', 'ws']) assert.equal(fs.existsSync(path.join(modules, name)), false);
  });

  it('tells its own version and that of Kubernetes, and by the name kube-apiserver the latter alone', (t) => {
    const app = installedOr(t);
    const { version } = JSON.parse(fs.readFileSync('package.json', 'utf8')) as { version: string };
    const run = (file: string): string => execFileSync(path.join(app, file), ['--version'], { encoding: 'utf8' });
    assert.equal(run('node_modules/.bin/binnacle'), `Kubernetes v1.34.11\nBinnacle ${version}\n`);
    assert.equal(run('node_modules/binnacle/bin/kube-apiserver'), 'Kubernetes v1.34.11\n');
  });

  it('is a command for everybody when it is installed globally', (t) => {
    installedOr(t);
    const prefix = path.join(folder, 'global');
    installPackage(made.tarball, prefix, '--global');
    assert.match(execFileSync(path.join(prefix, 'bin', 'binnacle'), ['--help'], { encoding: 'utf8' }), /^Usage:/m);
  });

  it('serves the real kubectl from an empty project', { skip: kubectlFile === undefined && NO_KUBECTL }, async (t) => {
    const app = installedOr(t);
    const home = path.join(folder, 'kubectl-home');
    fs.mkdirSync(home);
    const env = { PATH: process.env['PATH'], HOME: home };
    const binnacle = (...args: string[]): string =>
      execFileSync(path.join(app, 'node_modules', '.bin', 'binnacle'), args, { cwd: app, env, encoding: 'utf8' });
    assert.match(binnacle('up', `--secure-port=${await freePort()}`), /^Ready\. Try:$/m);
    try {
      binnacle('kubeconfig', '--merge');
      const kubectl = kubectlWith(kubectlFile ?? '', path.join(home, '.kube', 'config'), home);
      await kubectl('create namespace shop');
      await kubectl('create deployment web --image=web:1 -n shop');
      assert.match((await kubectl('get deployments -n shop')).out, /^web +0\/1 /m);
    } finally {
      assert.match(binnacle('down'), /^Stopped\./);
    }
  });

  it('has the library for tests, for ES modules, for require() and for TypeScript', (t) => {
    const app = installedOr(t);
    const useIt =
      "startCluster().then((one) => one.request('GET', '/version').then((r) => { console.log(r.status); return one.stop(); }))";
    const programs = {
      'uses.mjs': `import { startCluster } from 'binnacle/testing';\n${useIt};\n`,
      'uses.cjs': `const { startCluster } = require('binnacle/testing');\n${useIt};\n`,
    };
    for (const [name, text] of Object.entries(programs)) {
      fs.writeFileSync(path.join(app, name), text);
      assert.equal(execFileSync(process.execPath, [name], { cwd: app, encoding: 'utf8' }), '200\n');
    }
    const typed = `import { startCluster, type Cluster } from 'binnacle/testing';
export async function example(): Promise<number> {
  const cluster: Cluster = await startCluster({ manifests: { path: 'crds' } });
  const pod = await cluster.waitFor({ apiVersion: 'v1', kind: 'Pod', name: 'a' }, ({ metadata }) => metadata?.uid !== '');
  return (await cluster.request('GET', pod?.kind ?? '')).status;
}
`;
    for (const name of ['typed.mts', 'typed.cts']) fs.writeFileSync(path.join(app, name), typed);
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom'];
    const tsc = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    execFileSync(process.execPath, [tsc, ...options, 'typed.mts', 'typed.cts'], { cwd: app });
  });

  it('keeps compiled code in its own folder at the first start', async (t) => {
    const dist = path.join(installedOr(t), 'node_modules', 'binnacle', 'dist');
    removeCompiledCode(dist);
    assert.equal(await compiledCodeIn(dist, {}), 1);
  });

  it('keeps compiled code of tests that are over before a server would', async (t) => {
    const app = installedOr(t);
    const dist = path.join(app, 'node_modules', 'binnacle', 'dist');
    removeCompiledCode(dist);
    fs.writeFileSync(
      path.join(app, 'short.mjs'),
      "import { startCluster } from 'binnacle/testing';\nawait (await startCluster()).stop();\n",
    );
    const env = { ...process.env, BINNACLE_CACHE_AFTER_MS: '3600000' };
    execFileSync(process.execPath, ['short.mjs'], { cwd: app, env });
    // The process that served the cluster ends after the program.
    await pollUntil(
      () => compiledFiles(dist),
      (count) => count === 1,
    );
  });

  it('keeps compiled code in the cache folder of a user who may not write to the package', async (t) => {
    const dist = path.join(installedOr(t), 'node_modules', 'binnacle', 'dist');
    removeCompiledCode(dist);
    const home = path.join(folder, 'home');
    fs.mkdirSync(home);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) fs.chownSync(home, NOBODY, NOBODY);
    else fs.chmodSync(dist, 0o555);
    assert.equal(await compiledCodeIn(path.join(home, '.cache', 'binnacle'), { home, isNobody: isRoot }), 1);
    assert.equal(compiledFiles(dist), 0);
  });

  function installedOr(t: TestContext): string {
    if (installed === undefined) t.skip('the registry cannot be reached');
    return installed ?? '';
  }

  /** How many files of it there are once the server has written one. */
  async function compiledCodeIn(cache: string, as: { home?: string; isNobody?: boolean }): Promise<number> {
    const home = as.home ?? path.join(folder, 'own-home');
    fs.mkdirSync(home, { recursive: true });
    const program = path.join(installed ?? '', 'node_modules', 'binnacle', 'bin', 'binnacle');
    const flags = [`--data-dir=${home}/data`, `--secure-port=${await freePort()}`, '--bind-address=127.0.0.1'];
    const server = spawn(process.execPath, [program, ...flags], {
      stdio: 'ignore',
      env: { PATH: process.env['PATH'], HOME: home, BINNACLE_CACHE_AFTER_MS: '1' },
      ...(as.isNobody === true && { uid: NOBODY, gid: NOBODY }),
    });
    const ended = new Promise((resolve) => server.on('exit', resolve));
    try {
      return await pollUntil(
        () => compiledFiles(cache),
        (count) => count > 0 || server.exitCode !== null,
      );
    } finally {
      server.kill('SIGKILL');
      await ended;
    }
  }
});

const compiledFiles = (folder: string): number =>
  fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith('.v8')).length : 0;

function removeCompiledCode(folder: string): void {
  for (const name of fs.readdirSync(folder)) if (name.endsWith('.v8')) fs.rmSync(path.join(folder, name));
}
