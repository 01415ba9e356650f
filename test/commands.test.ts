// runs-on: every-node
// The commands around the server, with real processes: up, status, kubeconfig, down; completion in a real shell.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Kubectl, kubectlProgram, kubectlWith, NO_KUBECTL } from './support/kubectl.js';
import { withWorkers } from './support/worker-flags.js';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();
const kubectlFile = kubectlProgram();

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

describe('binnacle up and what goes with it', { timeout: 120_000 }, () => {
  let home: string;
  before(() => (home = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-home-'))));
  after(async () => {
    for (const folder of [[], ['--data-dir=second']]) await binnacle('down', ...folder);
    fs.rmSync(home, { recursive: true, force: true });
  });
  const binnacle = (...args: string[]): Promise<Ended> =>
    run(path.join(root, 'bin', 'binnacle'), args[0] === 'up' ? withWorkers(args) : args, home);
  const kubectl = (): Kubectl => kubectlWith(kubectlFile ?? '', path.join(home, '.kube', 'config'), home);
  const urlOf = async (...args: string[]): Promise<string> =>
    (JSON.parse((await binnacle('status', '--output=json', ...args)).out) as { url: string }).url;

  it('starts a server that is ready, and says what to try', async () => {
    const { code, out, err } = await binnacle('up');
    const kubeconfig = path.join(home, '.local', 'state', 'binnacle', 'admin.kubeconfig');
    assert.equal(code, 0, err);
    assert.match(out, /^Serving on https:\/\/127\.0\.0\.1:\d+\n/);
    assert.ok(out.endsWith(`\nReady. Try:\n\n  kubectl --kubeconfig ${kubeconfig} get namespaces\n`), out);
    // Nothing but the kubeconfig's path is for a terminal alone.
    assert.equal(err, '');
    assert.match((await binnacle('status')).out, /^state {7}ready\nserver {6}https:/);
  });

  it('starts a second one beside it in another folder, on a port of its own', async () => {
    assert.equal((await binnacle('up', '--data-dir=second')).code, 0);
    assert.notEqual(await urlOf('--data-dir=second'), await urlOf());
  });

  it('has both in the kubeconfig of kubectl', { skip: kubectlFile === undefined && NO_KUBECTL }, async () => {
    assert.match(
      (await binnacle('kubeconfig', '--merge', '--data-dir=second')).out,
      /^Context "binnacle-second" is in /,
    );
    await kubectl()('create namespace only-second');
    await binnacle('kubeconfig', '--merge');
    assert.equal((await kubectl()('config current-context')).out, 'binnacle\n');
    assert.match((await kubectl()('get namespace only-second', { code: 1 })).err, /NotFound/);
    await kubectl()('--context=binnacle-second get namespace only-second');
  });

  it('leaves a server that runs as it is', async () => {
    const url = await urlOf();
    const { code, out, err } = await binnacle('up', '-v=4');
    assert.equal(code, 0);
    assert.match(out, /^Runs already\./);
    assert.match(err, /flags of its start/);
    assert.equal(await urlOf(), url);
    const shown = await binnacle('up', '--foreground');
    assert.equal(shown.code, 1);
    assert.match(shown.err, /a server runs in .* already, process \d+; `binnacle down` stops it/);
  });

  it('stops it and finds the same data on the same port again', async () => {
    const url = await urlOf('--data-dir=second');
    assert.match((await binnacle('down', '--data-dir=second')).out, /^Stopped\. The data stay in /);
    assert.equal((await binnacle('status', '--data-dir=second')).code, 3);
    assert.equal((await binnacle('down', '--data-dir=second')).code, 0);
    assert.equal((await binnacle('up', '--data-dir=second')).code, 0);
    assert.equal(await urlOf('--data-dir=second'), url);
    if (kubectlFile !== undefined) await kubectl()('--context=binnacle-second get namespace only-second');
  });

  it('shows why a start was refused, and leaves nothing behind', async () => {
    const { code, out, err } = await binnacle('up', '--data-dir=refused', '--min-request-timeout=-1');
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /--min-request-timeout can not be negative value"\nerror: the server did not start\n$/);
    assert.equal(fs.existsSync(path.join(home, 'refused')), false);
  });

  it('refuses a folder of a newer format, and says what to do', async () => {
    const folder = path.join(home, 'newer');
    fs.mkdirSync(folder);
    fs.writeFileSync(path.join(folder, 'FORMAT'), 'binnacle-store 99\n');
    const { code, err } = await binnacle('up', '--data-dir=newer');
    assert.equal(code, 1);
    assert.match(
      err,
      /has format 99, written by a newer version; this one reads up to format \d+\. Start the newer version, /,
    );
    assert.match(err, /or restore a backup made before the upgrade\. Nothing was changed/);
    assert.equal(fs.readFileSync(path.join(folder, 'FORMAT'), 'utf8'), 'binnacle-store 99\n');
  });

  it('does not end a process that only has the number which a folder names', async () => {
    fs.mkdirSync(path.join(home, 'strange'));
    const lock = net.createServer((socket) => socket.end(`${process.pid}\n`));
    await new Promise<void>((resolve) => lock.listen(path.join(home, 'strange', 'lock'), resolve));
    try {
      const { code, err } = await binnacle('down', '--data-dir=strange');
      assert.equal(code, 1);
      assert.match(err, /stop it where it was started/);
    } finally {
      lock.close();
    }
  });
});

it('the server itself starts with and without its command, and by the name kube-apiserver has none', async () => {
  const bin = (name: string): string => path.join(root, 'bin', name);
  const refused = '--min-request-timeout=-1';
  for (const args of [[refused], ['serve', refused]]) {
    const { code, err } = await run(bin('binnacle'), args, os.tmpdir());
    assert.equal(code, 1);
    assert.match(err, /--min-request-timeout can not be negative value/);
  }
  const { code, err } = await run(bin('kube-apiserver'), ['serve'], os.tmpdir());
  assert.equal(code, 1);
  assert.equal(err, 'Error: "kube-apiserver" does not take any arguments, got ["serve"]\n');
});

it('output that cannot be written is an error in one line', { skip: process.platform !== 'linux' }, async () => {
  const { code, err } = await run(
    'sh',
    ['-c', 'exec "$0" help >/dev/full', path.join(root, 'bin', 'binnacle')],
    os.tmpdir(),
  );
  assert.deepEqual([code, err], [1, 'error: standard output: ENOSPC: no space left on device, write\n']);
});

it('bash completes commands, their words and their flags', async () => {
  const complete = async (...words: string[]): Promise<string[]> => {
    const script = `source <("$0" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _binnacle; echo "\${COMPREPLY[@]}"`;
    const { out } = await run('bash', ['-c', script, path.join(root, 'bin', 'binnacle'), ...words], os.tmpdir());
    return out.trim().split(' ');
  };
  assert.deepEqual(await complete('binnacle', 'st'), ['status']);
  assert.deepEqual(await complete('binnacle', 'completion', 'z'), ['zsh']);
  assert.deepEqual(await complete('binnacle', 'up', '--secure-p'), ['--secure-port=']);
  assert.deepEqual(await complete('binnacle', '--secure-p'), ['--secure-port=']);
  assert.deepEqual(await complete('binnacle', 'down', '--foreg'), ['']);
});

const hasZsh = spawnSync('zsh', ['--version']).status === 0;
/** What zsh's completion system would offer: candidates that begin as the last word does. */
const ZSH = `compdef() { : }
source $1; shift
offer() { local each; for each; do [[ $each == \${words[CURRENT]}* ]] && print -r -- $each; done }
compadd() { [[ $1 == -S ]] && shift 2; shift; offer "$@" }
_describe() { offer "\${(@)\${(@P)2}%%:*}" }
words=("$@") CURRENT=$#
_binnacle`;

it('zsh completes commands, their words and their flags', { skip: !hasZsh && 'no zsh' }, async () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-zsh-'));
  try {
    const script = path.join(home, '_binnacle');
    fs.writeFileSync(script, (await run(path.join(root, 'bin', 'binnacle'), ['completion', 'zsh'], home)).out);
    const complete = async (...words: string[]): Promise<string[]> =>
      (await run('zsh', ['-f', '-c', ZSH, 'zsh', script, ...words], home)).out.trim().split('\n');
    assert.deepEqual(await complete('binnacle', 'st'), ['status']);
    assert.deepEqual(await complete('binnacle', 'completion', 'z'), ['zsh']);
    assert.deepEqual(await complete('binnacle', 'up', '--secure-p'), ['--secure-port=']);
    assert.deepEqual(await complete('binnacle', '--secure-p'), ['--secure-port=']);
    assert.deepEqual(await complete('binnacle', 'down', '--foreg'), ['']);
  } finally {
    fs.rmSync(home, { recursive: true, force: true });
  }
});

const hasFish = spawnSync('fish', ['--version']).status === 0;

it('fish completes commands, their words and their flags', { skip: !hasFish && 'no fish' }, async () => {
  const complete = async (line: string): Promise<string[]> => {
    const script = 'source ($argv[1] completion fish | psub); complete -C $argv[2]';
    const { out } = await run(
      'fish',
      ['--no-config', '-c', script, path.join(root, 'bin', 'binnacle'), line],
      os.tmpdir(),
    );
    return out
      .trim()
      .split('\n')
      .map((one) => one.split('\t')[0] ?? '');
  };
  assert.deepEqual(await complete('binnacle st'), ['status']);
  assert.deepEqual(await complete('binnacle completion z'), ['zsh']);
  assert.deepEqual(await complete('binnacle up --secure-p'), ['--secure-port']);
});

function run(file: string, args: readonly string[], home: string): Promise<Ended> {
  const env = { PATH: process.env['PATH'], HOME: home };
  return new Promise((resolve) => {
    execFile(file, args, { cwd: home, env }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), out, err });
    });
  });
}
