import assert from 'node:assert/strict';
import test from 'node:test';
import { sortItems, sortTexts } from './sort-few.js';

test('few and many are sorted as the engine sorts them, and equal ones stay in their order', () => {
  for (let count = 0; count < 40; count++) {
    const texts = Array.from(
      { length: count },
      (_, at) => `${(at * 7919) % 13}${['', 'é', '\u{1f600}', '\uffff'][at % 4]}`,
    );
    assert.deepEqual(sortTexts([...texts]), texts.toSorted());
    const items = texts.map((text, at) => ({ length: text.length, at }));
    const byLength = (left: { length: number }, right: { length: number }): number => left.length - right.length;
    assert.deepEqual(sortItems([...items], byLength), items.toSorted(byLength));
  }
});
