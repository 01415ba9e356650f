import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoizeLast } from './memoize-last.js';

test('what was made is made again only when its basis is another', () => {
  const text = memoizeLast<string>();
  let made = 0;
  const of = (...basis: unknown[]): string => text(basis, () => `${basis.join()} ${++made}`);
  assert.equal(of('a', 1), 'a,1 1');
  assert.equal(of('a', 1), 'a,1 1');
  assert.equal(of('a', 2), 'a,2 2');
  assert.equal(of('a'), 'a 3');
  assert.equal(of('a', undefined), 'a, 4');
});
