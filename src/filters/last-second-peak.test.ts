import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LastSecondPeak } from './last-second-peak.js';

it('the peak of the second before is reported, and none of one in which the count did not change', () => {
  let nowMs = 0;
  const peak = new LastSecondPeak(() => nowMs);
  const at = (ms: number, ...counts: readonly number[]): number => {
    nowMs = ms;
    for (const count of counts) peak.observe(count);
    return peak.value;
  };
  assert.equal(at(10, 1, 2, 1), 0);
  assert.equal(at(999), 0);
  assert.equal(at(1000, 1), 2);
  assert.equal(at(1500), 2);
  assert.equal(at(2000), 1);
  assert.equal(at(3000), 0);
  assert.equal(at(4000, 7), 0);
  assert.equal(at(9000), 0);
});
