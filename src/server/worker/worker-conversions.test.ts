// Objects that a webhook converts come to the same on a worker thread.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { apiextensionsKinds } from '../../apis/apiextensions/index.js';
import { webhookConverter } from '../../crd/conversion/converter.js';
import type { WorkerPool } from '../../lib/async/worker-pool.js';
import type { JsonObject } from '../../machinery/object.js';
import { InlineWorker, serveDefinitions } from '../testing/inline-worker.js';
import { type Answer, TestApi } from '../testing/test-api.js';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const things = (version: string): string => `/apis/example.test/${version}/namespaces/n/things`;
const MERGE = 'application/merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const APPLY = 'application/apply-patch+yaml';

const stop = new Set<() => void>();
let here: TestApi;
let there: TestApi;
let workers: InlineWorker;
let requests: string[];
let refuses: boolean;

beforeEach(async () => {
  requests = [];
  refuses = false;
  workers = new InlineWorker();
  here = await open();
  there = await open(workers);
});

afterEach(() => {
  for (const one of stop) one();
  stop.clear();
});

/** What is one text in the first version is a list in the second. */
function converted(object: JsonObject, apiVersion: string): JsonObject {
  const spec = object['spec'] as { text?: string; texts?: string[] } | undefined;
  if (spec === undefined) return { ...object, apiVersion };
  const { text = spec.texts?.join(' '), texts = spec.text?.split(' '), ...rest } = spec;
  return { ...object, apiVersion, spec: { ...rest, ...(apiVersion.endsWith('v1') ? { text } : { texts }) } };
}

interface Question {
  readonly uid: string;
  readonly objects: JsonObject[];
  readonly desiredAPIVersion: string;
}

async function call(body: string | Buffer): Promise<{ status: number; contentType: string; body: Buffer }> {
  const { uid, objects, desiredAPIVersion } = (JSON.parse(String(body)) as { request: Question }).request;
  requests.push(desiredAPIVersion);
  const result = refuses ? { status: 'Failure', message: 'not today' } : { status: 'Success' };
  const convertedObjects = objects.map((object) => converted(object, desiredAPIVersion));
  const review = { response: { uid, result, convertedObjects }, kind: 'ConversionReview' };
  const answer = JSON.stringify({ ...review, apiVersion: 'apiextensions.k8s.io/v1' });
  return { status: 200, contentType: 'application/json', body: Buffer.from(answer) };
}

async function open(workerPool?: WorkerPool): Promise<TestApi> {
  const api = new TestApi({ kinds: apiextensionsKinds(), ...(workerPool && { workers: workerPool }) });
  const converterOf = () => webhookConverter({ reviewVersions: ['v1'], newUid: () => 'uid', ask: call });
  stop.add(await serveDefinitions(api, { converterOf, workers: workerPool }));
  const text = { type: 'string' };
  const version = (name: string, properties: object): object => ({
    name,
    served: true,
    storage: name === 'v1',
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties: { ...properties, other: text, size: text } } },
      },
    },
  });
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.test' },
    spec: {
      group: 'example.test',
      scope: 'Namespaced',
      names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      versions: [version('v1', { text }), version('v2', { texts: { type: 'array', items: text } })],
      conversion: {
        strategy: 'Webhook',
        webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://hook.example' } },
      },
    },
  };
  assert.equal((await api.post(DEFINITIONS, definition)).status, 201);
  while (api.resources.find('example.test', 'v2', 'things') === undefined) await new Promise(setImmediate);
  return api;
}

const UIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIMES = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;

/** Sends to both servers; the second ran these tasks on a worker, and made the same calls of the webhook. */
async function both(send: (api: TestApi) => Promise<Answer>, works: readonly string[]): Promise<Answer> {
  const [first, second] = [await observed(here, send), await observed(there, send, works)];
  assert.deepEqual(second.observed, first.observed);
  return first.answer;
}

async function observed(
  api: TestApi,
  send: (api: TestApi) => Promise<Answer>,
  works: readonly string[] = [],
): Promise<{ answer: Answer; observed: object }> {
  requests = [];
  workers.done.length = 0;
  const answer = await send(api);
  for (const work of works) assert.ok(workers.done.includes(work), `${work} is not among ${workers.done.join()}`);
  const text = answer.bytes.toString().replace(UIDS, 'uid').replace(TIMES, 'time');
  // What is begun anew here warns again, and clients get each warning once.
  const warnings = [...new Set(answer.warnings)];
  return { answer, observed: { status: answer.status, warnings, text, requests: [...requests].sort() } };
}

const thing = (version: string, spec: object): object => ({
  apiVersion: `example.test/${version}`,
  kind: 'Thing',
  metadata: { name: 'a' },
  spec,
});

const WRITE = ['change', 'prepare'];
const CONVERTED_WRITE = [...WRITE, 'accept converted'];

test('objects are written and patched in both versions as ever', async () => {
  const [v1, v2] = [`${things('v1')}/a`, `${things('v2')}/a`];
  const created = await both((api) => api.post(things('v2'), thing('v2', { texts: ['a', 'b'] })), CONVERTED_WRITE);
  assert.equal(created.status, 201, created.bytes.toString());
  assert.match(String((await both((api) => api.get(v1), [])).bytes), /"text":"a b"/);
  const merged = (spec: object) => (to: string, works: readonly string[]) =>
    both((api) => api.patch(to, MERGE, { spec }), works);
  assert.equal((await merged({ texts: ['c'] })(v2, CONVERTED_WRITE)).status, 200);
  assert.equal((await merged({ texts: ['c'] })(v2, WRITE)).status, 200);
  assert.equal((await merged({ text: 'd e', unknown: 1 })(v1, WRITE)).status, 200);
  assert.equal((await merged({ other: 5 })(v1, ['change'])).status, 422);
  const operations = [{ op: 'add', path: '/spec/texts/-', value: 'f' }];
  const patched = await both((api) => api.patch(v2, JSON_PATCH, operations), CONVERTED_WRITE);
  assert.match(String(patched.bytes), /"texts":\["d","e","f"\]/);
  const replaced = async (api: TestApi): Promise<Answer> => {
    const object = JSON.parse(String((await api.get(v2)).bytes)) as object;
    return api.put(v2, { ...object, spec: { texts: ['g'] } });
  };
  assert.equal((await both(replaced, CONVERTED_WRITE)).status, 200);
  await both((api) => api.patch(`${v2}?dryRun=All`, MERGE, { spec: { texts: ['h'] } }), CONVERTED_WRITE);
});

test('fields that are owned in other versions are found out as ever', async () => {
  const applied = (version: string, manager: string, spec: object, more = '') =>
    both(
      (api) => api.patch(`${things(version)}/a?fieldManager=${manager}${more}`, APPLY, thing(version, spec)),
      ['change'],
    );
  assert.equal((await applied('v1', 'one', { text: 'a b' })).status, 201);
  assert.equal((await applied('v2', 'two', { other: 'x' })).status, 200);
  assert.equal((await applied('v2', 'two', { other: 'x', texts: ['z'] })).status, 409);
  assert.equal((await applied('v2', 'two', { other: 'x', texts: ['z'] }, '&force=true')).status, 200);
  assert.equal((await applied('v1', 'one', { size: 's' })).status, 200);
  assert.equal((await applied('v1', 'two', {})).status, 200);
});

test('a webhook that refuses is reported as ever', async () => {
  await both((api) => api.post(things('v1'), thing('v1', { text: 'a' })), WRITE);
  await both((api) => api.patch(`${things('v1')}/a?fieldManager=m`, APPLY, thing('v1', { other: 'o' })), WRITE);
  refuses = true;
  const read = await both((api) => api.get(`${things('v2')}/a`), ['accept converted']);
  assert.match(String(read.bytes), /not today/);
  const written = await both((api) => api.post(things('v2'), thing('v2', { texts: ['a'] })), WRITE);
  assert.equal(written.status, 500, String(written.bytes));
});
