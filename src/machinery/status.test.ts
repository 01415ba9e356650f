import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FieldPath, invalid as invalidField } from './field-error.js';
import { invalid, type StatusError } from './status.js';

const KIND = { group: '', kind: 'ConfigMap' };
const PATH = FieldPath.of('data');

function refusal(count: number, value: (i: number) => string): StatusError {
  const errors = Array.from({ length: count }, (_, i) => invalidField(PATH.index(i), value(i), 'no'));
  return invalid(KIND, 'a', errors);
}

test('of very many errors the first ten thousand are reported, in the message and among the causes', () => {
  const reported = refusal(10_000, String);
  assert.equal(reported.details?.causes?.length, 10_000);
  const most = refusal(30_000, String);
  assert.equal(most.details?.causes?.length, 10_000);
  assert.equal(most.message, reported.message);
});

test('of long errors so many are reported as an answer can hold, and the first always', () => {
  const long = 'x'.repeat(1024 * 1024);
  const some = refusal(100, () => long);
  assert.equal(some.details?.causes?.length, 3);
  const one = refusal(2, (i) => (i === 0 ? 'y'.repeat(5 * 1024 * 1024) : 'z'));
  assert.deepEqual(
    one.details?.causes?.map(({ field }) => field),
    ['data[0]'],
  );
});
