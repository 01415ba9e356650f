import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exposedCollector } from '../lib/scheduling/collector.js';
import type { Entry } from './entry.js';
import { Change, History } from './history.js';

const change = (revision: number, atMs: number, size = 0): Change =>
  new Change({
    key: 'a',
    revision,
    entry: undefined,
    previous: size === 0 ? undefined : ({ size } as Entry),
    atMs,
  });

test('changes are kept while they are fresh and together not too large, and a hundred in any case', () => {
  const history = new History(0, 1_000_000);
  for (let i = 1; i <= 500; i++) history.push(change(i, i));
  assert.equal(history.floor, 0);
  for (let i = 501; i <= 600; i++) history.push(change(i, i, 10_000));
  assert.equal(history.floor, 500, 'a hundred of them are too large, and stay');
  history.push(change(601, 601, 10_000));
  assert.equal(history.floor, 501);
  assert.equal(history.after(590).length, 11);
});

test('changes expire also when nothing happens, and `trim` returns when to trim again', () => {
  const history = new History(0);
  for (let i = 1; i <= 300; i++) history.push(change(i, 1_000 * i));
  assert.equal(history.floor, 200, 'only the last 75 are fresh');
  assert.equal(history.trim(300_000), undefined);
  const long = new History(0);
  for (let i = 1; i <= 300; i++) long.push(change(i, i));
  assert.equal(long.trim(75_000), 75_000);
  assert.equal(long.floor, 0);
  assert.equal(long.trim(76_000), undefined);
  assert.equal(long.floor, 200);
});

test('changes expire also when the clock was set back', () => {
  const history = new History(0);
  for (let i = 1; i <= 300; i++) history.push(change(i, 10_000_000 + i));
  history.push(change(301, 1_000));
  assert.equal(history.floor, 201);
});

test('some after a revision are as many as are sent at once', () => {
  const history = new History(0);
  for (let i = 1; i <= 300; i++)
    history.push(new Change({ key: 'a', revision: i, entry: { size: 1_000 } as Entry, previous: undefined, atMs: i }));
  const revisions = (maxChanges: number, maxBytes: number): number[] =>
    history.someAfter(290, maxChanges, maxBytes).map(({ revision }) => revision);
  assert.deepEqual(revisions(3, 10_000), [291, 292, 293]);
  assert.deepEqual(revisions(300, 1_500), [291, 292], 'the one that exceeds it is the last');
  assert.equal(revisions(300, 100_000).length, 10);
  assert.deepEqual([history.newest, new History(7).newest], [300, 7]);
});

test('what was dropped is released at once', async () => {
  const history = new History(0, 1_000_000);
  const first = new WeakRef(change(1, 1, 10_000));
  history.push(first.deref() as Change);
  for (let i = 2; i <= 150; i++) history.push(change(i, i, 10_000));
  assert.equal(history.floor, 50);
  // A WeakRef that is made or read in an event-loop turn keeps its target alive until the turn ends.
  await new Promise((resolve) => setImmediate(resolve));
  exposedCollector()();
  assert.equal(first.deref(), undefined);
});
