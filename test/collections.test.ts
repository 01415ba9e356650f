// workers: one, it meters the process that it starts
// V8 collects its whole heap when memory outside of it grows by some megabytes, and that costs more than the requests do.
// So what a cluster does all day leaves no such memory behind: lists of objects that change, and events for many.
import assert from 'node:assert/strict';
import http2 from 'node:http2';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { connectionTo } from './support/connection-to.js';
import { collections } from './support/longest-task.js';
import { startTestServer, type TestServer } from './support/server.js';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();
const MAPS = '/api/v1/namespaces/default/configmaps';
const OBJECTS = 400;
const OBJECT_BYTES = 3_500;
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const WATCHES = 100;
const ROUNDS = 120;
/** A list is 1.4 MB, and an event for all who watch 0.4 MB. Where lists in protobuf are kept until they are collected, there are four full collections. */
const MAX_FULL_COLLECTIONS = 2;
const CREATED = 4000;
const AT_ONCE = 16;
/** One at most with Node.js 20 here, three with 24. Where a map keeps the requests that have left it (lib/values/transient-map.ts), there are five. */
const MAX_OF_CREATES = 3;

let server: TestServer;
const sessions: http2.ClientHttp2Session[] = [];
before(async () => {
  server = await startTestServer({ meterTasks: path.join(root, 'test', 'support', 'task-meter.cjs') });
});
after(async () => {
  for (const session of sessions) session.destroy();
  await server.stop();
});

test('lists of objects that change and events for many connections do not make V8 collect its whole heap', async () => {
  const writer = connect();
  const create = (i: number): Promise<string> => ask(writer, 'POST', MAPS, { body: configMap(i, 0) });
  for (let i = 0; i < OBJECTS; i += 20) await Promise.all(Array.from({ length: 20 }, (_, k) => create(i + k)));
  let events = 0;
  for (let i = 0; i < WATCHES; i++) {
    const stream = connect().request({ ':path': `${MAPS}?watch=1&resourceVersion=0&fieldSelector=metadata.name=m0` });
    await new Promise((resolve) => stream.on('response', resolve));
    stream.on('data', (chunk: Buffer) => (events += chunk.toString().split('\n').length - 1));
  }
  const round = async (n: number): Promise<void> => {
    const seen = events;
    await ask(writer, 'PUT', `${MAPS}/m0`, { body: configMap(0, n + 1) });
    const list = await ask(writer, 'GET', MAPS, { accept: n % 2 === 0 ? 'application/json' : PROTOBUF });
    assert.ok(list.length >= OBJECTS * OBJECT_BYTES);
    while (events < seen + WATCHES) await new Promise((resolve) => setImmediate(resolve));
  };
  // Until then code is compiled, and the heap finds its size.
  for (let n = 0; n < ROUNDS; n++) await round(n);
  const start = await collections(server.folder);
  for (let n = 0; n < ROUNDS; n++) await round(ROUNDS + n);
  const end = await collections(server.folder);
  const full = end.full - start.full;
  assert.ok(full <= MAX_FULL_COLLECTIONS, `${full} full collections in ${ROUNDS} rounds`);
});

test('requests that come many at a time are collected with the young objects once they are answered', async () => {
  const writer = connect();
  const create = (i: number): Promise<string> => ask(writer, 'POST', MAPS, { body: manyKeys(i) });
  let next = 0;
  const createMany = async (end: number): Promise<void> => {
    const several = Array.from({ length: AT_ONCE }, async () => {
      while (next < end) await create(next++);
    });
    await Promise.all(several);
  };
  await createMany(CREATED);
  const start = await collections(server.folder);
  await createMany(2 * CREATED);
  const end = await collections(server.folder);
  const full = end.full - start.full;
  assert.ok(full <= MAX_OF_CREATES, `${full} full collections in ${CREATED} creates`);
});

function connect(): http2.ClientHttp2Session {
  const session = http2.connect(server.url, connectionTo(server));
  sessions.push(session);
  return session;
}

const configMap = (i: number, n: number): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `m${i}` }, data: { n: `${n}`, pad: PAD } });
const PAD = 'x'.repeat(OBJECT_BYTES);

/** As an object it takes many times the memory that is kept of it. */
const manyKeys = (i: number): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `k${i}` }, data: KEYS });
const KEYS = Object.fromEntries(Array.from({ length: 200 }, (_, k) => [`key-${k}`, `value-${k}`]));

function ask(
  session: http2.ClientHttp2Session,
  method: string,
  target: string,
  { body, accept = 'application/json' }: { body?: string; accept?: string },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { ':method': method, ':path': target, accept, 'content-type': 'application/json' };
    const stream = session.request(headers);
    const parts: Buffer[] = [];
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.on('error', reject);
    stream.on('end', () => resolve(Buffer.concat(parts).toString()));
    stream.end(body);
  });
}
