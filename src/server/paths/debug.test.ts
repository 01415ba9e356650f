import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testRequest } from '../../filters/testing.js';
import { createDebug } from './debug.js';

test('a profile is of a worker that there is, by its whole number', async () => {
  const asked: number[] = [];
  const debug = createDebug({
    contentionProfiling: false,
    worker: {
      index: 0,
      count: 2,
      ask: async (index) => (asked.push(index), { status: 200, headers: {}, body: '' }),
      onAsked: () => undefined,
    },
  });
  const statusOf = async (worker: string): Promise<number | undefined> =>
    (await debug.handle(testRequest('GET', `/debug/pprof/?worker=${worker}`), '/debug/pprof/'))?.status;
  assert.equal(await statusOf('1'), 200);
  assert.deepEqual(asked, [1]);
  for (const unknown of ['0.5', '2', '-1', 'first', 'NaN']) assert.equal(await statusOf(unknown), 404, unknown);
  assert.deepEqual(asked, [1]);
});
