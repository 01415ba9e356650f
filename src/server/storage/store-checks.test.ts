import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limited } from './store-checks.js';

test('a store that does not answer holds up one probe, and the others get the last result', async () => {
  let nowMs = 0;
  const waiting: ((failure: string | undefined) => void)[] = [];
  const probe = limited(() => new Promise<string | undefined>((resolve) => waiting.push(resolve)), {
    everyMs: 1000,
    nowMs: () => nowMs,
  });
  const first = [probe(), probe()];
  assert.equal(waiting.length, 1, 'before anything is known both wait for one');
  waiting[0]?.('no quorum');
  assert.deepEqual([await first[0], await first[1]], ['no quorum', 'no quorum']);
  assert.equal(probe(), 'no quorum');
  nowMs = 1000;
  const second = probe();
  assert.equal(probe(), 'no quorum', 'not held up by the one under way');
  waiting[1]?.(undefined);
  assert.equal(await second, undefined);
  assert.equal(probe(), undefined);
  assert.equal(waiting.length, 2);
});
