// One client floods the real server with lists; another, and the system's own traffic, go on being served.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http2, { type ClientHttp2Session } from 'node:http2';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startTestServer, type TestServer } from './support/server.js';

const FLOOD = Number(process.env['FLOOD_REQUESTS'] ?? 1500);
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
    rules: [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps'] }],
  });
  await server.request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'readers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'readers' },
    subjects: ['elephant', 'mouse'].map((name) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name })),
  });
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

/** One after another until told; how long each took, in milliseconds. */
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

const percentile = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? NaN;

test('a flood of lists leaves others their share', async (t) => {
  const map = '/api/v1/namespaces/default/configmaps/map-7';
  const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler';
  let idle = 0;
  const quiet = await trickle('small', map, 200, () => idle++ >= 300);

  let left = FLOOD;
  const statuses = new Map<number, number>();
  const sessions = Array.from({ length: CONNECTIONS }, connect);
  const flooding = Array.from({ length: FLOOD_AT_ONCE }, async (_, i) => {
    const session = sessions[i % sessions.length];
    while (left-- > 0 && session !== undefined) {
      const status = await get(session, 'flood', '/api/v1/configmaps');
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  });
  const over = (): boolean => left <= 0;
  const [small, system] = await Promise.all([
    trickle('small', map, 200, over),
    trickle('lease', lease, 404, over),
    ...flooding,
  ]);
  for (const session of sessions) session.close();

  const figures = { idle: percentile(quiet, 0.99), small: percentile(small, 0.99), system: percentile(system, 0.99) };
  t.diagnostic(`milliseconds at the 99th percentile: ${JSON.stringify(figures)}`);
  t.diagnostic(`the flood was answered: ${JSON.stringify(Object.fromEntries(statuses))}, ${small.length} small ones`);
  assert.ok((statuses.get(200) ?? 0) > 0, 'the flood has its share');
  assert.deepEqual(
    [...statuses.keys()].filter((status) => status !== 200 && status !== 429),
    [],
  );
  assert.ok(small.length > 20 && system.length > 20, 'others are served meanwhile');
  assert.ok(figures.small < 500 && figures.system < 500, 'and soon');
});
