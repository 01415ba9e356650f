// workers: one, it meters the process that it starts
// The end of something that very many objects belong to keeps nobody waiting: the collector and the namespaces' controller
// go through them little by little.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pollUntil, settled } from '../../src/lib/testing/poll-until.js';
import { openEmbeddedStore } from '../../src/kv/embedded/embedded.js';
import { longestTask } from '../support/longest-task.js';
import { startTestServer, type TestServer } from '../support/server.js';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();
const BELONGING = 3_000;
/** When so many are done, all that is done at the beginning was done. */
const ENOUGH = 250;
/** Of the processor's time, with what a busy machine's cold caches take. In one task these take 0.2 to 0.4 s. */
const MAX_MS = 150;

let server: TestServer;

const at = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;

interface Listed {
  readonly metadata: { readonly remainingItemCount?: number };
  readonly items: readonly { readonly metadata: { readonly ownerReferences?: unknown } }[];
}

const OWNERS = ['background', 'foreground', 'orphan'];

before(async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-test-'));
  await fill(folder);
  server = await startTestServer({
    folder,
    flags: ['--controllers=garbagecollector,namespace'],
    meterTasks: path.join(root, 'test', 'support', 'task-meter.cjs'),
  });
  for (const name of [...OWNERS, 'ended']) await server.request('POST', '/api/v1/namespaces', { metadata: { name } });
});

after(() => server.stop());

/** As the server stores them: to create so many by requests would take a minute. */
async function fill(folder: string): Promise<void> {
  const kv = await openEmbeddedStore({ folder });
  const uids = new Map(OWNERS.map((name, i) => [name, `00000000-0000-4000-8000-00000000000${i}`]));
  const creationTimestamp = '2026-01-01T00:00:00Z';
  const stored = (namespace: string, name: string, metadata: object): Promise<unknown> =>
    kv.create(
      `/registry/configmaps/${namespace}/${name}`,
      Buffer.from(
        JSON.stringify({
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: { name, namespace, creationTimestamp, ...metadata },
        }),
      ),
    );
  const made: Promise<unknown>[] = [];
  for (const [name, uid] of uids) {
    made.push(stored(name, 'owner', { uid }));
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, blockOwnerDeletion: true };
    for (let i = 0; i < BELONGING; i++)
      made.push(stored(name, `d${i}`, { uid: `${name}-${i}`, ownerReferences: [owner] }));
  }
  for (let i = 0; i < BELONGING; i++) made.push(stored('ended', `d${i}`, { uid: `ended-${i}` }));
  await Promise.all(made);
  await kv.close();
}

/** Looks at the first objects of a namespace now and then, until they show that it has come so far. */
async function longestUntil(namespace: string, hasCome: (listed: Listed) => boolean): Promise<number> {
  let longestMs = 0;
  await pollUntil(async () => {
    const { body } = await server.request('GET', `${at(namespace)}?limit=${ENOUGH}`);
    longestMs = Math.max(longestMs, (await longestTask(server.folder)).longestMs);
    return hasCome(JSON.parse(body) as Listed);
  });
  return longestMs;
}

const someAreGone = ({ metadata }: Listed): boolean => (metadata.remainingItemCount ?? 0) + 2 * ENOUGH < BELONGING;
const someAreFree = ({ items }: Listed): boolean =>
  items.filter(({ metadata }) => metadata.ownerReferences === undefined).length > ENOUGH / 2;

for (const name of OWNERS) {
  test(`the end of an owner with very many dependents makes no long task: ${name}`, { timeout: 120_000 }, async () => {
    await longestTask(server.folder);
    const policy = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
    const { status, body } = await server.request('DELETE', `${at(name)}/owner?propagationPolicy=${policy}`);
    assert.equal(status, 200, body);
    const longestMs = await longestUntil(name, name === 'orphan' ? someAreFree : someAreGone);
    assert.ok(longestMs < MAX_MS, `${longestMs} ms`);
  });
}

test('a dry run that deletes very many objects makes no long task', { timeout: 120_000 }, async () => {
  await longestTask(server.folder);
  const { status, body } = await server.request('DELETE', `${at('ended')}?dryRun=All`);
  assert.equal(status, 200, body);
  const { longestMs } = await longestTask(server.folder);
  assert.ok(longestMs < MAX_MS, `${longestMs} ms`);
});

test('no more is deleted of very many objects when the time for it is over', { timeout: 120_000 }, async () => {
  const left = async (): Promise<number> => {
    const { body } = await server.request('GET', `${at('ended')}?limit=1`);
    return (JSON.parse(body) as Listed).metadata.remainingItemCount ?? 0;
  };
  assert.equal((await server.request('DELETE', `${at('ended')}?timeout=50ms`)).status, 504);
  // What was under way may end; what goes on ends with none.
  const leftThen = await settled(left);
  assert.ok(leftThen > BELONGING / 2, `${leftThen} are left`);
});

test('the end of a namespace with very many objects makes no long task', { timeout: 120_000 }, async () => {
  await longestTask(server.folder);
  const { status, body } = await server.request('DELETE', '/api/v1/namespaces/ended');
  assert.equal(status, 200, body);
  const longestMs = await longestUntil('ended', someAreGone);
  assert.ok(longestMs < MAX_MS, `${longestMs} ms`);
});
