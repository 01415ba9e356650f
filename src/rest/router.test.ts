import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployments } from '../apis/apps/deployment/definition.js';
import { bindingKind } from '../apis/core/binding/definition.js';
import { configMaps } from '../apis/core/configmap/definition.js';
import { namespaces } from '../apis/core/namespace/definition.js';
import { nodes } from '../apis/core/node/definition.js';
import { pods } from '../apis/core/pod/definition.js';
import { policyKinds } from '../apis/policy/index.js';
import type { KindDefinition } from '../registry/kind.js';
import { TestApi } from '../server/testing/test-api.js';

const MAPS = '/api/v1/namespaces/n/configmaps';
const PODS = '/api/v1/namespaces/n/pods';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/n/deployments';
const bindings = bindingKind({ operations: () => assert.fail() });
const kinds = [bindings, configMaps, deployments, namespaces, nodes, pods, ...policyKinds] as readonly KindDefinition[];
const open = (over: Partial<ConstructorParameters<typeof TestApi>[0]> = {}): TestApi => new TestApi({ kinds, ...over });
const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const deployment = {
  metadata: { name: 'd' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};

test('what lies in a namespace needs the name of one', async () => {
  const api = open();
  const send = async (method: string, path: string): Promise<readonly unknown[]> => {
    const { status, body } = await api.send(method, `/api/v1/namespaces//${path}`);
    return [status, body.message];
  };
  const required = [400, 'Namespace parameter required.'];
  for (const path of ['configmaps/a', 'pods/p/status', 'pods/p/log'])
    assert.deepEqual(await send('GET', path), required);
  assert.equal((await send('POST', 'configmaps/a'))[0], 405);
  assert.equal((await send('DELETE', 'pods/p/status'))[0], 405);
  assert.equal((await send('GET', 'configmaps'))[0], 200);
  assert.deepEqual(await send('DELETE', 'configmaps'), required);
  assert.deepEqual(await send('DELETE', 'configmaps/a'), required);
  for (const path of ['namespaces', 'namespaces/a']) assert.equal((await send('GET', path))[0], 404);
});

test('what is sent into a namespace without a name is looked at first', async () => {
  const api = open();
  const maps = '/api/v1/namespaces//configmaps';
  const map = { metadata: { name: 'a', namespace: 'n' } };
  const created = await api.send('POST', maps, { body: map });
  assert.equal(created.status, 422);
  assert.match(String(created.body.message), /metadata\.namespace: Required value$/);
  const nameless = await api.send('PUT', `${maps}/a`, { body: {} });
  assert.match(String(nameless.body.message), /undeterminable/);
  const updated = await api.send('PUT', `${maps}/a`, { body: map });
  assert.deepEqual([updated.status, updated.body.message], [400, 'Namespace parameter required.']);
});

test('paths that nothing is served at are not found', async () => {
  const api = open();
  for (const path of [
    '/api/v1/namespaces/n/chairs',
    '/api/v1/namespaces/n/bindings/b',
    '/api/v2/namespaces/n/configmaps',
    '/apis/apps/v1/namespaces/n/configmaps',
    '/api/v1/configmaps/a',
    '/api/v1/namespaces/n/nodes',
    `${MAPS}/a/status`,
    `${MAPS}/a/b/c`,
    `${PODS}/p/nothing`,
    `${PODS}/p/constructor`,
    '/api/v1/nodes/x/status/more',
    '/api/v1/proxy/namespaces/n/configmaps/a',
    '/api/v1/watch/namespaces/n/pods/p/status',
    '/apis/apps/v1/watch/namespaces/n/deployments/d/scale',
    '/api/v1/watch/namespaces/n/pods/p/log',
    '/api/v1/watch/configmaps/a',
    '/api//v1/namespaces/n/configmaps',
    '/api/v1//namespaces/n/configmaps',
    '/api/v1/namespaces/n/namespaces',
    '/api/v1/namespaces/n/namespaces/n',
    `${PODS}/p/log/more`,
    '/api/v1/bindings',
    '/api/v1/namespaces/n/bindings/x',
  ]) {
    const { status, body } = await api.get(path);
    assert.deepEqual([status, body.message], [404, 'the server could not find the requested resource'], path);
  }
});

test('methods a path does not know are not allowed', async () => {
  const api = open();
  for (const [method, path] of [
    ['POST', `${MAPS}/a`],
    ['PUT', MAPS],
    ['PATCH', MAPS],
    ['POST', '/api/v1/configmaps'],
    ['DELETE', '/api/v1/configmaps'],
    ['OPTIONS', MAPS],
    ['HEAD', `${MAPS}/a`],
    ['HEAD', MAPS],
    ['TRACE', `${MAPS}/a`],
    ['DELETE', '/api/v1/namespaces'],
    ['POST', `${PODS}/p/status`],
    ['DELETE', `${PODS}/p/status`],
    ['GET', `${PODS}/p/eviction`],
    ['POST', '/api/v1/watch/namespaces/n/configmaps'],
    ['PUT', '/api/v1/watch/namespaces/n/configmaps/a'],
    ['PATCH', '/api/v1/watch/namespaces/n/configmaps/a'],
    ['DELETE', '/api/v1/watch/namespaces/n/configmaps/a'],
    ['DELETE', '/api/v1/watch/namespaces/n/configmaps'],
    ['HEAD', '/api/v1/watch/configmaps'],
    ['POST', `${PODS}/p/log`],
    ['PUT', `${PODS}/p/log`],
    ['PATCH', `${PODS}/p/log`],
    ['DELETE', `${PODS}/p/log`],
    ['HEAD', `${PODS}/p/log`],
    ['PUT', `${PODS}/p/exec`],
    ['DELETE', `${PODS}/p/portforward`],
    ['BREW', `${PODS}/p/proxy`],
    ['BREW', MAPS],
  ] as const) {
    const { status, body } = await api.send(method, path);
    assert.deepEqual([status, body.reason], [405, 'MethodNotAllowed'], `${method} ${path}`);
    assert.equal(body.message, 'the server does not allow this method on the requested resource');
  }
});

test('more slashes than one before the API, or none for a group, lead nowhere', async () => {
  const api = open();
  for (const path of [`/${MAPS}`, '//api/v1/configmaps', '/apis//v1/configmaps', '/apis//v1/namespaces/n/configmaps']) {
    const { status, bytes } = await api.get(path);
    assert.deepEqual([status, bytes.toString()], [404, '404 page not found\n'], path);
  }
});

test('a subresource of nothing requires a name', async () => {
  const api = open();
  for (const path of [`${PODS}//status`, `${PODS}//log`, `${PODS}//exec`]) {
    const { status, body } = await api.get(path);
    assert.deepEqual([status, body.message], [400, 'name must be provided'], path);
  }
});

test('names and queries that are not well encoded do no harm', async () => {
  const api = open();
  await api.post(MAPS, { metadata: { name: 'a.b' } });
  assert.equal((await api.get(`${MAPS}/a%2Eb`)).status, 200);
  for (const name of ['%00', '%C3%A9', '%FF', '..%5C..', 'a%0Ab', '%F0%9F%98%80'.repeat(300)]) {
    assert.equal((await api.get(`${MAPS}/${name}`)).status, 404, name);
  }
  for (const name of ['é', 'a\nb', '..', 'a/b', 'a%b', '\u0000', '😀'.repeat(300)]) {
    assert.equal((await api.post(MAPS, { metadata: { name } })).status, 422, name);
  }
  for (const query of ['%', '%zz', 'labelSelector=%', 'limit=%FF', 'a=b=c&&&=', 'resourceVersion=%']) {
    assert.ok([200, 400].includes((await api.get(`${MAPS}?${query}`)).status), query);
  }
});

test('a scale reads and writes nothing but the replicas', async () => {
  const api = open();
  await api.post(DEPLOYMENTS, deployment);
  const scale = await api.get(`${DEPLOYMENTS}/d/scale`);
  assert.deepEqual([scale.body.kind, scale.body.apiVersion], ['Scale', 'autoscaling/v1']);
  assert.deepEqual([scale.body.spec, scale.body.status], [{ replicas: 2 }, { replicas: 0, selector: 'a=b' }]);
  const put = await api.put(`${DEPLOYMENTS}/d/scale`, { ...scale.body, spec: { replicas: 5 } });
  assert.deepEqual([put.status, put.body.spec], [200, { replicas: 5 }]);
  const patched = await api.patch(`${DEPLOYMENTS}/d/scale`, 'application/merge-patch+json', { spec: { replicas: 0 } });
  assert.deepEqual(patched.body.spec, {});
  const after = (await api.get(`${DEPLOYMENTS}/d`)).body;
  assert.deepEqual([after.spec['replicas'], after.metadata.generation], [0, 3]);
});

test('a scale that is stale, negative or of nothing is refused', async () => {
  const api = open();
  await api.post(DEPLOYMENTS, deployment);
  const { body: scale } = await api.get(`${DEPLOYMENTS}/d/scale`);
  const negative = await api.put(`${DEPLOYMENTS}/d/scale`, { ...scale, spec: { replicas: -1 } });
  assert.equal(negative.status, 422);
  assert.match(negative.body.message, /^Scale.autoscaling "d" is invalid: spec.replicas: Invalid value: -1/);
  const marked = await api.put(`${DEPLOYMENTS}/d/scale`, { metadata: { name: 'd', annotations: { '-x': 'y' } } });
  assert.equal(marked.status, 422);
  assert.match(marked.body.message, /^Scale.autoscaling "d" is invalid: metadata.annotations: Invalid value: "-x"/);
  await api.patch(`${DEPLOYMENTS}/d`, 'application/merge-patch+json', { metadata: { labels: { x: 'y' } } });
  assert.equal((await api.put(`${DEPLOYMENTS}/d/scale`, { ...scale, spec: { replicas: 3 } })).status, 409);
  const nameless = await api.put(`${DEPLOYMENTS}/e/scale`, { spec: { replicas: 1 } });
  assert.deepEqual([nameless.status, nameless.body.reason], [400, 'BadRequest']);
  const missing = await api.put(`${DEPLOYMENTS}/e/scale`, { metadata: { name: 'e' }, spec: { replicas: 1 } });
  assert.equal(missing.status, 404);
  assert.equal((await api.get(`${DEPLOYMENTS}/e/scale`)).status, 404);
  const dry = await api.put(`${DEPLOYMENTS}/d/scale?dryRun=All`, { metadata: { name: 'd' }, spec: { replicas: 9 } });
  assert.deepEqual([dry.status, dry.body.spec], [200, { replicas: 9 }]);
  assert.equal((await api.get(`${DEPLOYMENTS}/d`)).body.spec['replicas'], 2);
});

test('a scale of another object, or of a version that is none, is refused', async () => {
  const api = open();
  const { metadata } = (await api.post(DEPLOYMENTS, deployment)).body;
  const put = await api.put(`${DEPLOYMENTS}/d/scale`, { metadata: { name: 'd', uid: 'x' }, spec: { replicas: 3 } });
  assert.equal(put.status, 409);
  assert.match(
    put.body.message,
    /on deployments.apps "d": .*Precondition failed: UID in precondition: x, UID in object meta:/,
  );
  const patched = await api.patch(`${DEPLOYMENTS}/d/scale`, 'application/merge-patch+json', { metadata: { uid: 'x' } });
  assert.equal(
    patched.body.message,
    `Operation cannot be fulfilled on deployments/scale.apps "d": Precondition failed: UID in precondition: x, UID in object meta: ${metadata.uid}`,
  );
  const version = { metadata: { name: 'd', resourceVersion: 'x' }, spec: { replicas: 3 } };
  assert.equal((await api.put(`${DEPLOYMENTS}/d/scale`, version)).status, 500);
  assert.equal((await api.get(`${DEPLOYMENTS}/d/scale?resourceVersion=x`)).status, 500);
  assert.equal((await api.get(`${DEPLOYMENTS}/d`)).body.spec['replicas'], 2);
});

test('a scale is shown as a table or as bare metadata, too', async () => {
  const api = open();
  await api.post(DEPLOYMENTS, deployment);
  const form = (kind: string): Record<string, string> => ({ accept: `application/json;as=${kind};v=v1;g=meta.k8s.io` });
  const table = (await api.get(`${DEPLOYMENTS}/d/scale`, form('Table'))).body;
  assert.deepEqual(
    table.columnDefinitions?.map(({ name }) => name),
    ['Name', 'Desired', 'Available', 'Age'],
  );
  assert.deepEqual(table.rows[0]?.cells, ['d', 2, 0, '0s']);
  const bare = (await api.get(`${DEPLOYMENTS}/d/scale`, form('PartialObjectMetadata'))).body;
  assert.deepEqual([bare.kind, bare.metadata.name, bare.spec], ['PartialObjectMetadata', 'd', undefined]);
  assert.equal((await api.get(`${DEPLOYMENTS}/d/scale`, form('PartialObjectMetadataList'))).status, 406);
});

test('a pod is evicted by either version of an eviction', async () => {
  for (const apiVersion of ['policy/v1', 'policy/v1beta1', undefined]) {
    const api = open();
    await api.post(PODS, pod);
    const eviction = {
      apiVersion,
      kind: 'Eviction',
      metadata: { name: 'p' },
      deleteOptions: { gracePeriodSeconds: 0 },
    };
    const { status, body } = await api.post(`${PODS}/p/eviction`, eviction);
    assert.deepEqual([status, body.kind, body.status], [201, 'Status', 'Success'], apiVersion);
    assert.equal((await api.get(`${PODS}/p`)).status, 404);
  }
  const api = open();
  await api.post(PODS, pod);
  const unknown = await api.post(`${PODS}/p/eviction`, {
    apiVersion: 'policy/v2',
    kind: 'Eviction',
    metadata: { name: 'p' },
  });
  assert.equal(unknown.status, 400);
  const odd = { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name: 'p' }, surplus: 1 };
  const warned = await api.post(`${PODS}/p/eviction?dryRun=All`, odd);
  assert.deepEqual([warned.status, warned.warnings], [201, ['unknown field "surplus"']]);
  assert.equal((await api.get(`${PODS}/p`)).status, 200);
});

test('an eviction may request no deletion that a client may not', async () => {
  const api = open();
  await api.post(PODS, pod);
  const { status, body } = await api.post(`${PODS}/p/eviction`, {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name: 'p' },
    deleteOptions: { propagationPolicy: 'Sometimes' },
  });
  assert.equal(status, 422);
  assert.match(body.message, /^DeleteOptions\.meta\.k8s\.io "" is invalid: propagationPolicy: Unsupported value/);
  assert.equal((await api.get(`${PODS}/p`)).status, 200);
});

test('a deprecated version warns whoever uses it, and nobody else', async () => {
  const old = {
    ...configMaps,
    versions: [{ version: 'v1', deprecationWarning: 'v1 is old' }],
  } as unknown as KindDefinition;
  const api = new TestApi({ kinds: [old] });
  assert.deepEqual((await api.get(MAPS)).warnings, ['v1 is old']);
  assert.deepEqual((await api.get('/api/v1/namespaces/n/chairs')).warnings, []);
  assert.deepEqual((await api.send('TRACE', MAPS)).warnings, []);
});

test('a use of a deprecated version is noted, with the release that removes it', async () => {
  const versions = [{ version: 'v1', deprecationWarning: 'v1 is old', removedRelease: '1.37' }];
  const api = new TestApi({ kinds: [{ ...configMaps, versions } as unknown as KindDefinition] });
  const { annotations } = await api.get(MAPS);
  assert.deepEqual(Object.fromEntries(annotations), { 'k8s.io/deprecated': 'true', 'k8s.io/removed-release': '1.37' });
});

test('a namespace is itself the place it is in', async () => {
  const seen: string[] = [];
  const api = open({
    admission: {
      validate: async ({ operation, namespace, name }) => {
        seen.push(`${operation} ${namespace} ${name}`);
      },
    },
  });
  await api.post('/api/v1/namespaces', { metadata: { name: 'n' } });
  await api.patch('/api/v1/namespaces/n', 'application/merge-patch+json', { metadata: { labels: { a: 'b' } } });
  await api.delete('/api/v1/namespaces/n');
  assert.deepEqual(seen, ['CREATE n n', 'UPDATE n n', 'DELETE n n']);
});

test('only custom resources answer a HEAD as a GET', async () => {
  const custom = { ...(configMaps as KindDefinition), custom: true };
  for (const [kind, status] of [
    [configMaps as KindDefinition, 405],
    [custom, 200],
  ] as const) {
    const api = open({ kinds: [kind] });
    await api.post(MAPS, { metadata: { name: 'a' } });
    for (const path of [MAPS, `${MAPS}/a`, '/api/v1/configmaps']) {
      assert.equal((await api.send('HEAD', path)).status, status, path);
    }
  }
});
