import assert from 'node:assert/strict';
import test from 'node:test';
import type { StoredObject } from '../../storage/store.js';
import { JoinedLists } from './list-body.js';

const LARGE_BYTES = 1_000_000;

test('a large list is joined for the fourth request of the same items in the same form, once', () => {
  const lists = new JoinedLists<Buffer>();
  const items: StoredObject[] = [];
  const [json, protobuf] = [{}, {}];
  const worth = (form: object): boolean => lists.isWorthJoining(items, form, LARGE_BYTES);
  assert.deepEqual(
    [1, 2, 3, 4, 5].map(() => worth(json)),
    [false, false, false, true, false],
  );
  assert.equal(worth(protobuf), false);
  assert.equal(lists.get(items, json), undefined);
  const joined = lists.keep(items, json, Buffer.from('all'));
  assert.deepEqual(
    [lists.get(items, json), lists.get(items, protobuf), lists.get([], json)],
    [joined, undefined, undefined],
  );
});

test('a small list is joined for the first request', () => {
  assert.equal(new JoinedLists<Buffer>().isWorthJoining([], {}, 100), true);
});
