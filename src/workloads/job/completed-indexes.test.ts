import assert from 'node:assert/strict';
import { it } from 'node:test';
import { formatIndexes, parseIndexes } from './completed-indexes.js';

it('indexes are written as ranges of three and more, and read back', () => {
  for (const text of ['', '0', '1,2', '0-2', '1,3-5,7,8']) assert.equal(formatIndexes(parseIndexes(text)), text);
  assert.equal(formatIndexes(new Set([5, 3, 4, 1])), '1,3-5');
  assert.equal(formatIndexes(parseIndexes(undefined)), '');
});
