// workers: one, it meters the process that it starts
// What an audit log keeps of large requests is made without keeping others waiting.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { longestTask } from '../support/longest-task.js';
import { startTestServer, type TestServer } from '../support/server.js';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();
const KEYS = 40_000;
/** Of the processor's time, with what a busy machine's cold caches take; what is not divided takes more than 400. */
const MAX_MS = 240;
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

let server: TestServer;
let folder = '';

before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-records-'));
  const policy = path.join(folder, 'policy.json');
  const rules = [{ level: 'RequestResponse', resources: [{ group: '', resources: ['configmaps'] }] }];
  fs.writeFileSync(policy, JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }));
  server = await startTestServer({
    adminToken: 'records',
    flags: [`--audit-policy-file=${policy}`, `--audit-log-path=${path.join(folder, 'log')}`],
    meterTasks: path.join(root, 'test', 'support', 'task-meter.cjs'),
  });
});

after(async () => {
  await server.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** The longest task while this is done, and the last line of the log. */
async function recorded(send: () => Promise<unknown>): Promise<{ longestMs: number; event: Recorded }> {
  await longestTask(server.folder);
  await send();
  const { longestMs } = await longestTask(server.folder);
  const lines = fs.readFileSync(path.join(folder, 'log'), 'utf8').trimEnd().split('\n');
  return { longestMs, event: JSON.parse(lines.at(-1) ?? '') as Recorded };
}

interface Recorded {
  readonly stage: string;
  readonly requestObject: { readonly data: Readonly<Record<string, string>> };
  readonly responseObject: { readonly rows?: readonly object[] };
  readonly responseStatus: { readonly code: number };
}

test('a large apply in YAML is recorded as what it says', { timeout: 120_000 }, async () => {
  const data = Array.from({ length: KEYS }, (_, i) => `  k${i}: ""\n`).join('');
  const yaml = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n${data}`;
  const { longestMs, event } = await recorded(() =>
    server.send('PATCH', `${CONFIG_MAPS}/x?fieldManager=a`, yaml, { 'content-type': 'application/apply-patch+yaml' }),
  );
  assert.equal(event.responseStatus.code, 201);
  assert.equal(Object.keys(event.requestObject.data).length, KEYS);
  assert.ok(longestMs < MAX_MS, `${longestMs} ms`);
});

test('a list of it as a table is recorded as it was answered', { timeout: 120_000 }, async () => {
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const { longestMs, event } = await recorded(() => server.send('GET', CONFIG_MAPS, undefined, { accept }));
  assert.equal(event.responseObject.rows?.length, 1);
  assert.ok(longestMs < MAX_MS, `${longestMs} ms`);
});

test('large lists of many at once are recorded one after the other', { timeout: 120_000 }, async () => {
  const data = { a: 'v'.repeat(450_000), b: 'v'.repeat(450_000) };
  for (let i = 0; i < 20; i++) await server.request('POST', CONFIG_MAPS, { metadata: { name: `large-${i}` }, data });
  const { longestMs, event } = await recorded(() =>
    Promise.all(Array.from({ length: 15 }, () => server.request('GET', CONFIG_MAPS))),
  );
  assert.equal(event.responseStatus.code, 200);
  // In one task they take 0.3 s or more.
  assert.ok(longestMs < 200, `${longestMs} ms`);
});
