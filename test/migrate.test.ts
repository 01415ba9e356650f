// Moving a server's objects from its data folder to etcd and back: every object is the same through the API.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openEtcdStore } from '../src/kv/etcd/etcd.js';
import { markerKey } from '../src/kv/fill-store.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { directDialer } from '../src/outbound/dialer.js';
import { type EtcdProcess, etcdPrograms, startEtcd } from './etcd-process.js';
import { startTestServer, type TestServer } from './support/server.js';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();
const [etcdProgram] = etcdPrograms();

interface Listed {
  readonly metadata: { readonly name: string; readonly namespace?: string; resourceVersion?: string };
}

const CONFIG_MAPS = 400;
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const SAMPLES: readonly [string, object][] = [
  ['/api/v1/namespaces/default/secrets', { metadata: { name: 'pass' }, stringData: { word: 'ünïcode' } }],
  [
    '/api/v1/namespaces/default/services',
    { metadata: { name: 'web' }, spec: { selector: { a: 'b' }, ports: [{ port: 80 }] } },
  ],
  [
    '/apis/apps/v1/namespaces/default/deployments',
    {
      metadata: { name: 'web', labels: { app: 'web' } },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'app', image: 'web:1' }] } },
      },
    },
  ],
  [
    '/api/v1/namespaces/default/events',
    { metadata: { name: 'e' }, involvedObject: { namespace: 'default' }, reason: 'Seen' },
  ],
  [
    DEFINITIONS,
    {
      metadata: { name: 'things.example.test' },
      spec: {
        group: 'example.test',
        names: { plural: 'things', kind: 'Thing' },
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    },
  ],
];
const ENCRYPTION = {
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'EncryptionConfiguration',
  resources: [
    {
      resources: ['customresourcedefinitions.apiextensions.k8s.io'],
      providers: [{ aesgcm: { keys: [{ name: 'key1', secret: Buffer.alloc(32, 7).toString('base64') }] } }],
    },
  ],
};
const COMPARED = [
  '/api/v1/namespaces',
  '/api/v1/configmaps',
  '/api/v1/secrets',
  '/api/v1/services',
  '/api/v1/events',
  '/apis/apps/v1/deployments',
  DEFINITIONS,
  '/apis/example.test/v1/things',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  '/apis/networking.k8s.io/v1/ipaddresses',
];

describe('binnacle migrate', { skip: etcdProgram === undefined && 'no etcd', timeout: 300_000 }, () => {
  const work = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-migrate-'));
  const source = path.join(work, 'source');
  const key = path.join(work, 'sa.key');
  let etcd: EtcdProcess;
  let stored: Map<string, Listed>;
  before(async () => {
    fs.mkdirSync(source);
    execFileSync('openssl', ['genrsa', '-out', key, '2048'], { stdio: 'ignore' });
    etcd = await startEtcd(etcdProgram?.program ?? '');
    stored = await writeObjects();
  });
  after(async () => {
    await etcd.remove();
    fs.rmSync(work, { recursive: true, force: true });
  });

  const binnacle = (...args: string[]): Promise<{ code: number; out: string; err: string }> =>
    new Promise((resolve) => {
      execFile(path.join(root, 'bin', 'binnacle'), args, (error, out, err) =>
        resolve({ code: Number(error?.code ?? 0), out, err }),
      );
    });
  const flags = [
    `--service-account-key-file=${key}`,
    `--service-account-signing-key-file=${key}`,
    '--service-account-issuer=https://kubernetes.default.svc',
  ];
  const onFolder = (folder: string): Promise<TestServer> =>
    startTestServer({ folder, flags, adminToken: 'admin-token', keepsConnections: true });
  const onEtcd = (): Promise<TestServer> =>
    startTestServer({ flags: [`--etcd-servers=${etcd.url}`, ...flags], adminToken: 'admin-token' });
  const ended = async (server: TestServer): Promise<void> => {
    process.kill(server.pid, 'SIGTERM');
    await server.exited;
  };

  async function writeObjects(): Promise<Map<string, Listed>> {
    const server = await onFolder(source);
    try {
      const create = async (at: string, object: object): Promise<void> => {
        const { status, body } = await server.request('POST', at, object);
        assert.equal(status, 201, body);
      };
      for (const [at, object] of SAMPLES) await create(at, object);
      for (let i = 0; i < CONFIG_MAPS; i++) {
        await create('/api/v1/namespaces/default/configmaps', { metadata: { name: `map-${i}` }, data: { i: `${i}` } });
      }
      const things = '/apis/example.test/v1/namespaces/default/things';
      await pollUntil(async () => (await server.request('GET', things)).status === 200);
      for (let i = 0; i < 20; i++) {
        await create(things, {
          apiVersion: 'example.test/v1',
          kind: 'Thing',
          metadata: { name: `t${i}` },
          deep: { n: i / 3 },
        });
      }
      return await objectsOf(server);
    } finally {
      await ended(server);
    }
  }

  /** By resource and name. */
  async function objectsOf(server: TestServer): Promise<Map<string, Listed>> {
    const objects = new Map<string, Listed>();
    for (const at of COMPARED) {
      const { items } = await pollUntil(async () => {
        const { status, body } = await server.request('GET', at);
        return status === 200 && (JSON.parse(body) as { items: Listed[] });
      });
      // The server itself writes its authority into kube-system at each start.
      const others = items.filter(({ metadata }) => metadata.namespace !== 'kube-system');
      for (const item of others) objects.set(`${at} ${item.metadata.namespace} ${item.metadata.name}`, item);
    }
    return objects;
  }

  const withoutRevisions = (objects: ReadonlyMap<string, Listed>): Map<string, Listed> =>
    new Map(
      [...objects].map(([name, object]) => [
        name,
        { ...object, metadata: { ...object.metadata, resourceVersion: '' } },
      ]),
    );

  it('reports in a dry run what it would do, and writes nothing', async () => {
    const { code, out, err } = await binnacle('migrate', `--from=${source}`, `--to=${etcd.url}`, '--dry-run');
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /^ +\d+ {2}\/registry\/configmaps$/m);
    assert.match(out, /^ +20 {2}\/registry\/example\.test\/things$/m);
    assert.match(out, /^\d+ keys of revision \d+ would be migrated$/m);
    const kv = openEtcdStore({ servers: [etcd.url], dialer: directDialer });
    assert.equal((await kv.range({ start: '/', end: '0', countOnly: true })).count, 0);
    await kv.close();
  });

  it('wants to be allowed to give new revisions', async () => {
    const { code, err } = await binnacle('migrate', `--from=${source}`, `--to=${etcd.url}`);
    assert.equal(code, 2);
    assert.match(err, /add --new-revisions/);
  });

  it('leaves a target that no server starts with when it is interrupted, and goes on', async () => {
    const kv = openEtcdStore({ servers: [etcd.url], dialer: directDialer });
    await kv.create(markerKey('/registry'), Buffer.from('not finished'));
    await kv.create('/registry/configmaps/default/left-over', Buffer.from('half'));
    await assert.rejects(onEtcd(), /a migration into this etcd was not finished/);
    const { code, out, err } = await binnacle('migrate', `--from=${source}`, `--to=${etcd.url}`, '--new-revisions');
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /^\d+ keys of revision \d+ were migrated$/m);
    assert.equal(await kv.get('/registry/configmaps/default/left-over'), undefined);
    const pod = await kv.get('/registry/configmaps/default/map-1');
    assert.equal(pod?.value.toString('latin1', 0, 4), 'k8s\0');
    await kv.close();
  });

  it('refuses a target that has something', async () => {
    const { code, err } = await binnacle('migrate', `--from=${source}`, `--to=${etcd.url}`, '--new-revisions');
    assert.equal(code, 1);
    assert.match(err, /^error: the target has \d+ keys under \/registry\/ already\n$/);
    const back = await binnacle('migrate', `--from=${etcd.url}`, `--to=${source}`);
    assert.match(back.err, /there is a store in .* already/);
  });

  it('moves every object to etcd and back, with the revisions that it has there', async () => {
    const server = await onEtcd();
    let there: Map<string, Listed>;
    try {
      there = await objectsOf(server);
    } finally {
      await server.stop();
    }
    assert.ok(stored.size > CONFIG_MAPS + 80, `${stored.size} objects`);
    assert.deepEqual(withoutRevisions(there), withoutRevisions(stored));
    const folder = path.join(work, 'back');
    const { code, err } = await binnacle('migrate', `--from=${etcd.url}`, `--to=${folder}`);
    assert.deepEqual([code, err], [0, '']);
    assert.match((await binnacle('verify', folder)).out, /sound\n$/);
    const back = await onFolder(folder);
    try {
      assert.deepEqual(await objectsOf(back), there);
    } finally {
      await ended(back);
    }
  });

  it('moves encrypted definitions as they are, and a server with the same keys serves them', async () => {
    const keys = path.join(work, 'encryption.yaml');
    fs.writeFileSync(keys, JSON.stringify(ENCRYPTION));
    const encrypted = [...flags, `--encryption-provider-config=${keys}`];
    const other = await startEtcd(etcdProgram?.program ?? '');
    try {
      const first = await startTestServer({
        flags: [`--etcd-servers=${other.url}`, ...encrypted],
        adminToken: 'admin-token',
      });
      let created: string;
      try {
        for (const [at, object] of SAMPLES.slice(-1))
          assert.equal((await first.request('POST', at, object)).status, 201);
        created = await thingsOf(first);
      } finally {
        await first.stop();
      }
      const folder = path.join(work, 'encrypted');
      assert.equal((await binnacle('migrate', `--from=${other.url}`, `--to=${folder}`)).code, 0);
      const target = await startTestServer({ folder, flags: encrypted, adminToken: 'admin-token' });
      try {
        assert.equal(await thingsOf(target), created);
      } finally {
        await target.stop();
      }
    } finally {
      await other.remove();
    }
  });

  /** The definition's specification, once its resource is served. */
  async function thingsOf(server: TestServer): Promise<string> {
    await pollUntil(async () => (await server.request('GET', '/apis/example.test/v1/things')).status === 200);
    const { body } = await server.request('GET', `${DEFINITIONS}/things.example.test`);
    return JSON.stringify((JSON.parse(body) as { spec: object }).spec);
  }
});
