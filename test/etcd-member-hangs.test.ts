// A server on three members of etcd, the first of which hangs: requests and watches go on with the others.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { it } from 'node:test';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { type EtcdProcess, etcdPrograms, startEtcdCluster } from './etcd-process.js';
import { startControlPlane } from './support/control-plane.js';
import { startTestServer, type TestAnswer, type TestServer } from './support/server.js';

const MAPS = '/api/v1/namespaces/default/configmaps';
const READS = 200;
const [newest] = etcdPrograms();

it(
  'a member of etcd that hangs holds neither requests nor watches',
  { timeout: 180_000, skip: newest === undefined && 'no etcd program at hand' },
  async () => {
    const cluster = await startEtcdCluster(newest?.program ?? '', 3);
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-member-hangs-'));
    const [first] = cluster as [EtcdProcess, ...EtcdProcess[]];
    let server: TestServer | undefined;
    const stop = new AbortController();
    try {
      server = await startOn(cluster, folder);
      const seen = new Set<string>();
      await server.watch(`${MAPS}?watch=1`, stop.signal, ({ object }) => {
        seen.add((object as { metadata: { name: string } }).metadata.name);
      });
      first.pause();
      // Where it was the leader, another is elected first.
      await pollUntil(() => created(server, 'a'));
      for (let i = 0; i < READS; i++) {
        const answer: TestAnswer = await server.request('GET', `${MAPS}/a`);
        assert.equal(answer.status, 200);
      }
      await pollUntil(() => created(server, 'b'));
      await pollUntil(() => seen.has('a') && seen.has('b'));
    } finally {
      first.resume();
      stop.abort();
      await server?.stop();
      await Promise.all(cluster.map((member) => member.remove()));
      fs.rmSync(folder, { recursive: true, force: true });
    }
  },
);

it(
  'an etcd that hangs alone fails requests within their deadline, and says so',
  { timeout: 120_000, skip: newest === undefined && 'no etcd program at hand' },
  async () => {
    const controlPlane = await startControlPlane(newest?.program ?? '');
    try {
      const server = await controlPlane.start([]);
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
      assert.equal((await server.request('POST', MAPS, body)).status, 201);
      controlPlane.etcd.pause();
      const [get, list, post, late] = await Promise.all([
        server.request('GET', `${MAPS}/a`),
        server.request('GET', MAPS),
        server.request('POST', MAPS, { ...body, metadata: { name: 'b' } }),
        server.request('GET', `${MAPS}/a?timeout=1s`),
      ]);
      for (const answer of [get, list, post]) {
        assert.equal(answer.status, 503, answer.body);
        assert.match(answer.body, /etcd is unavailable: context deadline exceeded/);
      }
      assert.equal(late.status, 504, late.body);
      controlPlane.etcd.resume();
      await pollUntil(async () => (await server.request('GET', `${MAPS}/a`)).status === 200);
    } finally {
      await controlPlane.remove();
    }
  },
);

async function created(server: TestServer | undefined, name: string): Promise<boolean> {
  const made = await server?.request('POST', MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
  // One that failed may have been made all the same.
  return made?.status === 201 || made?.status === 409;
}

function startOn(cluster: readonly EtcdProcess[], folder: string): Promise<TestServer> {
  const key = path.join(folder, 'service-accounts.key');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  fs.writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return startTestServer({
    flags: [
      `--etcd-servers=${cluster.map(({ url }) => url).join(',')}`,
      `--service-account-key-file=${key}`,
      `--service-account-signing-key-file=${key}`,
      '--service-account-issuer=https://kubernetes.default.svc',
    ],
    adminToken: 'admin-token',
  });
}
