import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goFloatText } from './float.js';

test('numbers have an exponent from a million on and below a ten-thousandth', () => {
  const texts: [value: number, text: string][] = [
    [0, '0'],
    [-1.5, '-1.5'],
    [999999, '999999'],
    [1e6, '1e+06'],
    [1234567.5, '1.2345675e+06'],
    [-1e21, '-1e+21'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [0.000025, '2.5e-05'],
    [1e100, '1e+100'],
    [Infinity, '+Inf'],
    [-Infinity, '-Inf'],
    [NaN, 'NaN'],
  ];
  for (const [value, text] of texts) assert.equal(goFloatText(value), text);
});
