// Custom resources that a webhook converts, over the whole API. Things of v1 have `spec.size`, those of v2 `spec.parts`.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { apiextensionsKinds } from '../../apis/apiextensions/index.js';
import type { JsonObject, ManagedFieldsEntry } from '../../machinery/object.js';
import { StorageError } from '../../storage/store.js';
import { type Answer, TestApi } from '../../server/testing/test-api.js';
import { serveCrds } from '../../server/testing/serve-crds.js';
import { type Converter, inForm } from './converter.js';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const things = (version: string): string => `/apis/example.test/${version}/namespaces/default/things`;

let api: TestApi;
let stop: AbortController;
let refuse: boolean;

const converter: Converter = {
  async convert(objects, apiVersion, form = {}) {
    if (refuse) throw new StorageError('conversion', 'no conversion today');
    return objects.map((object) => {
      const { spec = {} } = object as { spec?: { size?: number; parts?: unknown[] } };
      const size = spec.size ?? spec.parts?.length ?? 0;
      const toParts = apiVersion.endsWith('v2');
      const converted = { apiVersion, spec: toParts ? { parts: Array.from({ length: size }, () => 'p') } : { size } };
      return { object: () => inForm(form, { ...object, ...converted }) };
    });
  },
};

const objectSchema = (properties: object): object => ({ type: 'object', properties });
const version = (name: string, storage: boolean, spec: object): object => ({
  name,
  served: true,
  storage,
  schema: {
    openAPIV3Schema: objectSchema({ spec: objectSchema(spec), status: objectSchema({ n: { type: 'integer' } }) }),
  },
  subresources: {
    status: {},
    ...(name === 'v1' && { scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.n' } }),
  },
});
const crdWith = (storage: string): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.test' },
  spec: {
    group: 'example.test',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    conversion: {
      strategy: 'Webhook',
      webhook: { clientConfig: { url: 'https://convert.example.test/' }, conversionReviewVersions: ['v1'] },
    },
    versions: [
      version('v1', storage === 'v1', { size: { type: 'integer' } }),
      version('v2', storage === 'v2', { parts: { type: 'array', items: { type: 'string' } } }),
    ],
  },
});

beforeEach(async () => {
  refuse = false;
  api = new TestApi({ kinds: apiextensionsKinds() });
  stop = new AbortController();
  await serveCrds(api, stop.signal, { converterOf: () => converter });
  assert.equal((await api.send('POST', DEFINITIONS, { body: crdWith('v1') })).status, 201);
  while (api.resources.find('example.test', 'v2', 'things') === undefined) await new Promise(setImmediate);
});

afterEach(() => {
  stop.abort();
  api.resources.close();
});

const thing = (apiVersion: string, spec: object): object => ({
  apiVersion: `example.test/${apiVersion}`,
  kind: 'Thing',
  metadata: { name: 'a' },
  spec,
});
const send = async (method: string, target: string, body: object, contentType: string): Promise<Answer> => {
  const answer = await api.send(method, target, { body, headers: { 'content-type': contentType } });
  assert.equal(answer.status, 200, answer.bytes.toString());
  return answer;
};
const merge = (target: string, body: object): Promise<Answer> =>
  send('PATCH', target, body, 'application/merge-patch+json');
const specs = async (): Promise<unknown[]> => [
  (await api.send('GET', `${things('v1')}/a`)).body.spec,
  (await api.send('GET', `${things('v2')}/a`)).body.spec,
];

test('an object is written and read through every version, with its status and scale', async () => {
  const made = await api.send('POST', things('v2'), { body: thing('v2', { parts: ['x', 'y'] }) });
  assert.equal(made.status, 201, made.bytes.toString());
  assert.deepEqual(made.body.spec, { parts: ['p', 'p'] });
  assert.deepEqual(await specs(), [{ size: 2 }, { parts: ['p', 'p'] }]);
  await merge(`${things('v2')}/a`, { spec: { parts: ['1', '2', '3'] } });
  assert.deepEqual(await specs(), [{ size: 3 }, { parts: ['p', 'p', 'p'] }]);
  await merge(`${things('v2')}/a/status`, { status: { n: 5 } });
  const scale = await merge(`${things('v1')}/a/scale`, { spec: { replicas: 1 } });
  assert.deepEqual(scale.body['status'], { replicas: 5 });
  const { metadata, ...replaced } = (await api.send('GET', `${things('v2')}/a`)).body as JsonObject & Answer['body'];
  assert.deepEqual(replaced.spec, { parts: ['p'] });
  await send('PUT', `${things('v2')}/a`, { ...replaced, metadata, spec: { parts: [] } }, 'application/json');
  assert.deepEqual((await specs())[0], { size: 0 });
});

test('field ownership is recorded by the version it was written through', async () => {
  await api.send('POST', things('v1'), { body: thing('v1', { size: 1 }) });
  const applied = await send(
    'PATCH',
    `${things('v2')}/a?fieldManager=applier&force=true`,
    thing('v2', { parts: ['x'] }),
    'application/apply-patch+yaml',
  );
  const { managedFields = [] } = applied.body.metadata as { managedFields?: ManagedFieldsEntry[] };
  assert.deepEqual(
    managedFields.map(({ manager, operation, apiVersion, fieldsV1 }) => [manager, operation, apiVersion, fieldsV1]),
    [
      ['applier', 'Apply', 'example.test/v2', { 'f:spec': { 'f:parts': {} } }],
      ['unknown', 'Update', 'example.test/v1', { 'f:spec': { '.': {}, 'f:size': {} } }],
    ],
  );
});

test('an update that changes nothing moves an object to the version that is stored now', async () => {
  await api.send('POST', things('v1'), { body: thing('v1', { size: 2 }) });
  const before = api.resources.find('example.test', 'v2', 'things');
  await merge(`${DEFINITIONS}/things.example.test`, { spec: (crdWith('v2') as { spec: object }).spec });
  while (api.resources.find('example.test', 'v2', 'things') === before) await new Promise(setImmediate);
  const stored = async (): Promise<string | undefined> =>
    (await api.resources.find('example.test', 'v1', 'things')?.registry.store.view?.base.get('default/a', ''))?.object()
      .apiVersion;
  assert.equal(await stored(), 'example.test/v1');
  await merge(`${things('v1')}/a`, {});
  assert.equal(await stored(), 'example.test/v2');
  assert.deepEqual(await specs(), [{ size: 2 }, { parts: ['p', 'p'] }]);
});

test('a converter that fails stands in the way of its versions only, and nothing is stored', async () => {
  await api.send('POST', things('v1'), { body: thing('v1', { size: 2 }) });
  refuse = true;
  const why = 'no conversion today';
  const unready = `storage is (re)initializing: failed to list example.test/v2, Kind=Thing: ${why}`;
  for (const [method, target, ...expected] of [
    ['GET', `${things('v2')}/a`, 500, why, undefined, undefined],
    ['GET', `${things('v2')}?limit=1`, 500, why, undefined, undefined],
    ['DELETE', `${things('v2')}/a`, 500, why, undefined, undefined],
    ['GET', things('v2'), 429, unready, 'TooManyRequests', '1'],
    ['GET', `${things('v2')}?watch=1`, 429, unready, 'TooManyRequests', '1'],
    ['DELETE', things('v2'), 500, why, undefined, undefined],
  ] as const) {
    const { status, body, headers } = await api.send(method, target);
    assert.deepEqual([status, body.message, body.reason, headers['retry-after']], expected, `${method} ${target}`);
  }
  const body = { ...thing('v2', { parts: [] }), metadata: { name: 'b' } };
  for (const query of ['', '?dryRun=All']) {
    assert.equal((await api.send('POST', things('v2') + query, { body })).body.message, 'no conversion today');
  }
  assert.equal((await api.send('GET', `${things('v1')}/b`)).status, 404);
  assert.deepEqual((await api.send('GET', `${things('v1')}/a`)).body.spec, { size: 2 });
});
