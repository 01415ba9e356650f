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
  const turns = new KeyedQueue(timers);
  for (const key of ['a', 'b', 'a']) {
    const turn = turns.acquire(key);
    assert.ok(!(turn instanceof Promise));
    turns.release(turn);
  }
  assert.equal(timers.due.length, 0);
});

test('others come one by one, in the order they came', async () => {
  const timers = new Timers();
  const turns = new KeyedQueue(timers);
  const first = turns.acquire('a') as Hold;
  const order: number[] = [];
  const others = [1, 2, 3].map(async (number) => {
    const hold = await turns.acquire('a');
    order.push(number);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(order.at(-1), number, 'nobody came while this one was at it');
    turns.release(hold);
  });
  assert.deepEqual(order, []);
  turns.release(first);
  await Promise.all(others);
  assert.deepEqual(order, [1, 2, 3]);
  assert.equal(timers.due.length, 0);
  assert.ok(!(turns.acquire('a') instanceof Promise));
});

test('one that takes too long holds nobody up, and cannot end the turn of another', async () => {
  const timers = new Timers();
  const turns = new KeyedQueue(timers);
  const slow = turns.acquire('a') as Hold;
  const waiting = turns.acquire('a');
  assert.equal(timers.due.length, 1);
  timers.due.shift()?.();
  const second = await waiting;
  turns.release(slow);
  assert.ok(turns.acquire('a') instanceof Promise, 'the second is still at it');
  turns.release(second);
});

test('one that is dear is waited for longer, but not for ever', async () => {
  const timers = new Timers();
  const turns = new KeyedQueue(timers);
  const writing = turns.acquire('a') as Hold;
  const second = turns.acquire('a');
  let came = false;
  void Promise.resolve(second).then(() => (came = true));
  writing.extended = true;
  timers.due.shift()?.();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(came, false);
  assert.equal(timers.due.length, 1);
  timers.due.shift()?.();
  turns.release(await second);
  assert.ok(!(turns.acquire('a') instanceof Promise));
});

test('who was overtaken comes next, and before those who have not begun', async () => {
  const timers = new Timers();
  const turns = new KeyedQueue(timers);
  const slow = turns.acquire('a') as Hold;
  assert.equal(await turns.reacquire(slow), slow, 'it was not overtaken');
  const second = turns.acquire('a');
  const order: string[] = [];
  const third = Promise.resolve(turns.acquire('a')).then((hold) => {
    order.push('third');
    turns.release(hold);
  });
  timers.due.shift()?.();
  const again = turns.reacquire(slow).then((hold) => {
    order.push('slow');
    turns.release(hold);
  });
  turns.release(await second);
  await Promise.all([third, again]);
  assert.deepEqual(order, ['slow', 'third']);
  // Nobody is at it any more.
  turns.release(await turns.reacquire(slow));
  assert.ok(!(turns.acquire('a') instanceof Promise));
});
