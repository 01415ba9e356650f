import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../lib/async/clock.js';
import { OrderedMap } from '../lib/values/ordered-map.js';
import type { Entry } from './entry.js';
import { Change, History } from './history.js';
import { Snapshots, type State } from './snapshots.js';

const entry = (key: string, revision: number): Entry => ({ key, revision, size: 1 }) as Entry;
const stateOf = (...entries: Entry[]): State => new OrderedMap(entries.map((one): [string, Entry] => [one.key, one]));

/** A clock whose timers are called when time has passed them. */
function movedClock(): { clock: Clock; pass: (ms: number) => void; waiting: () => number } {
  let now = 0;
  let timers: { readonly atMs: number; readonly callback: () => void }[] = [];
  const clock: Clock = {
    now: () => now,
    after(ms, callback) {
      const timer = { atMs: now + ms, callback };
      timers.push(timer);
      return () => (timers = timers.filter((other) => other !== timer));
    },
  };
  const pass = (ms: number): void => {
    const end = now + ms;
    for (;;) {
      const next = timers.filter(({ atMs }) => atMs <= end).sort((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) break;
      timers = timers.filter((other) => other !== next);
      now = next.atMs;
      next.callback();
    }
    now = end;
  };
  return { clock, pass, waiting: () => timers.length };
}

const pairs = (state: State | undefined): [string, Entry][] => state?.toArray() ?? [];

/** A history that begins at revision 100: any earlier state in an answer was kept. */
const nothingBefore = new History(100);

test('a kept state stays as it was while the current one moves on', () => {
  const snapshots = new Snapshots(movedClock().clock);
  const current = stateOf(entry('a', 1), entry('b', 2));
  snapshots.keep(2, current);
  current.delete('a');
  assert.deepEqual(
    pairs(snapshots.at(2, current, nothingBefore)).map(([key]) => key),
    ['a', 'b'],
  );
  assert.equal(snapshots.at(3, current, nothingBefore), undefined);
});

test('a state within the history is made by undoing what happened since', () => {
  const snapshots = new Snapshots(movedClock().clock);
  const history = new History(1);
  const [old, young] = [entry('a', 1), entry('a', 2)];
  history.push(new Change({ key: 'a', revision: 2, entry: young, previous: old, atMs: 0 }));
  history.push(new Change({ key: 'b', revision: 3, entry: entry('b', 3), previous: undefined, atMs: 0 }));
  const before = snapshots.at(1, stateOf(young, entry('b', 3)), history);
  assert.deepEqual(pairs(before), [['a', old]]);
});

test('a kept state expires after five minutes, also without reads', () => {
  const { clock, pass, waiting } = movedClock();
  const snapshots = new Snapshots(clock);
  snapshots.keep(1, stateOf(entry('a', 1)));
  pass(200_000);
  snapshots.keep(2, stateOf(entry('a', 2)));
  pass(99_999);
  assert.ok(snapshots.at(1, stateOf(), nothingBefore));
  pass(60_001);
  assert.equal(snapshots.at(1, stateOf(), nothingBefore), undefined);
  assert.ok(snapshots.at(2, stateOf(), nothingBefore), 'each in its own time');
  pass(240_000);
  assert.equal(snapshots.at(2, stateOf(), nothingBefore), undefined);
  assert.equal(waiting(), 0, 'nothing is waited for when nothing is kept');
});

test('of more than a hundred those that were used last stay', () => {
  const snapshots = new Snapshots(movedClock().clock);
  for (let revision = 1; revision <= 100; revision++) snapshots.keep(revision, stateOf());
  snapshots.at(1, stateOf(), nothingBefore);
  // Over 100 now: the one unused for longest goes.
  snapshots.keep(0, stateOf());
  assert.ok(snapshots.at(1, stateOf(), nothingBefore));
  assert.equal(snapshots.at(2, stateOf(), nothingBefore), undefined);
});

test('kept states go, the oldest first, once what was replaced since then is too much', () => {
  const snapshots = new Snapshots(movedClock().clock, 1_000);
  snapshots.keep(1, stateOf(entry('a', 1)));
  snapshots.replaced(600);
  snapshots.keep(2, stateOf(entry('a', 2)));
  snapshots.replaced(400);
  assert.ok(snapshots.at(1, stateOf(), nothingBefore));
  snapshots.replaced(1);
  assert.equal(snapshots.at(1, stateOf(), nothingBefore), undefined);
  assert.ok(snapshots.at(2, stateOf(), nothingBefore));
  snapshots.replaced(600);
  assert.equal(snapshots.at(2, stateOf(), nothingBefore), undefined);
});

test('a state that was made by undoing counts what was replaced since it', () => {
  const snapshots = new Snapshots(movedClock().clock, 1_000);
  const history = new History(1);
  const old = { key: 'a', revision: 1, size: 900 } as Entry;
  history.push(new Change({ key: 'a', revision: 2, entry: entry('a', 2), previous: old, atMs: 0 }));
  snapshots.replaced(900);
  snapshots.at(1, stateOf(entry('a', 2)), history);
  snapshots.replaced(101);
  assert.equal(snapshots.at(1, stateOf(), nothingBefore), undefined);
});
