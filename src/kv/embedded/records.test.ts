import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeNumbers, modRevisionOf, numberAt } from './records.js';

const number = fc.bigInt({ min: 0n, max: 2n ** 48n - 1n }).map(Number);

test('numbers are six bytes, big-endian', () => {
  fc.assert(
    fc.property(fc.array(number), (numbers) => {
      const expected = Buffer.alloc(numbers.length * 6);
      for (const [index, one] of numbers.entries()) expected.writeUIntBE(one, index * 6, 6);
      const bytes = encodeNumbers(...numbers);
      assert.deepEqual(bytes, expected);
      assert.deepEqual(
        numbers.map((_, index) => numberAt(bytes, index)),
        numbers,
      );
    }),
  );
});

test('a revision is read without the bits above it', () => {
  for (const revision of [1, 2 ** 31, 2 ** 32 + 5, 2 ** 45 - 1]) {
    for (const bits of [0, 0x40, 0x80, 0xc0]) {
      const bytes = encodeNumbers(revision);
      bytes[0] = (bytes[0] ?? 0) | bits;
      assert.equal(modRevisionOf(bytes), revision);
    }
  }
});

test('what does not fit, and what is not there, fails', () => {
  for (const wrong of [-1, 2 ** 48, NaN, Infinity]) assert.throws(() => encodeNumbers(wrong), RangeError);
  assert.throws(() => numberAt(Buffer.alloc(11), 1), RangeError);
});
