import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BufferedBackend, type BufferedOptions } from './buffered.js';
import { PlainQueue } from './event-queue.js';
import { lossesOf, testBackend, TestClock, testEvent } from './testing.js';

const HOUR_MS = 3_600_000;

function buffered(over: Partial<BufferedOptions>) {
  const backend = testBackend();
  const clock = new TestClock();
  const { losses, onLost } = lossesOf();
  const options: BufferedOptions = {
    bufferSize: 100,
    maxBatchSize: 3,
    maxBatchWaitMs: 1000,
    parallel: true,
    joinable: false,
    ...over,
  };
  const buffer = new BufferedBackend(new PlainQueue(backend), options, clock, onLost);
  const put = (...ids: string[]): void => ids.forEach((id) => assert.equal(buffer.process([testEvent(id)]), true));
  return { backend, clock, losses, buffer, put };
}

test('a batch goes when it is full, or when it has waited long enough', () => {
  const { backend, clock, put } = buffered({});
  put('a', 'b');
  assert.deepEqual(backend.batches, []);
  put('c', 'd');
  assert.deepEqual(backend.batches, [['a', 'b', 'c']]);
  clock.tick(999);
  assert.equal(backend.batches.length, 1);
  clock.tick(1);
  assert.deepEqual(backend.batches[1], ['d']);
});

test('a full buffer loses what comes, and the request goes on', async () => {
  const { backend, clock, losses, put, buffer } = buffered({
    bufferSize: 2,
    maxBatchSize: 1,
    throttle: { perSecond: 0.01, burst: 1 },
  });
  // One is handed on, one is held by the throttle, two wait.
  put('a', 'b', 'c', 'd', 'e', 'f');
  assert.deepEqual(backend.batches, [['a']]);
  assert.deepEqual(losses, ['buffered: e', 'buffered: f']);
  clock.tick(100_000);
  assert.deepEqual(backend.batches, [['a'], ['b']]);
  await buffer.close();
  assert.deepEqual(backend.batches.flat(), ['a', 'b', 'c', 'd']);
});

test('one batch at a time, where the back end accepts no more', async () => {
  const { backend, put, buffer } = buffered({ maxBatchSize: 1, parallel: false });
  backend.hold = true;
  put('a', 'b');
  assert.deepEqual(backend.batches, [['a']]);
  backend.hold = false;
  backend.goOn();
  await new Promise(setImmediate);
  assert.deepEqual(backend.batches, [['a'], ['b']]);
  await buffer.close();
});

test('batches whose ends cannot be seen go together, after a moment, and only whole ones', async () => {
  const { backend, clock, put, buffer } = buffered({ joinable: true, parallel: false, maxBatchWaitMs: HOUR_MS });
  put('a', 'b', 'c', 'd', 'e', 'f', 'g');
  assert.deepEqual(backend.batches, []);
  clock.tick(10);
  assert.deepEqual(backend.batches, [['a', 'b', 'c', 'd', 'e', 'f']]);
  clock.tick(1000);
  assert.equal(backend.batches.length, 1);
  await buffer.close();
  assert.deepEqual(backend.batches[1], ['g']);
});

test('closing waits for what is under way, and accepts nothing more', async () => {
  const { backend, losses, put, buffer } = buffered({ maxBatchSize: 2 });
  backend.hold = true;
  put('a', 'b', 'c');
  let closed = false;
  const closing = buffer.close().then(() => (closed = true));
  await new Promise(setImmediate);
  assert.deepEqual([backend.batches, closed], [[['a', 'b'], ['c']], false]);
  put('late');
  assert.deepEqual(losses, ['buffered: late']);
  backend.goOn();
  await closing;
});
