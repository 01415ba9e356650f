import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSync } from '../../lib/scheduling/yield.js';
import { unmatchableTests } from './test-literals.js';

test('a test holds only for texts that are written as Go writes them', () => {
  const found = (json: string): number[] => [...runSync(unmatchableTests(json))];
  const operation = (literal: string): string => `{"op":"test","path":"/a","value":${literal}}`;
  for (const [literal, isOdd] of [
    ['"plain é😀"', false],
    ['"a<b"', true],
    ['"a>b"', true],
    ['"a&b"', true],
    ['"\u2028"', true],
    [String.raw`"a\u003cb\u003e\u0026\u2028"`, false],
    [String.raw`"a\u003Cb"`, true],
    [String.raw`"\/"`, true],
    [String.raw`"\u0061"`, true],
    [String.raw`"\"\\\n\t\b\f\u0001"`, false],
    ['["x",{"k":"a<b"}]', true],
    ['{"a<b":"x"}', false],
    ['1', false],
  ] as const) {
    assert.deepEqual(found(`[{"op":"add","path":"/b","value":"x"}, ${operation(literal)}]`), isOdd ? [1] : [], literal);
  }
  assert.deepEqual(found('[{"op":"test","path":"/a<b","value":"x"},{"op":"test","value":"<","path":"/"},{}]'), [1]);
  assert.deepEqual(found('[]'), []);
});
