import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commands } from './commands.js';
import { runProgram } from './program.js';

async function run(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const said = { out: '', err: '' };
  const code = await runProgram(argv, {
    env: { HOME: '/nowhere' },
    print: (text) => (said.out += text),
    printError: (text) => (said.err += text),
    columns: 0,
    showsProgress: false,
  });
  return { code, ...said };
}

test('help lists every command, and has all about each, by both ways to ask', async () => {
  const { out, code } = await run('help');
  assert.equal(code, 0);
  for (const { name, summary } of commands()) {
    assert.match(out, new RegExp(`^  ${name} +${summary.replaceAll('.', '\\.')}$`, 'm'));
    const about = await run('help', name);
    assert.match(about.out, new RegExp(`^  binnacle ${name}`, 'm'));
    assert.deepEqual(await run(name, '--help'), about);
    assert.deepEqual(await run(name, '-h'), about);
  }
});

test('help of serve has the flags of the server', async () => {
  assert.match((await run('help', 'serve')).out, /^ {6}--etcd-servers strings/m);
});

test('a command that there is not gets the closest one for a hint, where there is one', async () => {
  assert.deepEqual(await run('stauts'), {
    code: 2,
    out: '',
    err: 'Error: unknown command: stauts\nDid you mean status?\n`binnacle help` lists all commands.\n',
  });
  assert.doesNotMatch((await run('frobnicate')).err, /Did you mean/);
  assert.equal((await run('x'.repeat(100_000))).err.length < 400, true);
  assert.match((await run('help', 'kubeconfg')).err, /^Did you mean kubeconfig\?$/m);
});

test('a flag that there is not gets a hint among the flags of its command and those that it passes on', async () => {
  const { code, err } = await run('down', '--data-dri=/x');
  assert.equal(code, 2);
  assert.equal(
    err,
    'Error: unknown flag: --data-dri\nDid you mean --data-dir?\n`binnacle help down` tells how it is used.\n',
  );
  assert.match((await run('up', '--secure-prot=1')).err, /^Did you mean --secure-port\?$/m);
  assert.doesNotMatch((await run('down', '--secure-prot=1')).err, /Did you mean/);
});

test('arguments that a command does not take are wrong usage', async () => {
  for (const argv of [
    ['down', 'now'],
    ['status', '--output=xml'],
    ['completion'],
    ['completion', 'tcsh'],
    ['version', '1'],
  ]) {
    const { code, out } = await run(...argv);
    assert.deepEqual([code, out], [2, ''], argv.join(' '));
  }
});

test('up is not for a store of others', async () => {
  const { code, err } = await run('up', '--etcd-servers=http://127.0.0.1:2379');
  assert.equal(code, 2);
  assert.match(err, /binnacle serve/);
});

test('the version is there for people and for programs', async () => {
  assert.match((await run('version')).out, /^Binnacle 0\.0\.0\nKubernetes v1\.34\.11\n/);
  const facts = JSON.parse((await run('version', '--output=json')).out) as Record<string, string>;
  assert.equal(facts['kubernetes'], 'v1.34.11');
  assert.equal(facts['node'], process.version);
});

test('where nothing runs, status ends with 3, down with 0, and kubeconfig says what to do', async () => {
  assert.deepEqual(await run('status'), {
    code: 3,
    out: 'state       stopped\ndata        /nowhere/.local/state/binnacle\n',
    err: '',
  });
  assert.equal((await run('down', '--data-dir=/nowhere/x')).out, 'Nothing runs in /nowhere/x\n');
  const { code, err } = await run('kubeconfig');
  assert.equal(code, 1);
  assert.match(err, /^error: .* has no kubeconfig: start a server there first, by `binnacle up`\n$/);
});

test('every completion has every command, and flags that take a value apart from those that do not', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { out } = await run('completion', shell);
    for (const { name } of commands()) assert.ok(out.includes(name), `${shell}: ${name}`);
  }
  assert.match((await run('completion', 'bash')).out, / up\) words='--foreground .*--secure-port= /);
  assert.match((await run('completion', 'fish')).out, /subcommand_from kubeconfig" -l merge$/m);
  assert.match((await run('completion', 'fish')).out, /subcommand_from kubeconfig" -l into -r$/m);
});
