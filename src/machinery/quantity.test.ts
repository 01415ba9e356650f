import assert from 'node:assert/strict';
import test from 'node:test';
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  int64Value,
  scaledValue,
} from './quantity.js';

test('a quantity is formatted with the largest suffix that loses nothing', () => {
  const cases: [string, string][] = [
    ['0', '0'],
    ['1.5', '1500m'],
    ['1.5Gi', '1536Mi'],
    ['1000m', '1'],
    ['1024Mi', '1Gi'],
    ['100Mi', '100Mi'],
    ['1000', '1k'],
    ['1e3', '1e3'],
    ['12e5', '1200e3'],
    ['0.5Ki', '512'],
    ['0.1m', '100u'],
    ['1n', '1n'],
    ['0.1n', '1n'],
    ['-1.5', '-1500m'],
    ['+5', '+5'],
    ['1000Ei', '9223372036854775807'],
    ['1.1Ki', '1126400m'],
    ['.5', '500m'],
    ['2048', '2048'],
    ['1024Ki', '1Mi'],
  ];
  for (const [text, formatted] of cases) assert.equal(canonicalQuantity(text), formatted, text);
});

test('what is no quantity is refused in the words of kube-apiserver', () => {
  assert.throws(() => canonicalQuantity(''), /must match the regular expression/);
  assert.throws(() => canonicalQuantity('1 Gi'), /must match the regular expression/);
  assert.throws(() => canonicalQuantity('1Zi'), /must match the regular expression/);
  assert.throws(() => canonicalQuantity('1mm'), /unable to parse quantity's suffix/);
});

test('quantities compare and add by value', () => {
  assert.equal(compareQuantities('1Gi', '1073741824'), 0);
  assert.equal(compareQuantities('1e2000000000', '1'), 1);
  assert.equal(compareQuantities('-1e2000000000', '1e-9'), -1);
  assert.equal(compareQuantities('999m', '1'), -1);
  assert.equal(formatQuantity(addQuantities('500m', '1')), '1500m');
  assert.equal(formatQuantity(addQuantities('0', '1Gi')), '1Gi');
  assert.equal(scaledValue('1500m'), 2n);
  assert.equal(scaledValue('1.5', -3), 1500n);
});

test('what 64 bits do not hold goes round or is nothing, as kube-apiserver multiplies', () => {
  assert.equal(int64Value('1Gi', -3), 2n ** 30n * 1000n);
  assert.equal(int64Value('1Ei', -3), -(2n ** 63n));
  assert.equal(int64Value('999999999999999999', -3), BigInt.asIntN(64, 999999999999999999n * 1000n));
  assert.equal(int64Value('9E', -3), 0n);
  assert.equal(int64Value('10E'), 0n);
});
