import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BoundedMap } from './bounded-map.js';

describe('BoundedMap', () => {
  it('starts afresh when a new key finds it full', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    map.set('b', 3);
    assert.deepEqual([map.get('a'), map.get('b')], [1, 3]);
    map.set('c', 4);
    assert.deepEqual([map.get('a'), map.get('b'), map.get('c')], [undefined, undefined, 4]);
  });

  it('does not keep keys that are very long, nor very many characters of keys', () => {
    const map = new BoundedMap<string, number>(1000);
    const long = 'x'.repeat(64 * 1024);
    map.set(`${long}x`, 1);
    assert.equal(map.get(`${long}x`), undefined);
    const keys = Array.from({ length: 65 }, (_, i) => `${i}`.padEnd(64 * 1024));
    for (const [i, key] of keys.entries()) map.set(key, i);
    assert.deepEqual(
      keys.filter((key) => map.get(key) !== undefined),
      keys.slice(-1),
    );
  });
});
