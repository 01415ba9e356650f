import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkerPool, Task } from '../../lib/async/worker-pool.js';
import type { JsonObject } from '../../machinery/object.js';
import { StorageError } from '../../storage/store.js';
import { compileType } from '../compile-type.js';
import { prunedTo } from '../stored-codec.js';
import { runAccept, type Elsewhere } from './accept.worker.js';
import { type Form, webhookConverter } from './converter.js';

const type = compileType({
  name: 'test.example.v1.Thing',
  schema: { type: 'object', properties: { spec: { type: 'object', properties: { known: { type: 'string' } } } } },
  preserveUnknown: false,
});

let went = 0;
/** What goes over and comes back is what another thread would see. */
const workers: WorkerPool = {
  minBytes: 0,
  async run<Work extends object, Answer extends object>(_task: Task<Work, Answer>, work: Work): Promise<Answer> {
    went++;
    type Accept = Parameters<typeof runAccept>[1];
    const sent = structuredClone(work) as unknown as Accept;
    return structuredClone(runAccept(sent.kind && type, sent)) as unknown as Answer;
  },
};
const requires = { id: 'things', json: async () => Buffer.from('{}') };
const kind = { group: 'example.test', plural: 'things', custom: { id: 'things', version: 'v1' } };
const prune = (object: JsonObject): ReturnType<typeof prunedTo> => prunedTo(type, object);

const V1 = 'example.test/v1';
const ORIGINAL = {
  apiVersion: 'example.test/v2',
  kind: 'Thing',
  metadata: { name: 'a', finalizers: ['example.test/f'], generation: 3 },
  spec: {},
};

/** What a conversion comes to whose answer is this. */
async function outcomeOf(form: Form, convertedObjects: unknown, more: object = {}): Promise<unknown> {
  const response = { uid: 'uid-1', result: { status: 'Success' }, convertedObjects, ...more };
  const review = { kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1', response };
  const body = Buffer.from(JSON.stringify(review));
  const converter = webhookConverter({
    reviewVersions: ['v1'],
    newUid: () => 'uid-1',
    ask: async () => ({ status: 200, contentType: 'application/json', body }),
  });
  try {
    const [converted] = await converter.convert([ORIGINAL], V1, form);
    const object = await converted?.object();
    if (converted?.json !== undefined) assert.deepEqual(JSON.parse(String(converted.json)), object);
    return object;
  } catch (error) {
    assert.ok(error instanceof StorageError);
    return error.message;
  }
}

const ANSWERS: readonly (readonly [what: string, objects: unknown, more?: object])[] = [
  [
    'an object',
    [
      {
        apiVersion: V1,
        kind: 'Thing',
        metadata: { name: 'a', labels: { l: 'x' }, unknown: 1 },
        spec: { known: 'é', other: [1, 2.5, null, {}] },
      },
    ],
  ],
  ['another kind', [{ apiVersion: V1, kind: 'Other', metadata: { name: 'a' } }]],
  ['no kind', [{ apiVersion: V1, metadata: { name: 'a' } }]],
  ['labels that are none', [{ apiVersion: V1, kind: 'Thing', metadata: { name: 'a', labels: { '%': 'x' } } }]],
  ['no object', []],
  ['null', [null]],
  ['a failure', [], { result: { status: 'Failure', message: 'not today' } }],
  ['another question', [], { uid: 'other' }],
];

for (const [what, objects, more] of ANSWERS) {
  test(`an answer with ${what} comes to the same in another thread`, async () => {
    went = 0;
    const fitting: Elsewhere = { workers, requires, kind };
    assert.deepEqual(
      await outcomeOf({ prune, elsewhere: fitting }, objects, more),
      await outcomeOf({ prune }, objects, more),
    );
    assert.deepEqual(
      await outcomeOf({ elsewhere: { workers, requires } }, objects, more),
      await outcomeOf({}, objects, more),
    );
    assert.equal(went, 2);
  });
}

test('of what a webhook says a few thousand characters are passed on', async () => {
  const message = await outcomeOf({}, [], { result: { status: 'Failure', message: 'x'.repeat(1_000_000) } });
  assert.ok(String(message).length < 70_000, String(message).slice(0, 100));
});
