// Two servers that serve different APIs, on one etcd: each hands on what only the other serves, and both publish in
// which versions they write.
import assert from 'node:assert/strict';
import https from 'node:https';
import { after, before, describe, it } from 'node:test';
import { etcdPrograms } from './etcd-process.js';
import { createAuthority } from './support/certificates.js';
import { type ControlPlane, startControlPlane } from './support/control-plane.js';
import { startTestServer, type TestAnswer, type TestServer } from './support/server.js';
import { ofEveryWorker } from './support/worker-flags.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';

const [etcdProgram] = etcdPrograms();
const skip = etcdProgram === undefined && 'there is no etcd: run `node tools/fetch-test-binaries.mjs`';
const CANDIDATES = '/apis/coordination.k8s.io/v1beta1/namespaces/default/leasecandidates';
const STORAGE_VERSIONS = '/apis/internal.apiserver.k8s.io/v1alpha1/storageversions';

describe('servers of different releases', { skip, timeout: 120_000 }, () => {
  let controlPlane: ControlPlane;
  let older: TestServer;
  let newer: TestServer;
  before(async () => {
    controlPlane = await startControlPlane(etcdProgram?.program ?? '');
    const serving = createAuthority(controlPlane.folder, 'serving');
    const frontProxy = createAuthority(controlPlane.folder, 'front-proxy');
    const server = serving.issue('server', 'server', {
      dnsNames: ['kubernetes.default.svc'],
      ipAddresses: ['127.0.0.1'],
    });
    const proxy = frontProxy.issue('proxy', 'client');
    const flags = [
      '--feature-gates=UnknownVersionInteroperabilityProxy=true,StorageVersionAPI=true',
      '--advertise-address=127.0.0.1',
      `--tls-cert-file=${server.cert}`,
      `--tls-private-key-file=${server.key}`,
      `--peer-ca-file=${serving.ca}`,
      `--proxy-client-cert-file=${proxy.cert}`,
      `--proxy-client-key-file=${proxy.key}`,
      `--requestheader-client-ca-file=${frontProxy.ca}`,
      '--requestheader-allowed-names=proxy',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    ];
    const runtime = '--runtime-config=internal.apiserver.k8s.io/v1alpha1=true';
    older = await controlPlane.start(
      [...flags, runtime, '--peer-advertise-ip=127.0.0.9', '--peer-advertise-port=7443'],
      'older',
    );
    newer = await controlPlane.start([...flags, `${runtime},coordination.k8s.io/v1beta1=true`], 'newer');
  });
  after(() => controlPlane?.remove());

  const candidate = (name: string) => ({
    apiVersion: 'coordination.k8s.io/v1beta1',
    kind: 'LeaseCandidate',
    metadata: { name },
    spec: { leaseName: 'l', binaryVersion: '1.34.0', emulationVersion: '1.34.0', strategy: 'OldestEmulationVersion' },
  });

  it('hand on what only the other one serves, and answer what nobody serves themselves', async () => {
    assert.equal((await newer.request('POST', CANDIDATES, candidate('direct'))).status, 201);
    await pollUntil(
      () => ofEveryWorker(() => older.request('GET', CANDIDATES)),
      (answers) => answers.every(({ status }) => status === 200),
    );
    const made = await older.request('POST', CANDIDATES, candidate('handed-on'));
    assert.equal(made.status, 201, made.body);
    assert.match((await older.request('GET', `${CANDIDATES}/direct`)).body, /"name":"direct"/);
    const refused = await older.request('POST', CANDIDATES, { ...candidate('wrong'), spec: {} });
    assert.equal(refused.status, 422, 'refusals are handed back');
    assert.equal((await older.request('GET', '/apis/no.such/v1/things')).status, 404);
    const { body } = await older.request('GET', '/metrics');
    assert.match(body, /apiserver_rerouted_request_total\{code="201"\} 1\n/);
  });

  it('never hand on a request twice', async () => {
    const answer = await new Promise<TestAnswer>((resolve, reject) => {
      const headers = { authorization: 'Bearer admin-token', 'x-kubernetes-peer-proxied': 'true' };
      https
        .get(`${older.url}${CANDIDATES}`, { headers, rejectUnauthorized: false, agent: false }, (response) => {
          response.resume();
          resolve({ status: response.statusCode ?? 0, body: '', headers: response.headers });
        })
        .on('error', reject);
    });
    assert.equal(answer.status, 404);
  });

  it('publish where they are reached, and in which versions they write', async () => {
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
    const { body } = await newer.request('GET', `${leases}?labelSelector=kubernetes.io/hostname%3Dolder`);
    const { items } = JSON.parse(body) as { items: { metadata: { annotations: Record<string, string> } }[] };
    assert.equal(items[0]?.metadata.annotations['kubernetes.io/peer-advertise-address'], '127.0.0.9:7443');
    const versions = await newer.request('GET', `${STORAGE_VERSIONS}/apps.deployments`);
    const { status } = JSON.parse(versions.body) as {
      status: { storageVersions: { encodingVersion: string }[]; commonEncodingVersion: string };
    };
    assert.equal(status.commonEncodingVersion, 'apps/v1');
    assert.equal(status.storageVersions.length, 2);
    const all = JSON.parse((await newer.request('GET', STORAGE_VERSIONS)).body) as {
      items: { metadata: { name: string } }[];
    };
    const names = all.items.map(({ metadata }) => metadata.name);
    assert.ok(names.includes('core.pods') && names.includes('core.events'));
    assert.ok(!names.includes('events.k8s.io.events'), 'the same objects are published once');
  });

  it('say so when the other one cannot be reached', async () => {
    await newer.kill();
    const { status, body } = await older.request('GET', CANDIDATES);
    assert.equal(status, 503);
    assert.match(body, /^error trying to reach service: /);
  });
});

describe('a server that cannot publish in which versions it writes', { timeout: 60_000 }, () => {
  it('is not ready, and lets nobody write', async () => {
    const flags = ['--feature-gates=StorageVersionAPI=true'];
    const server = await startTestServer({ flags, untilLive: true });
    try {
      const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' } };
      const refused = await pollUntil(
        () => server.request('POST', '/api/v1/namespaces/default/configmaps', map),
        ({ body }) => !body.includes('nil'),
      );
      assert.equal(refused.status, 503);
      const { message } = JSON.parse(refused.body) as { message: string };
      assert.equal(
        message,
        'wait for storage version registration to complete for resource: configmaps, last seen error: the server could not find the requested resource',
      );
      assert.equal((await server.request('GET', '/api/v1/namespaces/default/configmaps')).status, 200);
      const check = '/readyz/poststarthook/built-in-resources-storage-version-updater';
      assert.equal((await server.request('GET', check)).status, 500);
    } finally {
      await server.stop();
    }
  });
});
