// One cluster for the file, one state for every test: what a test leaves behind is gone before the next begins.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { startCluster } from 'binnacle/testing';

const PODS = '/api/v1/namespaces/shop/pods';
const pod = (name) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'main', image: 'example.test/main:1' }] },
});
let cluster;
let clean;

before(async () => {
  cluster = await startCluster({
    manifests: `
apiVersion: v1
kind: Namespace
metadata: { name: shop }
---
apiVersion: v1
kind: ResourceQuota
metadata: { name: two-pods, namespace: shop }
spec: { hard: { pods: "2" } }
`,
  });
  const namespaced = { apiVersion: 'v1', namespace: 'shop' };
  await cluster.waitFor({ ...namespaced, kind: 'ServiceAccount', name: 'default' }, 'create');
  await cluster.waitFor(
    { ...namespaced, kind: 'ResourceQuota', name: 'two-pods' },
    (quota) => quota.status?.hard?.pods === '2',
  );
  clean = await cluster.snapshot();
});
after(() => cluster.stop());
afterEach(() => cluster.reset(clean));

test('two pods fit, a third does not', async () => {
  for (const name of ['one', 'two']) assert.equal((await cluster.request('POST', PODS, pod(name))).status, 201);
  const third = await cluster.request('POST', PODS, pod('three'));
  assert.equal(third.status, 403);
  assert.match(third.json().message, /exceeded quota: two-pods/);
});

test('the pods of the test before are gone', async () => {
  const { items } = (await cluster.request('GET', PODS)).json();
  assert.deepEqual(items, []);
});
