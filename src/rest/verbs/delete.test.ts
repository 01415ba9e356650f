import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployments } from '../../apis/apps/deployment/definition.js';
import { configMaps } from '../../apis/core/configmap/definition.js';
import { namespaces } from '../../apis/core/namespace/definition.js';
import { pods } from '../../apis/core/pod/definition.js';
import { replicationControllers } from '../../apis/core/replicationcontroller/definition.js';
import { openMemoryStore } from '../../kv/memory.js';
import type { KindDefinition } from '../../registry/kind.js';
import { type Answer, TestApi } from '../../server/testing/test-api.js';

const MAPS = '/api/v1/namespaces/n/configmaps';
const PODS = '/api/v1/namespaces/n/pods';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/n/deployments';
const kinds = [configMaps, deployments, namespaces, pods, replicationControllers] as readonly KindDefinition[];
const open = (over: Partial<ConstructorParameters<typeof TestApi>[0]> = {}): TestApi => new TestApi({ kinds, ...over });
const map = (name: string, metadata: object = {}): object => ({ metadata: { name, ...metadata } });
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };

/** A pod on a node: one that has to be ended gracefully. */
const podOn = async (api: TestApi, name: string, nodeName = 'node'): Promise<Answer> =>
  api.post(PODS, { metadata: { name }, spec: { nodeName, containers: [{ name: 'c', image: 'i' }] } });

test('what is not there cannot be deleted', async () => {
  const { status, body } = await open().delete(`${MAPS}/a`);
  assert.deepEqual([status, body.message], [404, 'configmaps "a" not found']);
});

test('an object is gone at once when nothing holds it, and the answer is a status', async () => {
  const api = open();
  const { metadata } = (await api.post(MAPS, map('a'))).body;
  const { status, body } = await api.delete(`${MAPS}/a`);
  assert.equal(status, 200);
  assert.deepEqual(body, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name: 'a', kind: 'configmaps', uid: metadata.uid },
  });
  assert.equal((await api.get(`${MAPS}/a`)).status, 404);
});

test('preconditions that do not hold keep the object', async () => {
  const api = open();
  const { metadata } = (await api.post(MAPS, map('a'))).body;
  const uid = await api.delete(`${MAPS}/a`, { preconditions: { uid: 'x' } });
  assert.deepEqual([uid.status, uid.body.reason], [409, 'Conflict']);
  assert.equal(
    uid.body.message,
    'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (x) does not match the UID in record ' +
      `(${metadata.uid}). The object might have been deleted and then recreated`,
  );
  const version = await api.delete(`${MAPS}/a`, { preconditions: { resourceVersion: '1' } });
  assert.match(version.body.message, /The object might have been modified$/);
  const both = { uid: metadata.uid, resourceVersion: metadata.resourceVersion };
  assert.equal((await api.delete(`${MAPS}/a`, { preconditions: both })).status, 200);
});

test('preconditions may stand in the query', async () => {
  const api = open();
  const { metadata } = (await api.post(MAPS, map('a'))).body;
  assert.equal((await api.delete(`${MAPS}/a?uid=x`)).status, 409);
  assert.equal((await api.delete(`${MAPS}/a?resourceVersion=1`)).status, 409);
  assert.equal((await api.delete(`${MAPS}/a?uid=x`, { preconditions: { uid: 'y' } })).status, 409);
  assert.equal((await api.delete(`${MAPS}?resourceVersion=0`)).status, 409);
  assert.equal(
    (await api.delete(`${MAPS}/a?uid=${metadata.uid}&resourceVersion=${metadata.resourceVersion}`)).status,
    200,
  );
});

test('options of a version with two slashes cannot be read', async () => {
  const api = open();
  await api.post(MAPS, map('a'));
  const { status, body } = await api.delete(`${MAPS}/a`, { kind: 'DeleteOptions', apiVersion: 'a/b/c' });
  assert.deepEqual([status, body.message], [500, 'unexpected GroupVersion string: a/b/c']);
});

test('a time longer than can be said in nanoseconds goes round', async () => {
  const api = open();
  await podOn(api, 'p');
  const { status, body } = await api.delete(`${PODS}/p`, { gracePeriodSeconds: Number.MAX_SAFE_INTEGER });
  assert.deepEqual([status, body.metadata.deletionGracePeriodSeconds], [200, Number.MAX_SAFE_INTEGER]);
  const wrapped = BigInt.asIntN(64, BigInt(Number.MAX_SAFE_INTEGER) * 1_000_000_000n) / 1_000_000_000n;
  const years = (Date.parse(String(body.metadata.deletionTimestamp)) - Date.now()) / 1000 - Number(wrapped);
  assert.ok(Math.abs(years) < 100_000_000, String(body.metadata.deletionTimestamp));
});

test('options that contradict themselves or mean nothing are refused', async () => {
  const api = open();
  await api.post(MAPS, map('a'));
  const both = await api.delete(`${MAPS}/a`, { orphanDependents: true, propagationPolicy: 'Orphan' });
  assert.equal(both.status, 422);
  assert.match(both.body.message, /orphanDependents and deletionPropagation cannot be both set/);
  const unknown = await api.delete(`${MAPS}/a?propagationPolicy=Sometimes`);
  assert.equal(unknown.status, 422);
  assert.match(
    unknown.body.message,
    /propagationPolicy: Unsupported value: "Sometimes": supported values: "Foreground", "Background", "Orphan", "nil"/,
  );
  assert.equal((await api.delete(`${MAPS}/a?gracePeriodSeconds=soon`)).status, 400);
  assert.equal((await api.get(`${MAPS}/a`)).status, 200);
});

test('the Status of a deletion comes in the requested form, whatever it was to be made', async () => {
  const api = open();
  await api.post(MAPS, map('a'));
  const accept = 'application/yaml;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
  const { status, headers } = await api.send('DELETE', `${MAPS}/a`, { headers: { accept } });
  assert.deepEqual([status, headers['content-type']], [200, 'application/yaml']);
});

test('a body that is no delete options is an error', async () => {
  const api = open();
  await api.post(MAPS, map('a'));
  const broken = await api.delete(`${MAPS}/a`, '{');
  assert.deepEqual(
    [broken.status, broken.body.message],
    [500, "couldn't get version/kind; json parse error: unexpected end of JSON input"],
  );
  const other = await api.delete(`${MAPS}/a`, { kind: 'Pod', apiVersion: 'v1', gracePeriodSeconds: 'x' });
  assert.equal(other.status, 500);
  assert.match(other.body.message, /^no kind "Pod" is registered for version "v1" in scheme/);
  assert.equal((await api.get(`${MAPS}/a`)).status, 200);
});

test('the way dependents go is noted in the finalizers', async () => {
  const api = open();
  const finalizersAfter = async (name: string, options: object): Promise<readonly string[] | undefined> => {
    await api.post(MAPS, map(name));
    await api.delete(`${MAPS}/${name}`, options);
    const left = await api.get(`${MAPS}/${name}`);
    return left.status === 404 ? undefined : (left.body.metadata.finalizers ?? []);
  };
  assert.deepEqual(await finalizersAfter('o', { propagationPolicy: 'Orphan' }), ['orphan']);
  assert.deepEqual(await finalizersAfter('f', { propagationPolicy: 'Foreground' }), ['foregroundDeletion']);
  assert.deepEqual(await finalizersAfter('d', { orphanDependents: true }), ['orphan']);
  assert.equal(await finalizersAfter('b', { propagationPolicy: 'Background' }), undefined);
  assert.equal(await finalizersAfter('n', {}), undefined);
});

test('a later delete may change its mind about dependents', async () => {
  const api = open();
  await api.post(MAPS, map('a', { finalizers: ['x.io/y'] }));
  const orphan = await api.delete(`${MAPS}/a`, { propagationPolicy: 'Orphan' });
  assert.deepEqual(orphan.body.metadata.finalizers, ['x.io/y', 'orphan']);
  const foreground = await api.delete(`${MAPS}/a`, { propagationPolicy: 'Foreground' });
  assert.deepEqual(foreground.body.metadata.finalizers, ['x.io/y', 'foregroundDeletion']);
  const background = await api.delete(`${MAPS}/a`, { propagationPolicy: 'Background' });
  assert.deepEqual(background.body.metadata.finalizers, ['x.io/y']);
});

test('dropping the only finalizer of the collector removes the object in one step', async () => {
  const api = open();
  await api.post(MAPS, map('a'));
  await api.delete(`${MAPS}/a`, { propagationPolicy: 'Orphan' });
  const { resourceVersion } = (await api.get(MAPS)).body.metadata;
  const watch = await api.watch(`${MAPS}?watch=1&resourceVersion=${resourceVersion}`);
  assert.equal((await api.delete(`${MAPS}/a`, { propagationPolicy: 'Background' })).status, 200);
  assert.equal((await watch.next()).type, 'DELETED');
  watch.stop();
});

test('an object that is held is marked once, with its generation raised', async () => {
  const api = open();
  const spec = { selector: { matchLabels: { a: 'b' } }, template };
  await api.post(DEPLOYMENTS, { metadata: { name: 'd', finalizers: ['x.io/y'] }, spec });
  const marked = await api.delete(`${DEPLOYMENTS}/d`);
  assert.equal(marked.status, 200);
  assert.equal(marked.body.kind, 'Deployment');
  const { deletionTimestamp, deletionGracePeriodSeconds, generation, resourceVersion } = marked.body.metadata;
  assert.deepEqual([deletionTimestamp, deletionGracePeriodSeconds, generation], ['2024-05-01T10:00:00Z', 0, 2]);
  api.nowMs += 5000;
  const again = (await api.delete(`${DEPLOYMENTS}/d`)).body.metadata;
  assert.deepEqual([again.deletionTimestamp, again.resourceVersion], [deletionTimestamp, resourceVersion]);
});

test('a 202 goes to a client that does not orphan and has to wait', async () => {
  const api = open();
  await api.post(MAPS, map('a', { finalizers: ['x.io/y'] }));
  assert.equal((await api.delete(`${MAPS}/a`, { orphanDependents: false })).status, 202);
  assert.equal((await api.delete(`${MAPS}/a`)).status, 200);
});

test('a dry run of a deletion leaves everything as it is', async () => {
  const api = open();
  const plain = (await api.post(MAPS, map('a'))).body;
  const held = (await api.post(MAPS, map('b', { finalizers: ['x.io/y'] }))).body;
  await podOn(api, 'p');
  assert.equal((await api.delete(`${MAPS}/a?dryRun=All`)).status, 200);
  assert.ok((await api.delete(`${MAPS}/b`, { dryRun: ['All'] })).body.metadata.deletionTimestamp);
  assert.ok((await api.delete(`${PODS}/p?dryRun=All`)).body.metadata.deletionTimestamp);
  assert.deepEqual((await api.get(`${MAPS}/a`)).body, plain);
  assert.deepEqual((await api.get(`${MAPS}/b`)).body, held);
  assert.equal((await api.get(`${PODS}/p`)).body.metadata.deletionTimestamp, undefined);
});

test('a pod on a node gets its time, which later deletes may only shorten', async () => {
  const api = open();
  await podOn(api, 'p');
  const graceOf = ({ body }: Answer): unknown[] => [
    body.metadata.deletionTimestamp,
    body.metadata.deletionGracePeriodSeconds,
  ];
  assert.deepEqual(graceOf(await api.delete(`${PODS}/p`)), ['2024-05-01T10:00:30Z', 30]);
  assert.deepEqual(graceOf(await api.delete(`${PODS}/p?gracePeriodSeconds=60`)), ['2024-05-01T10:00:30Z', 30]);
  assert.deepEqual(graceOf(await api.delete(`${PODS}/p?gracePeriodSeconds=10`)), ['2024-05-01T10:00:10Z', 10]);
  api.nowMs += 8000;
  // Less than has passed already: the node still gets a second.
  assert.deepEqual(graceOf(await api.delete(`${PODS}/p?gracePeriodSeconds=5`)), ['2024-05-01T10:00:08Z', 1]);
  const generation = (await api.get(`${PODS}/p`)).body.metadata.generation;
  assert.equal(generation, 2);
  assert.equal((await api.delete(`${PODS}/p?gracePeriodSeconds=0`)).status, 200);
  assert.equal((await api.get(`${PODS}/p`)).status, 404);
});

test('a pod on no node, and one deleted by force, goes at once', async () => {
  const api = open();
  await podOn(api, 'p', '');
  await podOn(api, 'q');
  const { body } = await api.delete(`${PODS}/p`);
  assert.equal(body.kind, 'Pod');
  assert.equal((await api.get(`${PODS}/p`)).status, 404);
  assert.equal((await api.delete(`${PODS}/q?gracePeriodSeconds=0`)).status, 200);
  assert.equal((await api.get(`${PODS}/q`)).status, 404);
});

test('a negative time is one second', async () => {
  const api = open();
  await podOn(api, 'p');
  assert.equal((await api.delete(`${PODS}/p?gracePeriodSeconds=-3`)).body.metadata.deletionGracePeriodSeconds, 1);
});

test('replication controllers orphan their pods unless the options say otherwise', async () => {
  const api = open();
  const path = '/api/v1/namespaces/n/replicationcontrollers';
  await api.post(path, { metadata: { name: 'r' }, spec: { selector: { a: 'b' }, template } });
  assert.deepEqual((await api.delete(`${path}/r`)).body.metadata.finalizers, ['orphan']);
});

test('a plugin that refuses keeps the object', async () => {
  const api = open({
    admission: {
      validate: async ({ operation }) => {
        if (operation === 'DELETE') throw new Error('kept');
      },
    },
  });
  await api.post(MAPS, map('a'));
  await assert.rejects(api.delete(`${MAPS}/a`), /kept/);
  assert.equal((await api.get(`${MAPS}/a`)).status, 200);
});

test('a collection is deleted as selected, and answered as a list', async () => {
  const api = open();
  for (const [name, tier] of [
    ['a', 'x'],
    ['b', 'y'],
    ['c', 'x'],
  ] as const)
    await api.post(MAPS, map(name, { labels: { tier } }));
  const { status, body } = await api.delete(`${MAPS}?labelSelector=tier%3Dx`);
  assert.equal(status, 200);
  assert.equal(body.kind, 'ConfigMapList');
  assert.deepEqual(
    body.items.map(({ metadata }) => metadata.name),
    ['a', 'c'],
  );
  const left = await api.get(MAPS);
  assert.deepEqual(
    left.body.items.map(({ metadata }) => metadata.name),
    ['b'],
  );
});

test('a limit deletes one page of a collection, and a dry run none', async () => {
  const api = open();
  for (const name of ['a', 'b', 'c']) await api.post(MAPS, map(name));
  assert.equal((await api.delete(`${MAPS}?dryRun=All`)).body.items.length, 3);
  const page = await api.delete(`${MAPS}?limit=2`);
  assert.deepEqual(
    page.body.items.map(({ metadata }) => metadata.name),
    ['a', 'b'],
  );
  assert.ok(page.body.metadata.continue);
  assert.deepEqual(
    (await api.get(MAPS)).body.items.map(({ metadata }) => metadata.name),
    ['c'],
  );
});

test('a collection that holds more than one page is deleted whole', async () => {
  const api = open();
  for (let i = 0; i < 30; i++) await api.post(MAPS, map(`m${i}`, i % 3 === 0 ? { finalizers: ['x.io/y'] } : {}));
  assert.equal((await api.delete(MAPS)).body.items.length, 30);
  const left = (await api.get(MAPS)).body.items;
  assert.equal(left.length, 10);
  assert.ok(left.every(({ metadata }) => metadata.deletionTimestamp !== undefined));
});

test('of many who delete one object, each learns that it is gone or was', async () => {
  const api = open();
  await api.post(MAPS, map('a'));
  const codes = (await Promise.all(Array.from({ length: 8 }, () => api.delete(`${MAPS}/a`)))).map(
    ({ status }) => status,
  );
  assert.ok(codes.includes(200));
  assert.ok(codes.every((code) => code === 200 || code === 404));
});

const UNSAFE = 'ignoreStoreReadErrorWithClusterBreakingPotential';

/** With a map that can be read and one that cannot. */
async function halfReadable(over: Partial<ConstructorParameters<typeof TestApi>[0]> = {}): Promise<TestApi> {
  const kv = openMemoryStore();
  await new TestApi({ kinds, kv }).post(MAPS, map('good'));
  await kv.create('/registry/configmaps/n/bad', Buffer.from('rubbish'));
  return open({
    kv,
    services: { features: { enabled: (gate) => gate === 'AllowUnsafeMalformedObjectDeletion' } },
    ...over,
  });
}

for (const cache of [true, false]) {
  test(`an object that cannot be read goes only on request, ${cache ? 'cached' : 'direct'}`, async () => {
    const api = await halfReadable({ cache });
    assert.equal((await api.delete(`${MAPS}/bad`)).status, 500);
    assert.equal((await api.get(`${MAPS}/good`)).status, 200);
    assert.equal((await api.put(`${MAPS}/good`, { ...map('good'), data: { k: '1' } })).status, 200);
    const refused = await api.delete(`${MAPS}/good?${UNSAFE}=true`);
    assert.equal(
      refused.body.message,
      `configmaps "good" is invalid: ${UNSAFE}: Invalid value: true: is exclusively used to delete corrupt object(s), try again by removing this option`,
    );
    const gone = await api.delete(`${MAPS}/bad`, { [UNSAFE]: true });
    assert.deepEqual(gone.body, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'bad', kind: 'ConfigMap' },
      code: 200,
    });
    assert.deepEqual([...gone.annotations], [['apiserver.k8s.io/unsafe-delete-ignore-read-error', '']]);
    assert.equal((await api.get(MAPS)).body.items?.length, 1);
  });
}

test('a deletion of the unreadable needs a right, stands alone, and is of one object', async () => {
  const api = await halfReadable({
    authorize: ({ verb }) => ({ decision: verb.startsWith('unsafe') ? 'no-opinion' : 'allow', reason: 'no' }),
  });
  const forbidden = await api.delete(`${MAPS}/bad?${UNSAFE}=true`);
  assert.deepEqual(
    [forbidden.status, forbidden.body.message],
    [403, 'configmaps "bad" is forbidden: not permitted to do "unsafe-delete-ignore-read-errors", reason: no'],
  );
  const mixed = await api.delete(`${MAPS}/bad`, { [UNSAFE]: true, dryRun: ['All'], gracePeriodSeconds: 1 });
  assert.deepEqual(
    mixed.body.details?.causes?.map(({ message }) => message),
    ['.dryRun', '.gracePeriodSeconds'].map((name) => `Invalid value: true: cannot be set together with ${name}`),
  );
  const many = await api.delete(`${MAPS}?${UNSAFE}=true`);
  assert.match(many.body.message ?? '', /is not allowed with DELETECOLLECTION, try again after removing the option$/);
});

test('without its gate the wish to delete the unreadable is not heard', async () => {
  const api = open();
  await api.post(MAPS, map('a'));
  assert.equal((await api.delete(`${MAPS}/a?${UNSAFE}=true`)).status, 200);
  await api.kv.create('/registry/configmaps/n/bad', Buffer.from('rubbish'));
  assert.equal((await api.delete(`${MAPS}/bad?${UNSAFE}=true`)).status, 500);
});
