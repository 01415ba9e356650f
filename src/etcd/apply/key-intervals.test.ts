import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { KeyIntervals } from './key-intervals.js';

const key = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 3 });

it('a key is among the intervals exactly when one of them has it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ start: key, end: fc.option(key, { nil: undefined, freq: 8 }) })),
      key,
      (all, one) => {
        const intervals = new KeyIntervals();
        for (const interval of all) intervals.add(interval);
        const isIn = all.some(({ start, end }) => one >= start && (end === undefined || one < end));
        assert.equal(intervals.has(one), isIn);
      },
    ),
  );
});
