import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWhole } from './quantities.js';

test('a quantity is whole by its thousandths, as far as 64 bits hold them', () => {
  const whole = ['1', '5Gi', '999999999Mi', '999999G', '1234567Gi', '2000m', '1Pi', '9E', '8Ei', '9223372036854775807'];
  for (const quantity of whole) assert.ok(isWhole(quantity), quantity);
  for (const quantity of ['1500m', '1Ei', '512Pi', '7Ei']) assert.ok(!isWhole(quantity), quantity);
});
