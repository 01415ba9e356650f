import assert from 'node:assert/strict';
import { it } from 'node:test';
import { signedOf, unsignedOf } from './int64.js';

it('what 64 bits hold is read, with any sign and any zeros before it', () => {
  assert.equal(signedOf('9223372036854775807'), 2n ** 63n - 1n);
  assert.equal(signedOf('-9223372036854775808'), -(2n ** 63n));
  assert.equal(signedOf(`+${'0'.repeat(100)}7`), 7n);
  assert.equal(signedOf('-0'), 0n);
  assert.equal(unsignedOf('18446744073709551615'), 2n ** 64n - 1n);
  assert.equal(unsignedOf('000'), 0n);
});

it('what they do not hold is not, and a million digits take no time', () => {
  for (const text of ['9223372036854775808', '-9223372036854775809', '9'.repeat(21)]) {
    assert.equal(signedOf(text), undefined);
  }
  assert.equal(unsignedOf('18446744073709551616'), undefined);
  const before = process.cpuUsage();
  assert.equal(signedOf('9'.repeat(3_000_000)), undefined);
  assert.ok(process.cpuUsage(before).user < 100_000);
});
