import assert from 'node:assert/strict';
import { test } from 'node:test';
import { patchJson, patchSteps, recordedPatch } from './patch-json.js';

const large = JSON.stringify({
  b: Object.fromEntries(
    Array.from({ length: 20_000 }, (_, i) => [`k${i}`, { i, text: '<"x">', none: null, list: [] }]),
  ),
  a: [1.5, 'n'],
}).replace('"n"', '9007199254740993');

test('a large patch is recorded in many steps, as it is at once', () => {
  const patch = Buffer.from(large);
  const steps = patchSteps(patch);
  let count = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) count++;
  assert.ok(count > 10, `${count}`);
  assert.equal(step.value.toString(), patchJson(patch));
});

test('what is no JSON is recorded as what it says, large or small', async () => {
  const yaml = 'a: 1\n'.padEnd(100_000, '#');
  assert.equal(String(await recordedPatch(Buffer.from(yaml))), '{"a":1}');
  assert.equal(recordedPatch(Buffer.from('a: 1')), '{"a":1}');
});
