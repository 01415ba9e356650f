import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployments } from '../../apis/apps/deployment/definition.js';
import { leases } from '../../apis/coordination/lease.js';
import { configMaps } from '../../apis/core/configmap/definition.js';
import { pods } from '../../apis/core/pod/definition.js';
import type { KindDefinition } from '../../registry/kind.js';
import { type Body, TestApi } from '../../server/testing/test-api.js';

const MAPS = '/api/v1/namespaces/n/configmaps';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/n/deployments';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/n/leases';
const kinds = [configMaps, deployments, pods, leases] as readonly KindDefinition[];
const open = (over: Partial<ConstructorParameters<typeof TestApi>[0]> = {}): TestApi => new TestApi({ kinds, ...over });

const deployment = (replicas = 1): object => ({
  metadata: { name: 'd' },
  spec: {
    replicas,
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
});

test('a stale version conflicts, none overwrites, and one that is no number is an error', async () => {
  const api = open();
  const made = (await api.post(MAPS, { metadata: { name: 'a' }, data: { k: '1' } })).body;
  const next = { ...made, data: { k: '2' } };
  assert.equal((await api.put(`${MAPS}/a`, next)).status, 200);
  const stale = await api.put(`${MAPS}/a`, { ...made, data: { k: '3' } });
  assert.deepEqual([stale.status, stale.body.reason], [409, 'Conflict']);
  assert.equal(
    stale.body.message,
    'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
  );
  for (const resourceVersion of [undefined, '', '0']) {
    const free = await api.put(`${MAPS}/a`, {
      metadata: { name: 'a', resourceVersion },
      data: { k: String(resourceVersion) },
    });
    assert.deepEqual([free.status, free.body.data?.['k']], [200, String(resourceVersion)]);
  }
  const wrong = await api.put(`${MAPS}/a`, { metadata: { name: 'a', resourceVersion: 'x' } });
  assert.deepEqual([wrong.status, wrong.body.message], [500, 'strconv.ParseUint: parsing "x": invalid syntax']);
});

test('a kind without unconditional updates requires the version', async () => {
  const api = open();
  const lease = { metadata: { name: 'l' }, spec: { holderIdentity: 'me' } };
  assert.equal((await api.put(`${LEASES}/l`, lease)).status, 201);
  const { status, body } = await api.put(`${LEASES}/l`, lease);
  assert.equal(status, 422);
  assert.equal(
    body.message,
    'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  );
});

test('another uid is another object', async () => {
  const api = open();
  const made = (await api.post(MAPS, { metadata: { name: 'a' } })).body;
  const { status, body } = await api.put(`${MAPS}/a`, { metadata: { name: 'a', uid: 'other' } });
  assert.deepEqual([status, body.reason], [409, 'Conflict']);
  assert.equal(
    body.message,
    'Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, Key: /registry/configmaps/n/a, ' +
      `ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: ${made.metadata.uid}`,
  );
  // A dry run does not come as far as the store, and does not say where in it the object would lie.
  const dryRun = await api.put(`${MAPS}/a?dryRun=All`, { metadata: { name: 'a', uid: 'other' } });
  assert.match(dryRun.body.message, /Key: \/configmaps\/n\/a, /);
});

test('a uid of what is gone is none where an update may create, and else there is nothing', async () => {
  const api = open();
  const wanted = { metadata: { name: 'l', uid: 'other' } };
  const made = await api.put(`${LEASES}/l`, wanted);
  assert.equal(made.status, 409);
  assert.match(made.body.message, /UID in precondition: other, UID in object meta: $/);
  assert.equal((await api.put(`${MAPS}/l`, wanted)).status, 404);
});

test('an update of what is not there is 404, or creates it for who may create', async () => {
  const checks: string[] = [];
  let decision: 'allow' | 'no-opinion' = 'no-opinion';
  const api = open({
    authorize: ({ verb, resource, name }) => {
      checks.push(`${verb} ${resource} ${name}`);
      return { decision, reason: '' };
    },
  });
  const missing = await api.put(`${MAPS}/a`, { metadata: { name: 'a' } });
  assert.deepEqual([missing.status, missing.body.message], [404, 'configmaps "a" not found']);
  assert.deepEqual(checks, []);
  const lease = { metadata: { name: 'l', resourceVersion: '99' }, spec: { holderIdentity: 'me' } };
  const refused = await api.put(`${LEASES}/l`, lease);
  assert.equal(refused.status, 403);
  assert.equal(
    refused.body.message,
    'leases.coordination.k8s.io "l" is forbidden: User "tester" cannot create resource "leases" in API group "coordination.k8s.io" in the namespace "n"',
  );
  assert.deepEqual(checks, ['create leases l']);
  assert.equal((await api.get(`${LEASES}/l`)).status, 404);
  decision = 'allow';
  const made = await api.put(`${LEASES}/l?dryRun=All`, lease);
  assert.equal(made.status, 201);
  assert.equal((await api.get(`${LEASES}/l`)).status, 404);
  assert.equal((await api.put(`${LEASES}/l`, lease)).status, 201);
});

test('an update that empties the managed fields has nobody manage any', async () => {
  const api = open();
  const made = await api.post(MAPS, { metadata: { name: 'a', managedFields: [] }, data: { k: '0' } });
  assert.equal(made.body.metadata.managedFields?.length, 1);
  const sent = { metadata: { name: 'a', managedFields: [] }, data: { k: '1' } };
  const { body } = await api.put(`${MAPS}/a`, sent);
  assert.equal(body.metadata.managedFields, undefined);
});

test('the name in the body is that of the path', async () => {
  const api = open();
  const other = await api.put(`${MAPS}/a`, { metadata: { name: 'b' } });
  assert.deepEqual(
    [other.status, other.body.message],
    [400, 'the name of the object (b) does not match the name on the URL (a)'],
  );
  const none = await api.put(`${MAPS}/a`, { metadata: {} });
  assert.deepEqual(
    [none.status, none.body.message],
    [400, 'the name of the object (a based on URL) was undeterminable: name must be provided'],
  );
});

test('an update that changes nothing writes nothing and wakes no watch', async () => {
  const api = open();
  const made = (await api.post(MAPS, { metadata: { name: 'a' }, data: { k: '1' } })).body;
  api.nowMs += 60_000;
  const watch = await api.watch(`${MAPS}?watch=1&resourceVersion=${made.metadata.resourceVersion}`);
  const same = await api.put(`${MAPS}/a`, { metadata: { name: 'a' }, data: { k: '1' } });
  assert.equal(same.body.metadata.resourceVersion, made.metadata.resourceVersion);
  const changed = await api.put(`${MAPS}/a`, { metadata: { name: 'a' }, data: { k: '2' } });
  const event = await watch.next();
  assert.equal(event.object.metadata.resourceVersion, changed.body.metadata.resourceVersion);
  watch.stop();
});

test('the generation counts changes of the spec, and only those', async () => {
  const api = open();
  await api.post(DEPLOYMENTS, deployment());
  const generations: (number | undefined)[] = [];
  for (const change of [{ replicas: 1 }, { replicas: 2 }, { paused: true }]) {
    const { body } = await api.patch(`${DEPLOYMENTS}/d`, 'application/merge-patch+json', { spec: change });
    generations.push(body.metadata.generation);
  }
  const labelled = await api.patch(`${DEPLOYMENTS}/d`, 'application/merge-patch+json', {
    metadata: { labels: { x: 'y' }, generation: 40 },
  });
  generations.push(labelled.body.metadata.generation);
  const status = await api.patch(`${DEPLOYMENTS}/d/status`, 'application/merge-patch+json', {
    status: { replicas: 4 },
  });
  generations.push(status.body.metadata.generation);
  assert.deepEqual(generations, [1, 2, 3, 3, 3]);
});

test('a quantity written otherwise is no new generation', async () => {
  const api = open();
  const limits = (cpu: string): object => ({
    metadata: { name: 'd' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu } } }] },
      },
    },
  });
  await api.post(DEPLOYMENTS, limits('1'));
  assert.equal((await api.put(`${DEPLOYMENTS}/d`, limits('1000m'))).body.metadata.generation, 1);
  assert.equal((await api.put(`${DEPLOYMENTS}/d`, limits('1001m'))).body.metadata.generation, 2);
});

test('the object and its status are written apart', async () => {
  const api = open();
  await api.post(DEPLOYMENTS, deployment(1));
  const main = await api.put(`${DEPLOYMENTS}/d`, { ...deployment(2), status: { replicas: 9 } });
  assert.deepEqual(main.body.status, {});
  const status = await api.put(`${DEPLOYMENTS}/d/status`, { ...deployment(7), status: { replicas: 9 } });
  assert.equal(status.body.spec['replicas'], 2);
  assert.deepEqual(status.body.status, { replicas: 9 });
  const kept = await api.put(`${DEPLOYMENTS}/d`, deployment(3));
  assert.deepEqual(kept.body.status, { replicas: 9 });
});

test('what an update cannot change stays as it was', async () => {
  const api = open();
  const { metadata } = (await api.post(MAPS, { metadata: { name: 'a' } })).body;
  const { status, body } = await api.put(`${MAPS}/a`, {
    metadata: { name: 'a', creationTimestamp: '2001-01-01T00:00:00Z', generation: 5 },
    data: { k: 'v' },
  });
  assert.equal(status, 200);
  assert.equal(body.metadata.creationTimestamp, metadata.creationTimestamp);
  assert.equal(body.metadata.uid, metadata.uid);
  assert.equal(body.metadata.generation, undefined);
  const dying = await api.put(`${MAPS}/a`, { metadata: { name: 'a', deletionTimestamp: '2030-01-01T00:00:00Z' } });
  assert.equal(dying.status, 422);
  assert.match(dying.body.message, /metadata.deletionTimestamp: Invalid value: .*: field is immutable/);
});

test('the update that removes the last finalizer of a deleted object removes it', async () => {
  const api = open();
  await api.post(MAPS, { metadata: { name: 'a', finalizers: ['x.io/a', 'x.io/b'] } });
  const marked = (await api.delete(`${MAPS}/a`)).body;
  assert.equal(marked.metadata.deletionTimestamp, '2024-05-01T10:00:00Z');
  const drop = (finalizers: string[], query = ''): Promise<{ status: number; body: Body }> =>
    api.patch(`${MAPS}/a${query}`, 'application/merge-patch+json', { metadata: { finalizers } });
  const more = await drop(['x.io/a', 'x.io/b', 'x.io/c']);
  assert.equal(more.status, 422);
  assert.match(
    more.body.message,
    /metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted/,
  );
  assert.equal((await drop(['x.io/b'])).status, 200);
  const watch = await api.watch(
    `${MAPS}?watch=1&resourceVersion=${(await api.get(MAPS)).body.metadata.resourceVersion}`,
  );
  assert.equal((await drop([], '?dryRun=All')).status, 200);
  assert.equal((await api.get(`${MAPS}/a`)).status, 200);
  assert.equal((await drop([])).status, 200);
  assert.equal((await api.get(`${MAPS}/a`)).status, 404);
  assert.equal((await watch.next()).type, 'DELETED');
  watch.stop();
});

test('nothing is lost when many write the same object at once', async () => {
  const api = open();
  await api.post(MAPS, { metadata: { name: 'a' } });
  const writers = Array.from({ length: 20 }, (_, i) =>
    api.patch(`${MAPS}/a`, 'application/merge-patch+json', { data: { [`k${i}`]: 'v' } }),
  );
  for (const { status } of await Promise.all(writers)) assert.equal(status, 200);
  const { data = {} } = (await api.get(`${MAPS}/a`)).body;
  assert.equal(Object.keys(data).length, 20);
});

test('of many that state the same version, one writes and the others conflict', async () => {
  const api = open();
  const made = (await api.post(MAPS, { metadata: { name: 'a' } })).body;
  const puts = Array.from({ length: 10 }, (_, i) => api.put(`${MAPS}/a`, { ...made, data: { k: String(i) } }));
  const codes = (await Promise.all(puts)).map(({ status }) => status);
  assert.deepEqual(
    codes.toSorted((a, b) => a - b),
    [200, ...Array<number>(9).fill(409)],
  );
});

test('creations of one name at once make one object', async () => {
  const api = open();
  const posts = Array.from({ length: 10 }, () => api.post(MAPS, { metadata: { name: 'a' } }));
  const codes = (await Promise.all(posts)).map(({ status }) => status);
  assert.deepEqual(
    codes.toSorted((a, b) => a - b),
    [201, ...Array<number>(9).fill(409)],
  );
  const puts = Array.from({ length: 10 }, (_, i) =>
    api.put(`${LEASES}/l`, { metadata: { name: 'l' }, spec: { holderIdentity: `${i}` } }),
  );
  assert.equal((await Promise.all(puts)).filter(({ status }) => status === 201).length, 1);
});
