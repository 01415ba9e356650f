import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkerPool, Task } from '../lib/async/worker-pool.js';
import { DecodeError } from '../schema/json/decode.js';
import { Values } from '../storage/values.js';
import { compileType } from './compile-type.js';
import { runRenew, renewingOnWorker } from './renew.worker.js';
import { storedCodec } from './stored-codec.js';

const schema = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { known: { type: 'string' }, size: { type: 'string', default: 'large' } } },
  },
};
const type = compileType({ name: 'test.example.v1.Thing', schema, preserveUnknown: false });
const codec = storedCodec({ apiVersion: 'example.test/v1', type, schema: () => schema });

let went = 0;
/** What goes over and comes back is what another thread would see. */
const workers: WorkerPool = {
  minBytes: 100,
  async run<Work extends object, Answer extends object>(_task: Task<Work, Answer>, work: Work): Promise<Answer> {
    went++;
    type Renew = Parameters<typeof runRenew>[1];
    return structuredClone(runRenew(codec, structuredClone(work) as unknown as Renew)) as unknown as Answer;
  },
};
const requires = { id: 'things', json: async () => Buffer.from('{}') };
const kind = { group: 'example.test', plural: 'things', custom: { id: 'things', version: 'v1' } };
const renewing = renewingOnWorker(codec, workers, requires, kind);

const stored = (spec: object, apiVersion = 'example.test/v1'): Buffer =>
  Buffer.from(JSON.stringify({ apiVersion, kind: 'Thing', metadata: { generation: 1, name: 'a' }, spec }));

const long = 'x'.repeat(100);

test('a large stored object reads the same when it is renewed on a worker thread', async () => {
  went = 0;
  const known = { known: long, size: 's' };
  for (const json of [stored(known), stored({ known: long, other: 1 }), stored(known, 'example.test/v0')]) {
    assert.equal(String(await renewing.renewLarge?.(json)), String(codec.renew?.(json)));
  }
  assert.equal(went, 3);
  await assert.rejects(async () => renewing.renewLarge?.(Buffer.from(`"${long}"`)), DecodeError);
  assert.equal(renewing.renewLarge?.(Buffer.from('{}')), undefined);
});

test('whether a large one is as it would be written now is found out there', async () => {
  const options = {
    resource: { group: 'example.test', resource: 'things' },
    prefix: '/registry/example.test/things/',
    namespaced: true,
    codec: renewing,
    fieldsOf: () => ({}),
  };
  const values = new Values(options, { form: { kind: 'json' } });
  went = 0;
  assert.equal(await values.isStale('n/a', stored({ known: long, size: 's' }), 1), false);
  assert.equal(await values.isStale('n/a', stored({ known: long }), 1), true);
  const entry = await values.entry('n/a', stored({ known: long }), 7);
  assert.match(entry.json.toString(), /"resourceVersion":"7".*"size":"large"/);
  assert.equal(went, 3);
  await assert.rejects(async () => values.entry('n/a', Buffer.from(`"${long}"`), 7), { code: 'corrupt' });
});
