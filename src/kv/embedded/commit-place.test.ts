import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CommitPlace } from './commit-place.js';

/** An event loop, and commits of one duration on it: this thread works for others in a part of the time, and a while after each. */
function loop() {
  const times = { active: 0 };
  const place = new CommitPlace(() => ({ ...times }));
  /** Whether each of them ran on this thread. */
  const commits = (count: number, { commitMs, others = 0, workMs = 0 }: Load): boolean[] =>
    Array.from({ length: count }, () => {
      const here = place.begins();
      times.active += here ? commitMs : ROUND_TRIP_MS + others * commitMs;
      place.ended(commitMs, here);
      times.active += workMs;
      return here;
    });
  return { commits };
}

interface Load {
  readonly commitMs: number;
  /** The part of the time in which this thread works for others. */
  readonly others?: number;
  /** What follows each commit, and waits for it. */
  readonly workMs?: number;
}

const ROUND_TRIP_MS = 0.1;
const part = (here: boolean, commits: readonly boolean[]): number =>
  commits.filter((one) => one === here).length / commits.length;
const isMostly = (here: boolean, commits: readonly boolean[]): boolean => part(here, commits) > 0.9;

it('commits of a lone writer run on this thread, however much of the time its requests take', () => {
  assert.ok(isMostly(true, loop().commits(2_000, { commitMs: 0.3, workMs: 0.25 })));
  assert.ok(isMostly(true, loop().commits(2_000, { commitMs: 0.8, workMs: 0.6 })));
  assert.ok(isMostly(true, loop().commits(500, { commitMs: 1.2, workMs: 5 })));
});

it('commits run elsewhere while the thread works for others, and here again when it does not', () => {
  const { commits } = loop();
  const busy = { commitMs: 1.2, others: 0.4 };
  commits(50, busy);
  assert.equal(part(false, commits(2_000, busy)), 1);
  commits(30, { commitMs: 0.4, others: 0.1 });
  assert.ok(isMostly(true, commits(200, { commitMs: 0.4, others: 0.1 })));
});

it('commits on a slow disk run elsewhere, and here again once the disk is quick', () => {
  const { commits } = loop();
  commits(20, { commitMs: 9 });
  assert.equal(part(false, commits(100, { commitMs: 9 })), 1);
  commits(30, { commitMs: 0.3 });
  assert.ok(isMostly(true, commits(100, { commitMs: 0.3 })));
});
