// What the modes of the audit log promise, on a real file system that is full, and when the process is killed.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startTestServer, type TestServer } from './support/server.js';

const TOKEN = 'secret';
let folder = '';
let small = '';

before(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-audit-'));
  small = path.join(folder, 'small');
  fs.mkdirSync(small);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', small], { stdio: 'ignore' });
  } catch {
    // Only who may mount can have a file system that fills up; the others meet the device that is always full.
    small = '';
  }
});

after(() => {
  if (small !== '') execFileSync('umount', ['-l', small]);
  fs.rmSync(folder, { recursive: true, force: true });
});

async function start(log: string, mode: string): Promise<TestServer> {
  const policy = path.join(folder, 'policy.json');
  const rules = [
    { level: 'None', nonResourceURLs: ['/readyz', '/metrics'] },
    { level: 'Metadata', nonResourceURLs: ['*'] },
  ];
  fs.writeFileSync(policy, JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }));
  const flags = [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`, `--audit-log-mode=${mode}`];
  return await startTestServer({ flags, adminToken: TOKEN });
}

async function metric(server: TestServer, name: string): Promise<number> {
  const { body } = await server.request('GET', '/metrics');
  const line = body.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.split(' ')[1] ?? 0);
}

/** Every line must be a whole event, the last one too. */
function events(log: string): { stage: string; requestURI: string }[] {
  const lines = fs.readFileSync(log, 'utf8').split('\n');
  assert.equal(lines.pop(), '');
  return lines.map((line) => JSON.parse(line) as { stage: string; requestURI: string });
}

const LOST = 'apiserver_audit_error_total{plugin="log"}';

test('a file system that fills up: every line is whole, what is lost is counted, and room is used again', async (t) => {
  if (small === '') return t.skip('needs the right to mount');
  const log = path.join(small, 'audit.log');
  const server = await start(log, 'blocking');
  try {
    // About 128 events of half a kilobyte fill it.
    while ((await metric(server, LOST)) === 0) {
      assert.equal((await server.request('GET', '/version')).status, 200);
    }
    const held = events(log).length;
    const made = await metric(server, 'apiserver_audit_event_total');
    assert.equal(held + (await metric(server, LOST)), made);
    assert.equal((await server.request('GET', '/version')).status, 200);

    fs.truncateSync(log, 0);
    const lost = await metric(server, LOST);
    assert.equal((await server.request('GET', '/livez')).status, 200);
    assert.deepEqual(
      events(log).map(({ stage, requestURI }) => [stage, requestURI]),
      [
        ['RequestReceived', '/livez'],
        ['ResponseComplete', '/livez'],
      ],
    );
    assert.equal(await metric(server, LOST), lost);
  } finally {
    await server.stop();
  }
});

test('blocking-strict refuses what it cannot record, and serves again when it can', async () => {
  const log = small === '' ? '/dev/full' : path.join(small, 'strict.log');
  if (small !== '') fs.writeFileSync(path.join(small, 'filler'), fillUp(small));
  const server = await start(log, 'blocking-strict');
  try {
    const refused = await server.request('GET', '/version');
    assert.deepEqual(
      [refused.status, refused.body],
      [500, 'Internal Server Error: "/version": failed to store audit event\n'],
    );
    assert.equal(await metric(server, 'apiserver_audit_requests_rejected_total'), 1);
    assert.equal((await server.request('GET', '/readyz')).status, 200);
    if (small === '') return;
    fs.rmSync(path.join(small, 'filler'));
    assert.equal((await server.request('GET', '/version')).status, 200);
    assert.deepEqual(
      events(log).map(({ stage }) => stage),
      ['RequestReceived', 'ResponseComplete'],
    );
  } finally {
    await server.stop();
  }
});

/** As many bytes as are free. */
function fillUp(at: string): Buffer {
  const { bavail, bsize } = fs.statfsSync(at);
  return Buffer.alloc(Number(bavail) * Number(bsize), 'x');
}

test('batch serves on and counts what the disk did not accept', async () => {
  const server = await start('/dev/full', 'batch');
  try {
    assert.equal((await server.request('GET', '/version')).status, 200);
    while ((await metric(server, LOST)) < 2);
    assert.equal(await metric(server, 'apiserver_audit_requests_rejected_total'), 0);
  } finally {
    await server.stop();
  }
});

test('a killed server has recorded whatever it answered', async () => {
  const log = path.join(folder, 'killed.log');
  const server = await start(log, 'blocking');
  const answered: string[] = [];
  const send = async (worker: number): Promise<void> => {
    for (let i = 0; ; i++) {
      const at = `/version?n=${worker}-${i}`;
      const answer = await server.request('GET', at).catch(() => undefined);
      if (answer?.status !== 200) return;
      answered.push(at);
      if (answered.length === 40) void server.kill();
    }
  };
  await Promise.all([1, 2, 3, 4].map(send));
  await server.kill();
  const complete = new Set(
    events(log).flatMap(({ stage, requestURI }) => (stage === 'ResponseComplete' ? [requestURI] : [])),
  );
  assert.ok(answered.length >= 40);
  assert.deepEqual(
    answered.filter((at) => !complete.has(at)),
    [],
  );
});
