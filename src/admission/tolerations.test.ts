import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Toleration } from '../schema/generated/core.v1.js';
import { allowedBy, mergeTolerations } from './tolerations.js';

const everything: Toleration = { operator: 'Exists' };
const equal: Toleration = { key: 'a', operator: 'Equal', value: 'b', effect: 'NoSchedule' };
const exists: Toleration = { key: 'a', operator: 'Exists', effect: 'NoSchedule' };
const tenSeconds: Toleration = { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 10 };
const forever: Toleration = { key: 'a', operator: 'Exists', effect: 'NoExecute' };

test('a merge drops what another toleration covers, wherever it stands', () => {
  assert.deepEqual(mergeTolerations([equal, tenSeconds], [exists]), [tenSeconds, exists]);
  assert.deepEqual(mergeTolerations([exists], [equal]), [exists]);
  assert.deepEqual(mergeTolerations([equal], [equal]), [equal]);
  assert.deepEqual(mergeTolerations([equal, forever], [everything]), [everything]);
});

test('longer than allowed is not allowed, and no list allows all', () => {
  assert.equal(allowedBy([forever], [tenSeconds]), false);
  assert.equal(allowedBy([tenSeconds], [forever]), true);
  assert.equal(allowedBy([equal], [exists]), true);
  assert.equal(allowedBy([exists], [equal]), false);
  assert.equal(allowedBy([forever], []), true);
});

test('long lists are looked through once', { timeout: 60_000 }, () => {
  const long = Array.from({ length: 100_000 }, (_, i): Toleration => ({ key: `k${i}`, operator: 'Exists' }));
  assert.equal(mergeTolerations(long, [...long, { key: 'k1', operator: 'Equal', value: 'a' }]).length, long.length);
  assert.equal(allowedBy(long, long), true);
});

test('of those in one place the longest covers the others, unless it is the same', () => {
  const seconds = (tolerationSeconds: number): Toleration => ({ ...forever, tolerationSeconds });
  assert.deepEqual(mergeTolerations([seconds(5), seconds(20), seconds(10)], []), [seconds(20)]);
  assert.deepEqual(mergeTolerations([seconds(20), seconds(5)], [seconds(20)]), [seconds(20)]);
  const said: Toleration = { ...equal, operator: '' };
  assert.deepEqual(mergeTolerations([equal, said], []), [said]);
});
