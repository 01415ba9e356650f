import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '../../lib/testing/manual-clock.js';
import { compacted, type KvEvent, type KvWatchReceiver } from '../kv.js';
import { EtcdHistory } from './changes.js';

interface Begun {
  readonly startRevision: number;
  readonly receiver: KvWatchReceiver;
  isCancelled: boolean;
}

function historyOn() {
  const clock = new ManualClock();
  const begun: Begun[] = [];
  const asked = { progress: 0 };
  const history = new EtcdHistory({
    watch({ startRevision }, receiver) {
      const watch: Begun = { startRevision, receiver, isCancelled: false };
      begun.push(watch);
      return { cancel: () => (watch.isCancelled = true), requestProgress: () => asked.progress++ };
    },
    clock,
  });
  return { history, begun, asked, clock };
}

const event = (revision: number, bytes = 1): KvEvent => ({
  type: 'put',
  key: `/a/${revision}`,
  revision,
  value: Buffer.alloc(bytes),
  createRevision: revision,
  previous: undefined,
});

const range = { prefix: '/a/', startRevision: 10, endRevision: 20, maxBytes: 1000 };
const revisions = (events: readonly KvEvent[]): number[] => events.map(({ revision }) => revision);

describe('history of etcd', () => {
  it('is whole when progress reaches the last revision, which is asked for until it comes', async () => {
    const { history, begun, asked, clock } = historyOn();
    const page = history.changes(range);
    begun[0]?.receiver.progress(15);
    await clock.move(50);
    assert.equal(asked.progress, 1);
    begun[0]?.receiver.progress(25);
    assert.deepEqual(await page, { events: [], upTo: 20 });
    assert.equal(begun[0]?.isCancelled, true);
    await clock.move(500);
    assert.equal(asked.progress, 1);
  });

  it('is handed out by pages of whole revisions, and what one answer has is not asked for again', async () => {
    const { history, begun } = historyOn();
    const first = history.changes({ ...range, maxBytes: 5 });
    void begun[0]?.receiver.events([event(11, 4), event(13, 2), event(13, 2), event(14), event(20), event(23)]);
    const page = await first;
    assert.deepEqual([revisions(page.events), page.upTo], [[11, 13, 13], 13]);
    const second = await history.changes({ ...range, startRevision: 14 });
    assert.deepEqual([revisions(second.events), second.upTo], [[14, 20], 20]);
    const third = await history.changes({ ...range, startRevision: 21, endRevision: 40 });
    assert.deepEqual([revisions(third.events), third.upTo], [[23], 23]);
    assert.equal(begun.length, 1);
  });

  it('keeps what no page took for a while only', async () => {
    const { history, begun, clock } = historyOn();
    const first = history.changes({ ...range, maxBytes: 0 });
    void begun[0]?.receiver.events([event(11), event(12)]);
    assert.deepEqual(revisions((await first).events), [11]);
    await clock.move(10_000);
    void history.changes({ ...range, startRevision: 12 });
    assert.equal(begun[1]?.startRevision, 12);
  });

  it('fails where etcd has compacted it, and stops when nobody waits', async () => {
    const { history, begun, asked, clock } = historyOn();
    const gone = history.changes(range);
    begun[0]?.receiver.failed(compacted(10, 15));
    await assert.rejects(gone, { code: 'compacted' });
    const torn = history.changes(range);
    void begun[1]?.receiver.events([{ ...event(10), createRevision: 3 }]);
    await assert.rejects(torn, { code: 'compacted' });
    const left = new AbortController();
    const page = history.changes({ ...range, signal: left.signal });
    left.abort(new Error('left'));
    await assert.rejects(page, /left/);
    assert.equal(begun[2]?.isCancelled, true);
    const before = asked.progress;
    await clock.move(500);
    assert.equal(asked.progress, before);
  });

  it('fails where a member says nothing', async () => {
    const { history, begun, clock } = historyOn();
    const page = assert.rejects(history.changes(range), { code: 'unavailable' });
    await clock.move(10_000);
    await page;
    assert.equal(begun[0]?.isCancelled, true);
  });
});
