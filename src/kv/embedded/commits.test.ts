import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ManualClock } from '../../lib/testing/manual-clock.js';
import { KvError } from '../kv.js';
import { Commits } from './commits.js';
import type { Leases } from './leases.js';
import type { Tables } from './engine.js';
import type { Room } from './room.js';
import { PartialCommit } from './sliced-commit.js';
import { NO_TOTALS } from './state.js';
import { TableWrites } from './table-writes.js';
import { writeKey } from './write-key.js';

/** An engine whose commits end as the test says. */
function commitsOn(outcome: () => unknown) {
  let begun = 0;
  const transact = (): void => {
    begun++;
    const error = outcome();
    if (error !== undefined) throw error;
  };
  const tables = {
    env: { resetReadTxn: () => undefined, transactionSync: transact, batch: transact },
    current: { get: () => undefined },
    unchecked: { current: false, logUntil: 0 },
  } as unknown as Tables;
  const commits = new Commits({
    tables,
    writes: new TableWrites(tables),
    openBeside: () => assert.fail('few changes are written at once'),
    folder: '/data',
    clock: new ManualClock(),
    room: { take: () => true, allocate: () => true, isFull: false } as unknown as Room,
    leases: { apply: () => undefined } as unknown as Leases,
    dropHistory: () => undefined,
    revision: 1,
    totals: NO_TOTALS,
    dispatch: { dispatch: () => undefined, *collectSteps() {}, deliver: () => undefined },
    readFailure: (error) => new KvError('damaged', String(error)),
  });
  const create = (key: string) =>
    commits.transact(writeKey({ key, expected: 0, value: Buffer.from('x'), ttlSeconds: 0 }));
  return { commits, create, begun: () => begun };
}

const unavailable = (why: string) => ({ code: 'unavailable', message: `cannot write to /data: ${why}` });

it('nothing is written any more once the system refused a write of the engine', async () => {
  let error: unknown = Object.assign(new Error('Input/output error'), { code: 5 });
  const { commits, create, begun } = commitsOn(() => error);
  await assert.rejects(create('/a'), unavailable('Input/output error'));
  error = undefined;
  await assert.rejects(create('/b'), unavailable('Input/output error'));
  assert.equal(begun(), 1);
  assert.equal(commits.failure?.code, 'unavailable');
});

it('nothing is written any more once a commit is not whole', async () => {
  let error: unknown = new PartialCommit('a commit is not whole');
  const { create, begun } = commitsOn(() => error);
  await assert.rejects(create('/a'), unavailable('a commit is not whole'));
  error = undefined;
  await assert.rejects(create('/b'), unavailable('a commit is not whole'));
  assert.equal(begun(), 1);
});

it('a commit that failed otherwise is followed by others', async () => {
  let error: unknown = Object.assign(new Error('MDB_BAD_TXN: no'), { code: -30782 });
  const { commits, create } = commitsOn(() => error);
  await assert.rejects(create('/a'), unavailable('no'));
  error = undefined;
  assert.equal((await create('/b')).result.done, true);
  assert.equal(commits.failure, undefined);
});
