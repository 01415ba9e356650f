// runs-on: every-node
// `binnacle run -- COMMAND`, with real processes: what the command gets, how it ends, and that nothing is left.
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { pollUntil } from '../src/lib/testing/poll-until.js';

const root = path.resolve(process.env['BINNACLE_ROOT'] ?? '.');

describe('binnacle run', { timeout: 120_000 }, () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-run-'));
  after(() => fs.rmSync(home, { recursive: true, force: true }));

  interface Run {
    readonly child: ChildProcess;
    readonly ended: Promise<{ code: number | null; out: string; err: string }>;
    /** What lies in its folder for temporary files. */
    readonly left: () => string[];
  }
  const start = (...args: string[]): Run => {
    const temporary = fs.mkdtempSync(path.join(home, 'tmp-'));
    const child = spawn(path.join(root, 'bin', 'binnacle'), ['run', ...args], {
      cwd: home,
      env: { ...process.env, TMPDIR: temporary },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (text: Buffer) => (out += text.toString()));
    child.stderr.on('data', (text: Buffer) => (err += text.toString()));
    const ended = new Promise<Awaited<Run['ended']>>((resolve) =>
      child.once('close', (code) => resolve({ code, out, err })),
    );
    return { child, ended, left: () => fs.readdirSync(temporary) };
  };
  const node = (script: string): string[] => ['--', process.execPath, '-e', script];
  const GET = `
    const https = require('node:https'), fs = require('node:fs');
    const config = fs.readFileSync(process.env.KUBECONFIG, 'utf8');
    const field = (name) => Buffer.from(config.match(new RegExp(name + '-data: (.*)'))[1], 'base64');
    const identity = { ca: field('certificate-authority'), cert: field('client-certificate'), key: field('client-key') };
    const get = (at, then) => https.get(config.match(/server: (.*)/)[1] + at, { ...identity, agent: false }, (answer) => {
      let text = ''; answer.on('data', (piece) => (text += piece)).on('end', () => then(answer.statusCode, text)); });
  `;
  const lastOutput = (child: ChildProcess): Promise<unknown> =>
    new Promise((resolve) => child.stdout?.once('data', resolve));

  it('gives the command a cluster with the manifests, and ends with its exit code', async () => {
    fs.mkdirSync(path.join(home, 'manifests'));
    const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
    fs.writeFileSync(path.join(home, 'manifests', 'shop.json'), JSON.stringify(shop));
    const { ended, left } = start(
      '--manifests=manifests',
      '--audit',
      'audit.jsonl',
      '--emulated-version=1.33',
      ...node(`${GET}
      const { USE_EXISTING_CLUSTER, KUBEBUILDER_ASSETS } = process.env;
      console.log(USE_EXISTING_CLUSTER, fs.existsSync(KUBEBUILDER_ASSETS + '/kube-apiserver'));
      get('/api/v1/namespaces/shop', (code) => { console.log(code); get('/version', (_, text) => {
        console.log(JSON.parse(text).emulationMinor); process.exitCode = 7; }); });`),
    );
    const { code, out, err } = await ended;
    assert.deepEqual([code, out], [7, 'true true\n200\n33\n'], err);
    assert.deepEqual(left(), []);
    const events = fs.readFileSync(path.join(home, 'audit.jsonl'), 'utf8').trim().split('\n');
    const uris = events.map((line) => (JSON.parse(line) as { requestURI: string }).requestURI);
    assert.ok(uris.includes('/api/v1/namespaces/shop'), uris.join());
  });

  it('says what is wrong before it starts anything, and what could not be started', async () => {
    const usage = await start('--no-such-flag', '--', 'true').ended;
    assert.deepEqual([usage.code, usage.err.split('\n')[0]], [2, 'Error: unknown flag: --no-such-flag']);
    assert.equal((await start('true').ended).err.split('\n')[0], 'Error: put -- before the command');
    const refused = start('--min-request-timeout=-1', '--', 'true');
    const { code, err } = await refused.ended;
    assert.equal(code, 1);
    assert.match(err, /--min-request-timeout can not be negative value/);
    assert.deepEqual(refused.left(), []);
    const missing = start('--', 'no-such-command-anywhere');
    assert.equal((await missing.ended).code, 127);
    assert.deepEqual(missing.left(), []);
  });

  it('has commands to mark a state, to bring it back, and to fork it', async () => {
    const { ended, left } = start(
      ...node(`
      const { execFileSync } = require('node:child_process');
      const run = (...args) => execFileSync(${JSON.stringify(path.join(root, 'bin', 'binnacle'))}, ['cluster', ...args], { encoding: 'utf8' });
      const snapshot = run('snapshot').trim();
      console.log(snapshot, run('reset', snapshot).trim(), /^c2 .*admin.kubeconfig$/.test(run('fork', snapshot).trim()));
      console.log(run('audit', '--id=c2'));
      run('stop', '--id=c2');
      try { run('reset', 'none') } catch (error) { console.log(error.status, error.stderr.toString()); }`),
    );
    const { code, out, err } = await ended;
    assert.equal(code, 0, err);
    assert.equal(out, 's1 0 objects changed true\n\n1 error: the cluster has no snapshot none\n\n');
    assert.deepEqual(left(), []);
  });

  it('makes faults by the rules of a file, from the start and later on', async () => {
    const rules = (code: number): string => `rules:\n- { fault: error, code: ${code}, verbs: [list], times: 1 }\n`;
    fs.writeFileSync(path.join(home, 'first.yaml'), rules(503));
    fs.writeFileSync(path.join(home, 'second.yaml'), rules(429));
    const { ended, left } = start(
      '--faults=first.yaml',
      ...node(`${GET}
      const { execFileSync } = require('node:child_process');
      const faults = (...args) => JSON.parse(execFileSync(${JSON.stringify(path.join(root, 'bin', 'binnacle'))}, ['cluster', 'faults', ...args], { encoding: 'utf8' }));
      const list = () => new Promise((resolve) => get('/api/v1/namespaces', resolve));
      (async () => {
        console.log(await list(), await list(), faults().hits.join());
        console.log(faults('second.yaml').hits.join(), await list(), await list());
        console.log(faults('second.yaml').hits.length, faults('off').hits.length, await list());
      })();`),
    );
    const { code, out, err } = await ended;
    assert.deepEqual([code, out], [0, '503 200 1\n0 429 200\n1 0 200\n'], err);
    assert.deepEqual(left(), []);
    fs.writeFileSync(path.join(home, 'wrong.yaml'), 'rules:\n- { fault: error, code: 404 }\n');
    const refused = start('--faults=wrong.yaml', '--', 'true');
    const wrong = await refused.ended;
    assert.equal(wrong.code, 1, wrong.err);
    assert.match(wrong.err, /rules\[0\]\.code must be one of/);
    assert.deepEqual(refused.left(), []);
  });

  it('passes signals on to the command, and ends after it', async () => {
    const { child, ended, left } = start(
      ...node(`
      process.on('SIGTERM', () => { console.log('asked to end'); process.exit(5); });
      setInterval(() => undefined, 1000); console.log('running');`),
    );
    await lastOutput(child);
    child.kill('SIGTERM');
    const { code, out } = await ended;
    assert.deepEqual([code, out], [5, 'running\nasked to end\n']);
    assert.deepEqual(left(), []);
  });

  it('leaves Ctrl-C to the command, which the terminal sends it too', async () => {
    const { child, ended, left } = start(
      ...node(
        `process.on('SIGTERM', () => process.exit(6)); setInterval(() => undefined, 1000); console.log('running');`,
      ),
    );
    await lastOutput(child);
    child.kill('SIGINT');
    child.kill('SIGTERM');
    assert.equal((await ended).code, 6);
    assert.deepEqual(left(), []);
  });

  it('answers a command that a signal ended as shells do', async () => {
    const { ended, left } = start(...node(`process.kill(process.pid, 'SIGKILL')`));
    assert.equal((await ended).code, 128 + 9);
    assert.deepEqual(left(), []);
  });

  it('ends the command when the cluster dies', async () => {
    const { ended, left } = start(
      ...node(`
      process.on('SIGTERM', () => process.exit(0));
      setInterval(() => undefined, 1000);
      const http = require('node:http');
      http.get({ socketPath: process.env.BINNACLE_CONTROL, path: '/v1/host' }, (answer) => {
        let text = ''; answer.on('data', (piece) => (text += piece)).on('end', () => process.kill(JSON.parse(text).pid, 'SIGKILL')); });`),
    );
    const { code, err } = await ended;
    assert.equal(code, 1);
    assert.match(err, /error: the cluster has ended: SIGKILL/);
    assert.deepEqual(left(), []);
  });

  it('keeps the cluster where that is wanted, until it is stopped', async () => {
    const { ended, left } = start('--keep', ...node(`console.log(process.env.BINNACLE_CONTROL)`));
    const { code, err } = await ended;
    assert.equal(code, 0, err);
    assert.equal(left().length, 1);
    assert.ok(fs.existsSync(/KUBECONFIG=(.*)/.exec(err)?.[1] ?? ''), err);
    const stop = /To stop it: binnacle (.*)/.exec(err)?.[1]?.split(' ') ?? [];
    execFileSync(path.join(root, 'bin', 'binnacle'), stop);
    await pollUntil(left, (names) => names.length === 0);
  });
});
