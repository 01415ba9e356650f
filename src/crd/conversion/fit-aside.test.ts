import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Aside, Task } from '../../lib/aside.js';
import type { JsonObject } from '../../machinery/object.js';
import { DecodeError } from '../../schema/json/decode.js';
import { compileType } from '../compile-type.js';
import { fitted } from '../stored-codec.js';
import { fitAside, fitHere } from './fit-aside.js';

const type = compileType({
  name: 'test.example.v1.Thing',
  schema: { type: 'object', properties: { spec: { type: 'object', properties: { known: { type: 'string' } } } } },
  preserveUnknown: false,
});

/** What goes over and comes back is what another thread would see. */
const aside: Aside = {
  fromBytes: 0,
  async do<Work extends object, Answer extends object>(_task: Task<Work, Answer>, work: Work): Promise<Answer> {
    type Fit = Parameters<typeof fitHere>[1];
    return structuredClone(fitHere({ type }, structuredClone(work) as unknown as Fit)) as unknown as Answer;
  },
};
const knowledge = { id: 'things', json: async () => Buffer.from('{}') };
const kind = { group: 'example.test', plural: 'things', version: 'v1' };

test('a converted object comes to the same in another thread, and so does what is wrong with it', async () => {
  const made = (more: object = {}): JsonObject => ({
    apiVersion: 'example.test/v1',
    kind: 'Thing',
    metadata: { name: 'a', labels: {}, unknown: 1 },
    spec: { known: 'é', other: [1, 2.5, null, {}] },
    ...more,
  });
  const { object, json } = await fitAside(aside, knowledge, kind, made());
  assert.deepEqual(object, fitted(type, made()));
  assert.deepEqual(JSON.parse(String(json)), object);
  await assert.rejects(fitAside(aside, knowledge, kind, made({ kind: 1 })), (error: unknown) => {
    assert.ok(error instanceof DecodeError);
    assert.throws(() => fitted(type, made({ kind: 1 })), { message: error.message });
    return true;
  });
});
