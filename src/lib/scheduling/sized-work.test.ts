import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LARGE_BYTES, workOn } from './sized-work.js';
import type { StepGenerator } from './yield.js';

function* counted(): StepGenerator<number> {
  yield;
  return 7;
}

test('work on what is small is done at once and has nothing to await', () => {
  const work = workOn(LARGE_BYTES);
  assert.equal(work.run(counted()), 7);
  assert.equal(work.pause(), undefined);
});

test('work on what is large lets others in between its stages', async () => {
  const work = workOn(LARGE_BYTES + 1);
  let others = 0;
  setImmediate(() => others++);
  await work.pause();
  assert.equal(others, 1);
  assert.equal(await work.run(counted()), 7);
});
