import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { compacted, KvError, type KvEvent, type KvWatchReceiver } from '../kv.js';
import { type BeginWatch, SharedWatches, type WatchedKeys } from './shared-watches.js';

interface Begun {
  readonly keys: WatchedKeys;
  readonly receiver: KvWatchReceiver;
  isCancelled: boolean;
}

const put = (revision: number): KvEvent => ({
  type: 'put',
  key: '/events/a',
  revision,
  value: Buffer.from('v'),
  createRevision: revision,
  previous: undefined,
});

describe('shared watches', () => {
  let begun: Begun[];
  let compactedRevision: number;
  let watches: SharedWatches;

  beforeEach(() => {
    begun = [];
    compactedRevision = 0;
    const begin: BeginWatch = (keys, receiver) => {
      const started: Begun = { keys, receiver, isCancelled: false };
      begun.push(started);
      return { cancel: () => void (started.isCancelled = true) };
    };
    watches = new SharedWatches(begin, () => compactedRevision);
  });

  function watch(startRevision: number, { prefix = '/events/', previous = true } = {}) {
    const heard: string[] = [];
    const receiver: KvWatchReceiver = {
      events: (batch) => void heard.push(...batch.map(({ revision }) => `event ${revision}`)),
      progress: (revision) => void heard.push(`progress ${revision}`),
      failed: ({ code }) => void heard.push(code),
    };
    return { heard, ...watches.add({ prefix, startRevision, previous }, receiver) };
  }

  it('hand one event of etcd to all that watch the same', () => {
    const all = [watch(5), watch(5), watch(7)];
    assert.equal(begun.length, 1);
    void begun[0]?.receiver.events([put(8)]);
    for (const { heard } of all) assert.deepEqual(heard, ['event 8']);
  });

  it('hand nothing over from before a watch wants it', () => {
    const first = watch(5);
    const later = watch(8);
    void begun[0]?.receiver.events([put(6), put(8)]);
    assert.deepEqual(first.heard, ['event 6', 'event 8']);
    assert.deepEqual(later.heard, ['event 8']);
    const last = watch(20);
    void begun[0]?.receiver.events([put(9)]);
    begun[0]?.receiver.progress(18);
    assert.deepEqual(last.heard, []);
    begun[0]?.receiver.progress(19);
    assert.deepEqual(last.heard, ['progress 19']);
    assert.equal(begun.length, 1);
  });

  it('begin another for who wants what was handed over already, by events or by progress', () => {
    watch(5);
    void begun[0]?.receiver.events([put(6)]);
    const behind = watch(6);
    assert.deepEqual(begun[1]?.keys, { prefix: '/events/', startRevision: 6, previous: true });
    void begun[1]?.receiver.events([put(6)]);
    assert.deepEqual(behind.heard, ['event 6']);
    begun[0]?.receiver.progress(9);
    watch(9);
    assert.equal(begun.length, 3);
    watch(10);
    assert.equal(begun.length, 3);
  });

  it('are not shared by different prefixes, nor where only one wants previous versions', () => {
    watch(5);
    watch(5, { prefix: '/events/n/' });
    watch(5, { previous: false });
    assert.equal(begun.length, 3);
  });

  it('end with the last that watches, and then begin anew', () => {
    const first = watch(5);
    const second = watch(5);
    first.cancel();
    first.cancel();
    void begun[0]?.receiver.events([put(6)]);
    assert.deepEqual(first.heard, []);
    assert.deepEqual(second.heard, ['event 6']);
    assert.equal(begun[0]?.isCancelled, false);
    second.cancel();
    assert.equal(begun[0]?.isCancelled, true);
    watch(9);
    assert.equal(begun.length, 2);
  });

  it('take the next batch when every receiver has handled this one', async () => {
    const release: (() => void)[] = [];
    for (let i = 0; i < 2; i++) {
      watches.add(
        { prefix: '/events/', startRevision: 5, previous: true },
        {
          events: () => new Promise<void>((resolve) => release.push(resolve)),
          progress: () => undefined,
          failed: () => undefined,
        },
      );
    }
    let handled = false;
    const handling = Promise.resolve(begun[0]?.receiver.events([put(6)])).then(() => (handled = true));
    release[0]?.();
    await new Promise(setImmediate);
    assert.equal(handled, false);
    release[1]?.();
    await handling;
  });

  it('leave it to etcd to refuse a watch from before the oldest revision that it has', () => {
    watch(5);
    compactedRevision = 40;
    watch(39);
    assert.equal(begun[1]?.keys.startRevision, 39);
    watch(40);
    assert.equal(begun.length, 2);
  });

  it('go on for who does not need what was compacted', () => {
    const first = watch(5);
    const later = watch(50);
    begun[0]?.receiver.failed(compacted(5, 40));
    assert.deepEqual(first.heard, ['compacted']);
    assert.equal(begun[1]?.keys.startRevision, 50);
    void begun[1]?.receiver.events([put(50)]);
    assert.deepEqual(later.heard, ['event 50']);
    later.cancel();
    assert.equal(begun[1]?.isCancelled, true);
  });

  it('fail for all where etcd refuses the watch, and then begin anew', () => {
    const all = [watch(5), watch(6)];
    begun[0]?.receiver.failed(new KvError('denied', 'permission denied'));
    for (const { heard } of all) assert.deepEqual(heard, ['denied']);
    watch(7);
    assert.equal(begun.length, 2);
  });
});
