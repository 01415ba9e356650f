import assert from 'node:assert/strict';
import { it } from 'node:test';
import { differences, OrderedMap, orderedMapOf } from './ordered-map.js';

const isAlike = (one: number, other: number): boolean => one === other;

it('finds what differs between a map and a copy that went its own way', () => {
  const one = new OrderedMap<number>();
  for (let i = 0; i < 1000; i++) one.set(`key-${i}`, i);
  const copy = one.clone();
  assert.deepEqual(differences(one, copy, isAlike), []);
  copy.delete('key-7');
  copy.set('key-500', -1);
  copy.set('new', 1);
  one.set('key-9', -1);
  one.set('key-8', 8);
  assert.deepEqual(differences(one, copy, isAlike), ['key-500', 'key-7', 'key-9', 'new']);
  assert.deepEqual(
    differences(one, copy, () => true),
    ['key-7', 'new'],
  );
});

it('does not look at what both share', () => {
  const one = new OrderedMap<number>();
  for (let i = 0; i < 10_000; i++) one.set(String(i).padStart(5, '0'), i);
  const copy = one.clone();
  copy.set('05000', -1);
  let compared = 0;
  const counted = (): boolean => {
    compared++;
    return false;
  };
  assert.deepEqual(differences(one, copy, counted), ['05000']);
  assert.equal(compared, 1);
});

it('makes a map of many at once, whatever their order', () => {
  const keys = Array.from({ length: 1000 }, (_, i) => String(i).padStart(4, '0'));
  const sets = [keys, [...keys].reverse(), ['b', 'a', 'b'], [], ['\u{1f600}', '\ufffd']];
  for (const set of sets) {
    const map = orderedMapOf(
      [...set],
      set.map((_, i) => i),
    );
    const one = new OrderedMap<number>();
    for (const [i, key] of set.entries()) one.set(key, i);
    assert.deepEqual([...map.entries()], [...one.entries()]);
    map.checkValid();
    // Both can be compared, and go on as maps do.
    assert.deepEqual(differences(map, one, isAlike), []);
    map.set('0500.5', -1);
    assert.deepEqual(differences(map, one, isAlike), ['0500.5']);
  }
});
