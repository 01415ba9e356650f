import assert from 'node:assert/strict';
import { it } from 'node:test';
import { KvError, type KvEvent, type KvWatchReceiver } from './kv.js';
import { openMemoryStore } from './memory.js';
import { WatchHub } from './watch-hub.js';

const bytes = (text: string): Buffer => Buffer.from(text);

function recorder(onEvent: (event: KvEvent) => void = () => undefined): {
  readonly seen: string[];
  readonly receiver: KvWatchReceiver;
} {
  const seen: string[] = [];
  return {
    seen,
    receiver: {
      events(batch) {
        for (const event of batch) {
          seen.push(`${event.revision} ${event.key}`);
          onEvent(event);
        }
      },
      progress: (revision) => void seen.push(`progress ${revision}`),
      failed: assert.fail,
    },
  };
}

it('hands events over in revision order where a receiver writes in the middle of a batch', async () => {
  const kv = openMemoryStore();
  const empty = kv.snapshot();
  for (const key of ['/a', '/b']) await kv.create(key, bytes('1'));
  const before = recorder();
  const writer = recorder(({ type, key }) => {
    if (type === 'delete') void kv.create(`${key}/again`, bytes('1'));
  });
  const after = recorder();
  for (const { receiver } of [before, writer, after]) kv.watch({ prefix: '/' }, receiver);
  await kv.restore(empty);
  const expected = ['4 /a', '5 /b', '6 /a/again', '7 /b/again'];
  for (const { seen } of [before, writer, after]) assert.deepEqual(seen.slice(0, expected.length), expected);
});

it('confirms progress after the events that it covers', async () => {
  const kv = openMemoryStore();
  const writer = recorder(({ key }) => {
    if (key !== '/a') return;
    void kv.create('/b', bytes('1'));
    kv.requestProgress();
  });
  const after = recorder();
  for (const { receiver } of [writer, after]) kv.watch({ prefix: '/' }, receiver);
  await kv.create('/a', bytes('1'));
  assert.deepEqual(after.seen, ['2 /a', '3 /b', 'progress 3']);
});

it('gives a watch that a receiver begins each event once', async () => {
  const kv = openMemoryStore();
  const late = recorder();
  const past = recorder();
  const writer = recorder(({ key }) => {
    if (key !== '/a') return;
    void kv.create('/b', bytes('1'));
    kv.watch({ prefix: '/' }, late.receiver);
    kv.watch({ prefix: '/', startRevision: 2 }, past.receiver);
  });
  kv.watch({ prefix: '/' }, writer.receiver);
  await kv.create('/a', bytes('1'));
  await kv.create('/c', bytes('1'));
  assert.deepEqual(late.seen, ['4 /c']);
  assert.deepEqual(past.seen, ['2 /a', '3 /b', '4 /c']);
});

it('gives a receiver that writes when it hears of the past what it wrote', async () => {
  const kv = openMemoryStore();
  await kv.create('/a', bytes('1'));
  const writer = recorder(({ key }) => void (key === '/a' && kv.create('/b', bytes('1'))));
  kv.watch({ prefix: '/', startRevision: 2 }, writer.receiver);
  await kv.create('/c', bytes('1'));
  assert.deepEqual(writer.seen, ['2 /a', '3 /b', '4 /c']);
});

it('goes on after a receiver that throws', () => {
  const hub = new WatchHub();
  const failures: KvError[] = [];
  const thrower: KvWatchReceiver = {
    events() {
      throw new Error('no');
    },
    progress: () => undefined,
    failed: (error) => void failures.push(error),
  };
  const after = recorder();
  for (const receiver of [thrower, after.receiver]) hub.add({ prefix: '/' }, receiver);
  const put = (revision: number): KvEvent => ({
    type: 'put',
    key: '/a',
    revision,
    value: bytes('1'),
    createRevision: 2,
    previous: undefined,
  });
  hub.dispatch([put(2)]);
  hub.dispatch([put(3)]);
  assert.deepEqual(after.seen, ['2 /a', '3 /a']);
  assert.equal(failures.length, 2);
});
