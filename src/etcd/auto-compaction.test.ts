import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { EmbeddedStore } from '../kv/embedded/embedded.js';
import { ManualClock } from '../lib/testing/manual-clock.js';
import { type Retention, startAutoCompaction } from './auto-compaction.js';

const MINUTE_MS = 60_000;

/** A store that a test writes to by counting. */
function compacting(retention: Retention) {
  const clock = new ManualClock();
  const logged: string[] = [];
  const mvcc = { revision: 1, compacted: 0 };
  const faults: Error[] = [];
  const compact = async (revision: number): Promise<void> => {
    const fault = faults.shift();
    if (fault !== undefined) throw fault;
    mvcc.compacted = revision;
  };
  const store = { mvcc, compact } as unknown as EmbeddedStore;
  const stop = startAutoCompaction({ store, retention, clock, log: (message) => logged.push(message) });
  return { clock, mvcc, logged, faults, stop };
}

it('keeps so many revisions', async () => {
  const { clock, mvcc, logged } = compacting({ keepRevisions: 100 });
  mvcc.revision = 90;
  await clock.move(5 * MINUTE_MS);
  assert.equal(mvcc.compacted, 0);
  mvcc.revision = 250;
  await clock.move(4 * MINUTE_MS);
  assert.equal(mvcc.compacted, 0);
  await clock.move(MINUTE_MS);
  assert.equal(mvcc.compacted, 150);
  await clock.move(60 * MINUTE_MS);
  assert.deepEqual(logged, ['compacted up to revision 150']);
});

it('keeps what is younger than a time, looking ten times within it', async () => {
  const { clock, mvcc } = compacting({ keepMs: 10 * MINUTE_MS });
  for (let minute = 1; minute <= 10; minute++) {
    mvcc.revision = 100 * minute;
    await clock.move(MINUTE_MS);
  }
  assert.equal(mvcc.compacted, 0);
  await clock.move(MINUTE_MS);
  assert.equal(mvcc.compacted, 100);
  await clock.move(5 * MINUTE_MS);
  assert.equal(mvcc.compacted, 600);
});

it('goes on after a compaction that failed, and not once it is stopped', async () => {
  const { clock, mvcc, logged, faults, stop } = compacting({ keepRevisions: 10 });
  faults.push(new Error('no'));
  mvcc.revision = 50;
  await clock.move(5 * MINUTE_MS);
  assert.deepEqual(logged, ['compaction failed: Error: no']);
  await clock.move(5 * MINUTE_MS);
  assert.equal(mvcc.compacted, 40);
  stop();
  mvcc.revision = 500;
  await clock.move(60 * MINUTE_MS);
  assert.equal(mvcc.compacted, 40);
});
