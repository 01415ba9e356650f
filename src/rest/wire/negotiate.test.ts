import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployments } from '../../apis/apps/deployment/definition.js';
import { configMaps } from '../../apis/core/configmap/definition.js';
import { namespaces } from '../../apis/core/namespace/definition.js';
import { authorizationKinds } from '../../apis/authorization/index.js';
import type { Authorizer } from '../../authz/authorizer.js';
import type { HttpRequest } from '../../lib/http/http.js';
import { StatusError } from '../../machinery/status.js';
import type { KindDefinition } from '../../registry/kind.js';
import { decodeCborTree } from '../../schema/cbor/decode.js';
import { typeOf } from '../../schema/catalogue.js';
import { decodeProtobuf } from '../../schema/protobuf/envelope.js';
import { TestApi } from '../../server/testing/test-api.js';
import { MEDIA_TYPES } from './media-types.js';
import { negotiate, type NegotiatedPath, parseAccept } from './negotiate.js';

const MAPS = '/api/v1/namespaces/n/configmaps';
const kinds = [configMaps, deployments, namespaces] as readonly KindDefinition[];
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const BARE = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
const BARE_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

async function filled(): Promise<TestApi> {
  const api = new TestApi({ kinds, services: { mediaTypes: MEDIA_TYPES } });
  await api.post(MAPS, { metadata: { name: 'a', labels: { x: 'y' } }, data: { k: 'v' } });
  return api;
}

test('a form nobody makes is refused by the router, one requested wrongly by the endpoint', async () => {
  const api = await filled();
  const forms = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';
  for (const accept of ['text/html', 'application/*', '*', 'text/html, text/*']) {
    const { status, body } = await api.get(`${MAPS}/a`, { accept });
    assert.deepEqual([status, body.reason], [406, 'NotAcceptable'], accept);
    assert.equal(body.message, `406: Not Acceptable\n\nAvailable representations: ${forms}`, accept);
  }
  const list = await api.get(MAPS, { accept: 'text/html' });
  assert.equal(
    list.body.message,
    `406: Not Acceptable\n\nAvailable representations: ${forms}, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch`,
  );
  for (const accept of [
    'application/json;as=Chair;v=v1;g=meta.k8s.io',
    'application/json;as=Table;v=v7;g=meta.k8s.io',
    'application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io',
    'application/json;stream=film',
    'application/json;sv=v2',
  ]) {
    const { status, body } = await api.get(`${MAPS}/a`, { accept });
    assert.deepEqual([status, body.message], [406, `only the following media types are accepted: ${forms}`], accept);
  }
});

test('what has no other form than its own is not made into one, and only the router minds a wildcard', () => {
  const asks = (accept: string, path: NegotiatedPath): unknown => {
    const request = { headers: { accept }, search: '' } as unknown as HttpRequest;
    try {
      return negotiate(request, MEDIA_TYPES, path).media.name;
    } catch (error) {
      return error instanceof StatusError && error.code;
    }
  };
  const [groups, resources] = [{ transforms: false, routed: false }, { transforms: false }];
  for (const accept of [TABLE, BARE, BARE_LIST]) {
    assert.equal(asks(accept, groups), 406);
    assert.equal(asks(accept, resources), 406);
    assert.equal(asks(`${accept},application/yaml`, resources), 'application/yaml');
  }
  assert.equal(asks('application/*', groups), 'application/json');
  assert.equal(asks('application/*', resources), 406);
  assert.equal(asks(TABLE, {}), 'application/json');
});

test('the best of the accepted and available forms is answered', async () => {
  const api = await filled();
  const formOf = async (accept: string): Promise<unknown> =>
    (await api.get(`${MAPS}/a`, { accept })).headers['content-type'];
  assert.equal(await formOf('application/yaml;q=0.5, application/json;q=0.9'), 'application/json');
  assert.equal(await formOf('application/yaml, application/json'), 'application/yaml');
  assert.equal(await formOf('text/html, */*;q=0.8'), 'application/json');
  assert.equal(await formOf('application/json;as=Chair;v=v1;g=meta.k8s.io, application/yaml'), 'application/yaml');
  // A wildcard yields to anything precise, whatever the qualities say.
  assert.equal(await formOf('*/*;q=0.9, application/yaml;q=0.1'), 'application/yaml');
});

test('clauses that make no sense are passed over', () => {
  const said = (header: string): string[] =>
    parseAccept(header).map(({ type, subtype, quality }) => `${type}/${subtype} ${quality}`);
  assert.deepEqual(said('a/b/c, x, /, ;, ,*;q=0.5, a/b;q=zero'), ['a/b 0', '*/* 0.5']);
});

test('every form carries the same object', async () => {
  const api = await filled();
  const object = (await api.get(`${MAPS}/a`)).body;
  const type = typeOf('', 'v1', 'ConfigMap');
  assert.ok(type);
  const protobuf = await api.get(`${MAPS}/a`, { accept: 'application/vnd.kubernetes.protobuf' });
  assert.deepEqual({ ...decodeProtobuf(type, protobuf.bytes) }, object);
  const withCbor = new TestApi({ kinds, kv: api.kv });
  const cbor = await withCbor.get(`${MAPS}/a`, { accept: 'application/cbor' });
  assert.deepEqual(JSON.parse(JSON.stringify(decodeCborTree(cbor.bytes))), object);
  const yaml = (await api.get(`${MAPS}/a`, { accept: 'application/yaml' })).bytes.toString();
  assert.match(yaml, /^apiVersion: v1\ndata:\n {2}k: v\nkind: ConfigMap\nmetadata:\n/);
});

test('every form is read, and answered in another', async () => {
  const api = await filled();
  const protobuf = await api.get(`${MAPS}/a`, { accept: 'application/vnd.kubernetes.protobuf' });
  const put = await api.put(`${MAPS}/a`, protobuf.bytes, { 'content-type': 'application/vnd.kubernetes.protobuf' });
  assert.equal(put.status, 200);
  const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\ndata: {k: "1"}\n';
  const posted = await api.post(MAPS, yaml, { 'content-type': 'application/yaml' });
  assert.deepEqual([posted.status, posted.body.data], [201, { k: '1' }]);
  const wrong = await api.post(MAPS, yaml, { 'content-type': 'application/vnd.kubernetes.protobuf' });
  assert.equal(wrong.status, 400);
});

test('a body of CBOR that cannot be read is refused without a kind', async () => {
  const withCbor = new TestApi({ kinds, kv: (await filled()).kv });
  const broken = await withCbor.post(MAPS, Buffer.from('ff', 'hex'), { 'content-type': 'application/cbor' });
  assert.equal(broken.status, 400);
  assert.match(broken.body.message, /\(must be of type ConfigMap\): unable to determine group\/version\/kind: cbor: /);
});

test('people get indented JSON, unless they say otherwise', async () => {
  const api = await filled();
  const isPretty = async (query: string, headers: Record<string, string>): Promise<boolean> =>
    (await api.get(`${MAPS}/a${query}`, headers)).bytes.toString().startsWith('{\n  "kind": "ConfigMap",\n');
  assert.equal(await isPretty('', {}), false);
  assert.equal(await isPretty('?pretty=true', {}), true);
  assert.equal(await isPretty('', { 'user-agent': 'curl/8.0' }), true);
  assert.equal(await isPretty('?pretty=false', { 'user-agent': 'curl/8.0' }), false);
  assert.equal(await isPretty('', { accept: 'application/json;pretty=1' }), true);
  const plain = (await api.get(`${MAPS}/a`)).body;
  assert.deepEqual((await api.get(`${MAPS}/a?pretty=1`)).body, plain);
});

test('an object and a list as a table', async () => {
  const api = await filled();
  const list = (await api.get(MAPS, { accept: TABLE })).body;
  assert.deepEqual([list.kind, list.apiVersion], ['Table', 'meta.k8s.io/v1']);
  assert.deepEqual(
    list.rows.map(({ cells }) => cells),
    [['a', 1, '0s']],
  );
  assert.equal(list.rows[0]?.object?.kind, 'PartialObjectMetadata');
  const whole = (await api.get(`${MAPS}/a?includeObject=Object`, { accept: TABLE })).body;
  assert.deepEqual(whole.rows[0]?.object?.data, { k: 'v' });
  const none = (await api.get(`${MAPS}?includeObject=None`, { accept: TABLE })).body;
  assert.equal(none.rows[0]?.object, null);
  const wrong = await api.get(`${MAPS}?includeObject=Half`, { accept: TABLE });
  assert.equal(wrong.status, 400);
  const missing = await api.get(`${MAPS}/b`, { accept: TABLE });
  assert.deepEqual([missing.status, missing.body.kind], [404, 'Status']);
});

test('a table of what a dry run changed has the version of what is there', async () => {
  const api = await filled();
  const { metadata } = (await api.get(`${MAPS}/a`)).body;
  const body = { metadata: { name: 'a' }, data: { k: 'other' } };
  const table = await api.send('PUT', `${MAPS}/a?dryRun=All`, { headers: { accept: TABLE }, body });
  assert.deepEqual([table.body.kind, table.body.metadata.resourceVersion], ['Table', metadata.resourceVersion]);
});

test('bare metadata of one and of many, each where it belongs', async () => {
  const api = await filled();
  const one = (await api.get(`${MAPS}/a`, { accept: BARE })).body;
  assert.deepEqual([one.kind, one.metadata.labels, one.data], ['PartialObjectMetadata', { x: 'y' }, undefined]);
  const many = (await api.get(MAPS, { accept: BARE_LIST })).body;
  assert.deepEqual([many.kind, many.items[0]?.kind], ['PartialObjectMetadataList', 'PartialObjectMetadata']);
  const none = (await api.get(`${MAPS}?fieldSelector=metadata.name=z`, { accept: BARE_LIST })).body;
  assert.equal(none.items, null);
  const oneOfMany = await api.get(MAPS, { accept: BARE });
  assert.equal(oneOfMany.status, 406);
  assert.match(oneOfMany.body.message, /^you requested PartialObjectMetadata, but the requested object is a list/);
  const manyOfOne = await api.get(`${MAPS}/a`, { accept: BARE_LIST });
  assert.equal(manyOfOne.status, 406);
  const deleted = await api.send('DELETE', `${MAPS}/a`, { headers: { accept: BARE } });
  assert.deepEqual([deleted.status, deleted.body.kind], [200, 'Status']);
});

test('a body whose type has broken parameters has no type we know', async () => {
  const api = await filled();
  const post = async (type: string): Promise<number> =>
    (await api.post(`${MAPS}?dryRun=All`, { metadata: { name: 'b' } }, { 'content-type': type })).status;
  for (const type of ['application/json; charset="utf-8";', 'application/json ; a=b; c = d', 'Application/JSON']) {
    assert.equal(await post(type), 201, type);
  }
  for (const type of [
    'application/json; charset',
    'application/json;;',
    'application/json; a="b',
    'application/json; a=b c',
  ]) {
    assert.equal(await post(type), 415, type);
  }
});

test('what only answers has no table', async () => {
  const authorizer: Authorizer = {
    authorize: () => ({ decision: 'allow', reason: '' }),
    rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
  };
  const api = new TestApi({ kinds: authorizationKinds({ authorizer }), services: { mediaTypes: MEDIA_TYPES } });
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { nonResourceAttributes: { path: '/', verb: 'get' } },
  };
  const send = async (accept: string): Promise<readonly unknown[]> => {
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    const { status, body } = await api.post(path, review, { accept });
    return [status, body.reason, body.kind];
  };
  assert.deepEqual(await send(TABLE), [406, 'NotAcceptable', 'Status']);
  assert.deepEqual(await send(`${TABLE},application/json`), [201, undefined, 'SelfSubjectAccessReview']);
});

test('an endpoint of a kind has a table unless the kind says otherwise', async () => {
  const api = new TestApi({ kinds, services: { mediaTypes: MEDIA_TYPES } });
  const created = await api.post('/api/v1/namespaces', { metadata: { name: 'n' } });
  const path = '/api/v1/namespaces/n';
  const status = await api.get(`${path}/status`, { accept: TABLE });
  assert.deepEqual([status.status, status.body.kind], [200, 'Table']);
  const finalize = async (accept: string): Promise<readonly unknown[]> => {
    const answer = await api.send('PUT', `${path}/finalize`, { body: created.body, headers: { accept } });
    return [answer.status, answer.body.kind];
  };
  assert.deepEqual(await finalize(TABLE), [406, 'Status']);
  assert.deepEqual(await finalize(`${TABLE},application/json`), [200, 'Namespace']);
});

test('what a long Accept header says again and again is read once', () => {
  const clauses = parseAccept(`${'*/*,'.repeat(80_000)}${'a/b,'.repeat(80_000)}`);
  assert.deepEqual(
    clauses.map(({ type }) => type),
    ['a', '*'],
  );
});

test('a refusal to who accepts no plain object is indented', async () => {
  const api = await filled();
  const send = async (accept: string): Promise<string> =>
    (await api.send('GET', `${MAPS}/none`, { headers: { accept } })).bytes.toString();
  const plain = await send(`${TABLE},application/json`);
  assert.ok(plain.endsWith('}\n'));
  assert.equal(await send(TABLE), JSON.stringify(JSON.parse(plain), undefined, 2));
});
