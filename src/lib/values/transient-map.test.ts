import assert from 'node:assert/strict';
import { it } from 'node:test';
import v8 from 'node:v8';
import { exposedCollector } from '../scheduling/collector.js';
import { TransientMap } from './transient-map.js';

it('holds what came and has not left', () => {
  const map = new TransientMap<string, number>();
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  assert.equal(map.size, 2);
  assert.equal(map.get('a'), 3);
  assert.equal(map.delete('a'), true);
  assert.equal(map.delete('a'), false);
  assert.equal(map.has('a'), false);
  assert.equal(map.get('a'), undefined);
  assert.equal(map.get('b'), 2);
  map.clear();
  assert.equal(map.size, 0);
  map.set('c', 4);
  assert.deepEqual([...map.values()], [4]);
});

it('gives the values in the order in which their keys came, whatever places they reuse', () => {
  const map = new TransientMap<number, string>();
  for (let i = 0; i < 4; i++) map.set(i, `first ${i}`);
  map.delete(2);
  map.delete(0);
  map.set(7, 'seven');
  map.set(1, 'again');
  map.set(8, 'eight');
  map.set(9, 'nine');
  assert.deepEqual([...map.values()], ['again', 'first 3', 'seven', 'eight', 'nine']);
});

it('goes on with the values while some of them leave', () => {
  const map = new TransientMap<number, number>();
  for (let i = 0; i < 5; i++) map.set(i, i);
  const seen: number[] = [];
  for (const value of map.values()) {
    seen.push(value);
    map.delete(value);
    map.delete(value + 1);
  }
  assert.deepEqual(seen, [0, 2, 4]);
  assert.equal(map.size, 0);
});

it('lets what has left be collected with the young objects', () => {
  const NUMBERS = 500;
  const AT_ONCE = 8;
  const MANY = 20_000;
  const map = new TransientMap<number, number[]>();
  const come = (i: number): void => {
    map.set(
      i,
      Array.from({ length: NUMBERS }, (_, k) => k + 0.5),
    );
    map.delete(i - AT_ONCE);
  };
  for (let i = 0; i < AT_ONCE; i++) come(i);
  // From then on the map is old.
  const collect = exposedCollector();
  collect();
  collect();
  const before = oldBytes();
  for (let i = AT_ONCE; i < MANY; i++) come(i);
  // They are 80 MB, and a Map keeps a quarter of them.
  const kept = oldBytes() - before;
  assert.ok(kept < 5_000_000, `${kept} bytes`);
});

function oldBytes(): number {
  return v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? 0;
}
