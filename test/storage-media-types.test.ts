// Servers that follow one another on one etcd, each with another stored form: what lies there, and that all is read.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openEtcdStore } from '../src/kv/etcd/etcd.js';
import type { KeyValueStore } from '../src/kv/kv.js';
import { directDialer } from '../src/outbound/dialer.js';
import { type EtcdProcess, etcdPrograms, startEtcd } from './etcd-process.js';
import { startTestServer, type TestServer } from './support/server.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';

const [etcdProgram] = etcdPrograms();
const skip = etcdProgram === undefined && 'there is no etcd: run `node tools/fetch-test-binaries.mjs`';

const CBOR_MARK = 'd9d9f7';
const hex = (text: string): string => Buffer.from(text).toString('hex');

/** A server's flags, and how what it writes begins: a config map, a custom resource, a definition. */
const RUNS = [
  { name: 'protobuf', flags: [], configMap: hex('k8s\0'), widget: hex('{"'), definition: hex('{"') },
  {
    name: 'json',
    flags: ['--storage-media-type=application/json'],
    configMap: hex('{"kind":"ConfigMap","apiVersion":"v1",'),
    widget: hex('{"apiVersion":"example.test/v1",'),
    definition: hex('{"kind":"CustomResourceDefinition",'),
  },
  {
    name: 'yaml',
    flags: ['--storage-media-type=application/yaml'],
    configMap: hex('apiVersion: v1\ndata:\n  by: yaml\nkind: ConfigMap\nmetadata:\n'),
    widget: hex('{"'),
    definition: hex('{"'),
  },
  {
    name: 'cbor',
    flags: ['--feature-gates=CBORServingAndStorage=true'],
    configMap: hex('k8s\0'),
    // A map of four members, the shortest key first.
    widget: `${CBOR_MARK}a444${hex('kind')}`,
    definition: hex('{"'),
  },
  { name: 'after', flags: [], configMap: hex('k8s\0'), widget: hex('{"'), definition: hex('{"') },
];

const definition = (plural: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.test` },
  spec: {
    group: 'example.test',
    scope: 'Namespaced',
    names: { plural, kind: plural[0]?.toUpperCase() + plural.slice(1) },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

describe('stored forms on etcd', { skip, timeout: 120_000 }, () => {
  let etcd: EtcdProcess;
  let kv: KeyValueStore;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-forms-'));
  const key = path.join(folder, 'service-accounts.key');
  before(async () => {
    etcd = await startEtcd(etcdProgram?.program ?? '');
    kv = openEtcdStore({ dialer: directDialer, servers: [etcd.url] });
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    fs.writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  });
  after(async () => {
    await kv?.close();
    await etcd?.remove();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  const start = (flags: readonly string[]): Promise<TestServer> =>
    startTestServer({
      flags: [
        `--etcd-servers=${etcd.url}`,
        `--service-account-key-file=${key}`,
        `--service-account-signing-key-file=${key}`,
        '--service-account-issuer=https://kubernetes.default.svc',
        ...flags,
      ],
      adminToken: 'admin-token',
    });
  const create = async (server: TestServer, to: string, body: object): Promise<void> => {
    const answer = await server.request('POST', to, body);
    assert.equal(answer.status, 201, answer.body);
  };
  const served = async (server: TestServer, to: string): Promise<void> => {
    await pollUntil(async () => (await server.request('GET', to)).status !== 404);
  };
  const beginning = async (at: string, like: string): Promise<string> =>
    ((await kv.get(`/registry/${at}`))?.value.toString('hex') ?? 'nothing').slice(0, like.length);

  const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
  const WIDGETS = '/apis/example.test/v1/namespaces/default/widgets';
  const written: string[] = [];

  for (const { name, flags, ...forms } of RUNS) {
    it(`a server with ${name} reads what those before it wrote, and writes its own form`, async () => {
      const server = await start(flags);
      try {
        const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
        await create(server, crds, definition(`${name}s`));
        if (written.length === 0) await create(server, crds, definition('widgets'));
        await served(server, WIDGETS);
        const data = { by: name };
        await create(server, CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
        const many = Array.from({ length: 2000 }, (_, i) => i + 0.5);
        const spec = { by: name, many, price: 1.25, deep: { on: true, none: null } };
        await create(server, WIDGETS, { apiVersion: 'example.test/v1', kind: 'Widgets', metadata: { name }, spec });
        written.push(name);
        assert.equal(await beginning(`configmaps/default/${name}`, forms.configMap), forms.configMap);
        assert.equal(await beginning(`example.test/widgets/default/${name}`, forms.widget), forms.widget);
        const crd = `apiextensions.k8s.io/customresourcedefinitions/${name}s.example.test`;
        assert.equal(await beginning(crd, forms.definition), forms.definition);
        for (const earlier of written) {
          const map = JSON.parse((await server.request('GET', `${CONFIG_MAPS}/${earlier}`)).body) as { data: unknown };
          assert.deepEqual(map.data, { by: earlier });
          const widget = await server.request('GET', `${WIDGETS}/${earlier}`);
          assert.deepEqual((JSON.parse(widget.body) as { spec: unknown }).spec, { ...spec, by: earlier });
        }
      } finally {
        await server.stop();
      }
    });
  }
});
