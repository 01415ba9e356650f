// runs: alone (how long requests take is judged)
// One client floods the real server with lists; another, and the system's own traffic, go on being served. By hand the
// flood may be longer: FLOOD_REQUESTS=20000.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import fs from 'node:fs';
import http2, { type ClientHttp2Session } from 'node:http2';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startTestServer, type TestServer } from './support/server.js';

const FLOOD = Number(process.env['FLOOD_REQUESTS'] ?? 4_000);
const FLOOD_AT_ONCE = 1000;
const CONNECTIONS = 10;
const MAPS = 100;

let server: TestServer;
let folder: string;
before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flood-'));
  const tokens = path.join(folder, 'tokens.csv');
  fs.writeFileSync(tokens, 'flood,elephant,e\nsmall,mouse,m\nlease,system:kube-scheduler,s\n');
  server = await startTestServer({
    flags: [`--token-auth-file=${tokens}`, '--max-requests-inflight=40', '--max-mutating-requests-inflight=20'],
  });
  await server.request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', {
    metadata: { name: 'readers' },
    rules: [{ verbs: ['get', 'list', 'create'], apiGroups: [''], resources: ['configmaps'] }],
  });
  await server.request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'readers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'readers' },
    subjects: ['elephant', 'mouse'].map((name) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name })),
  });
  fs.writeFileSync(path.join(folder, 'flood.cjs'), FLOODER);
  for (let i = 0; i < MAPS; i++) {
    const map = { metadata: { name: `map-${i}` }, data: { text: 'x'.repeat(2000) } };
    assert.equal((await server.request('POST', '/api/v1/namespaces/default/configmaps', map)).status, 201);
  }
});
after(async () => {
  await server.stop();
  fs.rmSync(folder, { recursive: true });
});

const connect = (): ClientHttp2Session => {
  const session = http2.connect(server.url, { rejectUnauthorized: false });
  session.on('error', () => undefined);
  return session;
};

function get(session: ClientHttp2Session, token: string, at: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': at, authorization: `Bearer ${token}` });
    let status = 0;
    stream.on('response', (headers) => (status = Number(headers[':status'])));
    stream.on('error', reject);
    stream.on('end', () => resolve(status));
    stream.resume();
  });
}

/** One after another until stopped; how long each took, in milliseconds. */
async function trickle(token: string, at: string, wanted: number, stop: () => boolean): Promise<number[]> {
  const session = connect();
  const took: number[] = [];
  while (!stop()) {
    const startMs = performance.now();
    assert.equal(await get(session, token, at), wanted);
    took.push(performance.now() - startMs);
  }
  session.close();
  return took;
}

interface Flood {
  readonly begun: Promise<void>;
  readonly isOver: () => boolean;
  /** How many answers there were of each status. */
  readonly statuses: Promise<Map<number, number>>;
}

/** From a process of its own, so that only the server is shared. */
function startFlood(): Flood {
  const child = fork(path.join(folder, 'flood.cjs'), [server.url, String(FLOOD)]);
  let over = false;
  const messages: unknown[] = [];
  child.on('message', (message) => messages.push(message));
  const begun = new Promise<void>((resolve) => child.once('message', () => resolve()));
  const statuses = new Promise<Map<number, number>>((resolve) => {
    child.once('exit', () => {
      over = true;
      resolve(new Map(messages.at(-1) as [number, number][]));
    });
  });
  return { begun, isOver: () => over, statuses };
}

/** Lists are answered as they come; writes wait for the disk, so that they are many at once. */
const FLOODER = `
const http2 = require('node:http2');
const [url, count] = process.argv.slice(2);
const sessions = Array.from({ length: ${CONNECTIONS} }, () => http2.connect(url, { rejectUnauthorized: false }));
let left = Number(count);
const statuses = new Map();
const send = (session, write) => new Promise((resolve) => {
  const path = write ? '/api/v1/namespaces/default/configmaps' : '/api/v1/configmaps';
  const stream = session.request({ ':method': write ? 'POST' : 'GET', ':path': path, authorization: 'Bearer flood', ...(write && { 'content-type': 'application/json' }) });
  let status = 0;
  stream.on('response', (headers) => (status = Number(headers[':status'])));
  stream.on('error', resolve);
  stream.on('end', () => resolve(statuses.set(status, (statuses.get(status) ?? 0) + 1)));
  stream.resume().end(write ? '{"metadata":{"generateName":"flooded-"}}' : undefined);
});
const work = async (i) => { while (left-- > 0) await send(sessions[i % sessions.length], i % 4 === 0); };
process.send('begun');
Promise.all(Array.from({ length: ${FLOOD_AT_ONCE} }, (_, i) => work(i))).then(() => process.send([...statuses], () => process.exit(0)));
`;

const percentile = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? NaN;

test('a flood is refused where it is too much, and leaves others their share', async (t) => {
  const map = '/api/v1/namespaces/default/configmaps/map-7';
  const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler';
  let idle = 0;
  const quiet = await trickle('small', map, 200, () => idle++ >= 300);

  const flood = startFlood();
  await flood.begun;
  const [small, system, statuses] = await Promise.all([
    trickle('small', map, 200, flood.isOver),
    trickle('lease', lease, 404, flood.isOver),
    flood.statuses,
  ]);

  const figures = { idle: percentile(quiet, 0.99), small: percentile(small, 0.99), system: percentile(system, 0.99) };
  t.diagnostic(`milliseconds at the 99th percentile: ${JSON.stringify(figures)}`);
  t.diagnostic(`the flood was answered: ${JSON.stringify(Object.fromEntries(statuses))}, ${small.length} small ones`);
  assert.ok((statuses.get(200) ?? 0) > 0 && (statuses.get(201) ?? 0) > 0, 'the flood has its share');
  assert.ok((statuses.get(429) ?? 0) > 0, 'and gets 429 when it is too much');
  assert.deepEqual(
    [...statuses.keys()].filter((status) => ![200, 201, 429].includes(status)),
    [],
  );
  assert.ok(small.length > 20 && system.length > 20, 'others are served meanwhile');
  // On a machine that others use as well everything takes longer, also a request by itself.
  const soonMs = Math.max(500, 10 * figures.idle);
  assert.ok(figures.small < soonMs && figures.system < soonMs, 'and soon');
});
