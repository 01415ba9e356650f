import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CommitPlace } from './commit-place.js';

/** An event loop, and commits of one duration on it with so much other work and idle time between them. */
function loop() {
  const times = { active: 0, idle: 0 };
  const place = new CommitPlace(() => ({ ...times }));
  /** Whether each of them ran on this thread. */
  const commits = (count: number, { commitMs = 0, workMs = 0, idleMs = 0 }): boolean[] =>
    Array.from({ length: count }, () => {
      times.active += workMs;
      times.idle += idleMs;
      const here = place.isHere();
      times[here ? 'active' : 'idle'] += commitMs;
      place.took(commitMs, here);
      return here;
    });
  return { commits };
}

const all = (here: boolean, commits: readonly boolean[]): boolean => commits.every((one) => one === here);

it('commits of a lone writer run on this thread', () => {
  assert.ok(all(true, loop().commits(2_000, { commitMs: 0.3, workMs: 0.25, idleMs: 0.3 })));
});

it('rare commits run on this thread, however much work follows each', () => {
  assert.ok(all(true, loop().commits(500, { commitMs: 1.2, workMs: 5, idleMs: 1_000 })));
});

it('commits run elsewhere while the thread works for others, and here again when it does not', () => {
  const { commits } = loop();
  const busy = { commitMs: 1.2, workMs: 3, idleMs: 5 };
  commits(50, busy);
  assert.ok(all(false, commits(2_000, busy)));
  commits(30, { commitMs: 0.4, workMs: 0.2, idleMs: 10 });
  assert.ok(all(true, commits(200, { commitMs: 0.4, workMs: 0.2, idleMs: 10 })));
});

it('commits on a slow disk run elsewhere, and here again once the disk is quick', () => {
  const { commits } = loop();
  commits(20, { commitMs: 9, idleMs: 20 });
  assert.ok(all(false, commits(100, { commitMs: 9, idleMs: 20 })));
  commits(30, { commitMs: 0.3, idleMs: 20 });
  assert.ok(all(true, commits(100, { commitMs: 0.3, idleMs: 20 })));
});
