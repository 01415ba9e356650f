import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMaps } from '../../apis/core/configmap/definition.js';
import { namespaces } from '../../apis/core/namespace/definition.js';
import { deployments } from '../../apis/apps/deployment/definition.js';
import { pods } from '../../apis/core/pod/definition.js';
import { csiNodes } from '../../apis/storage/csi-node.js';
import type { KindDefinition } from '../../registry/kind.js';
import { TestApi } from '../../server/testing/test-api.js';

const MAPS = '/api/v1/namespaces/n/configmaps';
const kinds = [configMaps, namespaces, deployments, pods] as readonly KindDefinition[];
const open = (over: Partial<ConstructorParameters<typeof TestApi>[0]> = {}): TestApi => new TestApi({ kinds, ...over });

test('what a version leaves out is that of the endpoint', async () => {
  const api = open();
  const metadata = { name: 'v' };
  for (const apiVersion of ['', '/', '/v1']) {
    const { status } = await api.post(`${MAPS}?dryRun=All`, { apiVersion, kind: 'ConfigMap', metadata });
    assert.equal(status, 201, apiVersion);
  }
  const { body } = await api.post(MAPS, { apiVersion: 'apps/', kind: 'ConfigMap', metadata });
  assert.match(
    body.message,
    /^ConfigMap in version "" cannot be .* Object 'apiVersion' is missing in '\{.*apps\/.*\}'$/,
  );
  const { body: refused } = await api.post('/apis/apps/v1/namespaces/n/deployments', { apiVersion: 'apps/', metadata });
  assert.equal(refused.reason, 'Invalid');
});

test('an object without a name and a way to make one is refused', async () => {
  const { status, body } = await open().post(MAPS, { data: { a: '1' } });
  assert.equal(status, 422);
  assert.match(body.message, /metadata.name: Required value: name or generateName is required/);
});

test('an empty list that is always encoded is null once it is kept, in every encoding', async () => {
  const api = open({ kinds: [csiNodes as unknown as KindDefinition] });
  const path = '/apis/storage.k8s.io/v1/csinodes';
  const created = (name: string, headers: Readonly<Record<string, string>>, query = '') =>
    api.post(`${path}${query}`, { metadata: { name }, spec: { drivers: [] } }, headers);
  assert.match(String((await created('a', {})).bytes), /"drivers":null/);
  assert.match(String((await created('b', {}, '?pretty=true')).bytes), /"drivers": null/);
  assert.match(String((await created('c', { accept: 'application/yaml' })).bytes), /drivers: null/);
  const inCbor = /drivers\xf6/;
  for (const query of ['?dryRun=All', '']) {
    const { bytes } = await created('d', { accept: 'application/cbor' }, query);
    assert.match(bytes.toString('latin1'), inCbor, query);
  }
  const dry = await created('e', { accept: 'application/yaml' }, '?dryRun=All');
  assert.match(String(dry.bytes), /drivers: null/);
});

test('a number that none can hold is reported with its place', async () => {
  const body = '{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"d"},"spec":{"replicas":1e400}}';
  const { status, body: refused } = await open().send('POST', '/apis/apps/v1/namespaces/n/deployments', { body });
  assert.equal(status, 400);
  assert.match(refused.message, /number 1e400 into Go struct field DeploymentSpec.spec.replicas of type int32$/);
});

test('a name that is in use conflicts, and says so when the other is being deleted', async () => {
  const api = open();
  const object = { metadata: { name: 'a', finalizers: ['x.io/y'] } };
  assert.equal((await api.post(MAPS, object)).status, 201);
  const refused = await api.post(MAPS, object);
  assert.deepEqual([refused.status, refused.body.reason], [409, 'AlreadyExists']);
  assert.equal(refused.body.message, 'configmaps "a" already exists');
  await api.delete(`${MAPS}/a`);
  const leaving = await api.post(MAPS, object);
  assert.equal(leaving.body.message, 'object is being deleted: configmaps "a" already exists');
  const dry = await api.post(`${MAPS}?dryRun=All`, object);
  assert.deepEqual([dry.status, dry.body.message], [409, leaving.body.message]);
});

test('a generated name is tried again until a free one comes', async () => {
  const names: string[] = [];
  const api = open({
    admission: {
      validate: async ({ name }) => {
        names.push(name);
        // Another writer uses each of the first names before it is written.
        if (names.length <= 3)
          await api.resources
            .registry({ group: '', resource: 'configmaps' })
            ?.store.create(`n/${name}`, { metadata: { name } });
      },
    },
  });
  const { status, body } = await api.post(MAPS, { metadata: { generateName: 'a-' } });
  assert.equal(status, 201);
  assert.equal(names.length, 4);
  assert.equal(new Set(names).size, 4);
  assert.equal(body.metadata.name, names[3]);
  assert.match(body.metadata.name ?? '', /^a-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});

test('eight generated names that are all in use are enough', async () => {
  let tries = 0;
  const api = open({
    admission: {
      validate: async ({ name }) => {
        tries++;
        await api.resources
          .registry({ group: '', resource: 'configmaps' })
          ?.store.create(`n/${name}`, { metadata: { name } });
      },
    },
  });
  const { status, body, headers } = await api.post(MAPS, { metadata: { generateName: 'a-' } });
  assert.deepEqual([status, body.reason, tries], [409, 'AlreadyExists', 8]);
  assert.match(body.message, /already exists, the server was not able to generate a unique name for the object$/);
  assert.equal(body.details?.retryAfterSeconds, 1);
  assert.equal(headers['retry-after'], '1');
});

test('a long generateName is cut so that the name fits', async () => {
  const { body } = await open().post(MAPS, { metadata: { generateName: 'x'.repeat(100) } });
  assert.equal(body.metadata.name?.length, 63);
});

test('what only the server says about an object is not accepted from a client', async () => {
  const { status, body } = await open().post(MAPS, {
    metadata: {
      name: 'a',
      uid: 'mine',
      creationTimestamp: '2001-01-01T00:00:00Z',
      deletionTimestamp: '2001-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 5,
      selfLink: '/here',
    },
  });
  assert.equal(status, 201);
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, selfLink } = body.metadata;
  assert.notEqual(uid, 'mine');
  assert.equal(creationTimestamp, '2024-05-01T10:00:00Z');
  assert.deepEqual([deletionTimestamp, deletionGracePeriodSeconds, selfLink], [undefined, undefined, undefined]);
});

test('an object that states a version was already created once', async () => {
  const api = open();
  const object = { metadata: { name: 'a', resourceVersion: '7' } };
  const { status, body } = await api.post(MAPS, object);
  assert.equal(status, 500);
  assert.deepEqual(
    [body.message, body.reason, body.details],
    ['resourceVersion should not be set on objects to be created', undefined, undefined],
  );
  assert.equal((await api.get(`${MAPS}/a`)).status, 404);
  for (const resourceVersion of ['0', 'x']) {
    const name = `b${resourceVersion}`;
    assert.equal((await api.post(MAPS, { metadata: { name, resourceVersion } })).status, 201, resourceVersion);
  }
});

test('a namespace that is not that of the path is refused, and none is filled in', async () => {
  const api = open();
  const wrong = await api.post(MAPS, { metadata: { name: 'a', namespace: 'm' } });
  assert.equal(wrong.status, 400);
  assert.equal(
    wrong.body.message,
    'the namespace of the provided object does not match the namespace sent on the request',
  );
  assert.equal((await api.post(MAPS, { metadata: { name: 'a' } })).body.metadata.namespace, 'n');
});

test('a dry run shows the object and stores nothing', async () => {
  const api = open();
  const { status, body } = await api.post(`${MAPS}?dryRun=All`, { metadata: { name: 'a' } });
  assert.equal(status, 201);
  assert.equal(body.metadata.resourceVersion, undefined);
  assert.ok(body.metadata.uid);
  assert.equal((await api.get(`${MAPS}/a`)).status, 404);
  const wrong = await api.post(`${MAPS}?dryRun=Some`, { metadata: { name: 'a' } });
  assert.equal(wrong.status, 422);
  assert.match(wrong.body.message, /dryRun: Unsupported value/);
});

test('a spec with a status starts at generation 1 and without its status', async () => {
  const api = open();
  const { body } = await api.post('/apis/apps/v1/namespaces/n/deployments', {
    metadata: { name: 'a', generation: 12 },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
    status: { replicas: 3 },
  });
  assert.equal(body.metadata.generation, 1);
  assert.deepEqual(body.status, {});
});

test('unknown fields are warned of, refused or ignored as requested', async () => {
  const api = open();
  const text = '{"metadata":{"name":"a"},"data":{},"data":{},"surplus":1}';
  const strict = await api.post(`${MAPS}?fieldValidation=Strict`, text);
  assert.equal(strict.status, 400);
  assert.equal(
    strict.body.message,
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "data", unknown field "surplus"',
  );
  const warned = await api.post(`${MAPS}?dryRun=All`, text);
  assert.deepEqual([warned.status, warned.warnings], [201, ['duplicate field "data"', 'unknown field "surplus"']]);
  const ignored = await api.post(`${MAPS}?dryRun=All&fieldValidation=Ignore`, text);
  assert.deepEqual([ignored.status, ignored.warnings], [201, []]);
});

test('a body over the limit is 413, one in an unknown form 415, one that is no object 400', async () => {
  const api = open();
  const large = await api.post(MAPS, { metadata: { name: 'a' }, data: { a: 'x'.repeat(3 * 1024 * 1024) } });
  assert.deepEqual([large.status, large.body.reason], [413, 'RequestEntityTooLarge']);
  const csv = await api.post(MAPS, 'a,b', { 'content-type': 'text/csv' });
  assert.deepEqual([csv.status, csv.body.reason], [415, 'UnsupportedMediaType']);
  const unrecognized = (why: string, shown: string): string =>
    `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: ${why} (${shown})`;
  const probe =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  const messages: readonly [string, string][] = [
    ['', unrecognized('unexpected end of JSON input', '<empty>')],
    ['{', unrecognized('unexpected end of JSON input', '{')],
    ['[]', unrecognized(`json: cannot unmarshal array into Go value of type ${probe}`, '5b5d')],
    [
      '{"kind":3}',
      unrecognized('json: cannot unmarshal number into Go struct field .kind of type string', '{"kind":3}'),
    ],
    [
      '{"data":[]}',
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string',
    ],
  ];
  for (const [text, message] of messages) {
    const { status, body } = await api.post(MAPS, text);
    assert.deepEqual([status, body.message], [400, message], text);
  }
});

test('a body of another kind or version is refused', async () => {
  const api = open();
  const pod = await api.post(MAPS, { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' } });
  assert.equal(pod.status, 400);
  assert.match(pod.body.message, /^Pod in version "v1" cannot be handled as a ConfigMap/);
  const version = await api.post(MAPS, { kind: 'ConfigMap', apiVersion: 'v9', metadata: { name: 'a' } });
  assert.equal(version.status, 400);
  assert.match(version.body.message, /no kind "ConfigMap" is registered for version "v9"/);
});

test('the members kind and apiVersion count in any case, the last of them', async () => {
  const api = open();
  const said = async (members: string, query = ''): Promise<string | number> => {
    const { status, body } = await api.post(`${MAPS}${query}`, `{${members},"metadata":{"generateName":"a"}}`);
    return status === 201 ? status : body.message;
  };
  const other =
    'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion';
  assert.equal(await said('"KIND":"Secret"'), other);
  assert.equal(await said('"KIND":"Secret"', '?fieldValidation=Ignore'), other);
  assert.equal(await said('"kind":"ConfigMap","Kind":"Secret"'), other);
  assert.equal(await said('"Kind":"Secret","kind":"ConfigMap"'), 201);
  assert.equal(await said('"kind":"Secret","Kind":""'), 201);
  assert.match(String(await said('"apiversion":"v9"')), /no kind "ConfigMap" is registered for version "v9"/);
  assert.equal(await said('"APIVERSION":"v1","Kind":"ConfigMap"'), 201);
});

test('an owner named twice is kept once, with a warning', async () => {
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };
  const { body, warnings } = await open().post(MAPS, { metadata: { name: 'a', ownerReferences: [owner, owner] } });
  assert.deepEqual(body.metadata.ownerReferences, [owner]);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /duplicate UID\(s\) observed: u$/);
});

test('a plugin that refuses leaves nothing behind; one that changes the object has its way', async () => {
  let refuse = true;
  const api = open({
    admission: {
      admit: async ({ object }) => {
        if (object !== undefined) object.metadata.labels = { marked: 'yes' };
      },
      validate: async () => {
        if (refuse) throw new Error('no');
      },
    },
  });
  await assert.rejects(api.post(MAPS, { metadata: { name: 'a' } }), /no/);
  assert.equal((await api.get(`${MAPS}/a`)).status, 404);
  refuse = false;
  assert.deepEqual((await api.post(MAPS, { metadata: { name: 'a' } })).body.metadata.labels, { marked: 'yes' });
});
