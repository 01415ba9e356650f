import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Hold, KeyedQueue } from './keyed-queue.js';

class Timers {
  readonly due: (() => void)[] = [];
  now = (): number => 0;
  after = (_ms: number, callback: () => void): (() => void) => {
    this.due.push(callback);
    return () => void this.due.splice(this.due.indexOf(callback), 1);
  };
}

test('an object that nobody else updates is updated at once, without a timer', () => {
  const timers = new Timers();
  const queue = new KeyedQueue(timers);
  for (const key of ['a', 'b', 'a']) {
    const hold = queue.acquire(key);
    assert.ok(!(hold instanceof Promise));
    queue.release(hold);
  }
  assert.equal(timers.due.length, 0);
});

test('others come one by one, in the order they came', async () => {
  const timers = new Timers();
  const queue = new KeyedQueue(timers);
  const first = queue.acquire('a') as Hold;
  const order: number[] = [];
  const others = [1, 2, 3].map(async (number) => {
    const hold = await queue.acquire('a');
    order.push(number);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(order.at(-1), number, 'nobody came while this one was at it');
    queue.release(hold);
  });
  assert.deepEqual(order, []);
  queue.release(first);
  await Promise.all(others);
  assert.deepEqual(order, [1, 2, 3]);
  assert.equal(timers.due.length, 0);
  assert.ok(!(queue.acquire('a') instanceof Promise));
});

test('a holder that is too slow is passed over, and cannot release the hold of another', async () => {
  const timers = new Timers();
  const queue = new KeyedQueue(timers);
  const slow = queue.acquire('a') as Hold;
  const waiting = queue.acquire('a');
  assert.equal(timers.due.length, 1);
  timers.due.shift()?.();
  const second = await waiting;
  queue.release(slow);
  assert.ok(queue.acquire('a') instanceof Promise, 'the second is still at it');
  queue.release(second);
});

test('a holder with an extended hold is waited for longer, but not for ever', async () => {
  const timers = new Timers();
  const queue = new KeyedQueue(timers);
  const writing = queue.acquire('a') as Hold;
  const second = queue.acquire('a');
  let came = false;
  void Promise.resolve(second).then(() => (came = true));
  writing.extended = true;
  timers.due.shift()?.();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(came, false);
  assert.equal(timers.due.length, 1);
  timers.due.shift()?.();
  queue.release(await second);
  assert.ok(!(queue.acquire('a') instanceof Promise));
});

test('who was overtaken comes next, and before those who have not begun', async () => {
  const timers = new Timers();
  const queue = new KeyedQueue(timers);
  const slow = queue.acquire('a') as Hold;
  assert.equal(await queue.reacquire(slow), slow, 'it was not overtaken');
  const second = queue.acquire('a');
  const order: string[] = [];
  const third = Promise.resolve(queue.acquire('a')).then((hold) => {
    order.push('third');
    queue.release(hold);
  });
  timers.due.shift()?.();
  const again = queue.reacquire(slow).then((hold) => {
    order.push('slow');
    queue.release(hold);
  });
  queue.release(await second);
  await Promise.all([third, again]);
  assert.deepEqual(order, ['slow', 'third']);
  // Nobody is at it any more.
  queue.release(await queue.reacquire(slow));
  assert.ok(!(queue.acquire('a') instanceof Promise));
});
