import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KvWatchReceiver } from '../kv.js';
import type { MemberConnection } from './member.js';
import { EVENT_TYPE, NO_WATCH, WATCH_RESPONSE } from './messages/watch.js';
import { type RunningWatch, WatchStream } from './watch-stream.js';

/** A stream whose member's answers the test makes. */
function streamTo() {
  let take: (message: Buffer) => void | Promise<void> = () => undefined;
  const connection: MemberConnection = {
    peer: { address: 'member', port: 2379 },
    usable: true,
    onClose: () => undefined,
    close: () => undefined,
    call: () => Promise.reject(new Error('not played')),
    stream(_method, taking) {
      take = taking;
      return { send: () => true, close: () => undefined, onceDrained: () => undefined };
    },
  };
  const stream = new WatchStream(connection, {
    answered: () => undefined,
    failed: (watch, error) => watch.receiver.failed(error),
    lost: (_stream, error) => assert.fail(error),
  });
  const answer = (revision: number, watchId: number, values: object): void | Promise<void> =>
    take(WATCH_RESPONSE.encode({ header: { revision }, watchId, ...values }));
  return {
    stream,
    created: (watchId: number, revision: number) => answer(revision, watchId, { created: true }),
    progress: (revision: number) => answer(revision, NO_WATCH, {}),
    put: (watchId: number, revision: number) =>
      answer(revision, watchId, {
        events: [
          {
            type: EVENT_TYPE.put,
            kv: { key: Buffer.from('/a'), value: Buffer.from('v'), modRevision: revision, createRevision: revision },
          },
        ],
      }),
  };
}

function watchFrom(id: number, nextRevision: number): { watch: RunningWatch; heard: string[] } {
  const heard: string[] = [];
  const receiver: KvWatchReceiver = {
    events: (events) => void heard.push(...events.map(({ revision }) => `event ${revision}`)),
    progress: (revision) => void heard.push(`progress ${revision}`),
    failed: (error) => void heard.push(error.message),
  };
  return { watch: { id, prefix: '/', previous: false, receiver, nextRevision, busy: undefined }, heard };
}

describe('a stream of watches', () => {
  it('loses no event to an answer about progress that is older than the watch', async () => {
    const { stream, created, progress, put } = streamTo();
    stream.requestProgress();
    const { watch, heard } = watchFrom(1, 10);
    stream.add(watch);
    await created(1, 12);
    await progress(12);
    await put(1, 11);
    await put(1, 12);
    assert.deepEqual(heard, ['event 11', 'event 12']);
  });

  it('believes an answer that is newer than the watch', async () => {
    const { stream, created, progress } = streamTo();
    stream.requestProgress();
    const { watch, heard } = watchFrom(1, 10);
    stream.add(watch);
    await created(1, 12);
    await progress(13);
    assert.deepEqual(heard, ['progress 13']);
  });

  it('believes the first answer that cannot be to an older request', async () => {
    const { stream, created, progress } = streamTo();
    stream.requestProgress();
    stream.requestProgress();
    await progress(12);
    const { watch, heard } = watchFrom(1, 10);
    stream.add(watch);
    await created(1, 12);
    stream.requestProgress();
    await progress(12);
    assert.deepEqual(heard, []);
    await progress(12);
    assert.deepEqual(heard, ['progress 12']);
  });

  it('believes every answer where no request is older than the watch', async () => {
    const { stream, created, progress } = streamTo();
    const { watch, heard } = watchFrom(1, 10);
    stream.add(watch);
    stream.requestProgress();
    await created(1, 12);
    await progress(12);
    assert.deepEqual(heard, ['progress 12']);
  });

  it('says nothing of progress before the member has begun the watch', async () => {
    const { stream, created, progress } = streamTo();
    const { watch, heard } = watchFrom(1, 10);
    stream.add(watch);
    await progress(20);
    assert.deepEqual(heard, []);
    await created(1, 20);
    await progress(20);
    assert.deepEqual(heard, ['progress 20']);
  });
});
