import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countIndexes, firstCommonIndex } from './indexes.js';

test('indexes are counted over single ones and intervals', () => {
  assert.equal(countIndexes('', 10), 0);
  assert.equal(countIndexes('1,3-5,7', 10), 5);
});

test('malformed indexes are refused', () => {
  assert.equal(countIndexes('5,3', 10), 'non-increasing order, previous: 5, current: 3');
  assert.equal(countIndexes('10', 10), 'too large index: "10"');
  assert.equal(countIndexes('a', 10), 'cannot convert string to integer for index: "a"');
});

test('the first index in both sets is found', () => {
  assert.equal(firstCommonIndex('0-3', '2,5', 10), 2);
  assert.equal(firstCommonIndex('0-3', '4-6', 10), undefined);
});
