import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Turn, UpdateTurns } from './update-turns.js';

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
  const turns = new UpdateTurns(timers);
  for (const key of ['a', 'b', 'a']) {
    const turn = turns.take(key);
    assert.ok(!(turn instanceof Promise));
    turns.end(turn);
  }
  assert.equal(timers.due.length, 0);
});

test('others come one by one, in the order they came', async () => {
  const timers = new Timers();
  const turns = new UpdateTurns(timers);
  const first = turns.take('a') as Turn;
  const order: number[] = [];
  const others = [1, 2, 3].map(async (number) => {
    const turn = await turns.take('a');
    order.push(number);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(order.at(-1), number, 'nobody came while this one was at it');
    turns.end(turn);
  });
  assert.deepEqual(order, []);
  turns.end(first);
  await Promise.all(others);
  assert.deepEqual(order, [1, 2, 3]);
  assert.equal(timers.due.length, 0);
  assert.ok(!(turns.take('a') instanceof Promise));
});

test('one that takes too long holds nobody up, and cannot end the turn of another', async () => {
  const timers = new Timers();
  const turns = new UpdateTurns(timers);
  const slow = turns.take('a') as Turn;
  const waiting = turns.take('a');
  assert.equal(timers.due.length, 1);
  timers.due.shift()?.();
  const second = await waiting;
  turns.end(slow);
  assert.ok(turns.take('a') instanceof Promise, 'the second is still at it');
  turns.end(second);
});

test('one that is dear is waited for longer, but not for ever', async () => {
  const timers = new Timers();
  const turns = new UpdateTurns(timers);
  const writing = turns.take('a') as Turn;
  const second = turns.take('a');
  let came = false;
  void Promise.resolve(second).then(() => (came = true));
  writing.isDear = true;
  timers.due.shift()?.();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(came, false);
  assert.equal(timers.due.length, 1);
  timers.due.shift()?.();
  turns.end(await second);
  assert.ok(!(turns.take('a') instanceof Promise));
});

test('who was overtaken comes next, and before those who have not begun', async () => {
  const timers = new Timers();
  const turns = new UpdateTurns(timers);
  const slow = turns.take('a') as Turn;
  assert.equal(await turns.takeAgain(slow), slow, 'it was not overtaken');
  const second = turns.take('a');
  const order: string[] = [];
  const third = Promise.resolve(turns.take('a')).then((turn) => {
    order.push('third');
    turns.end(turn);
  });
  timers.due.shift()?.();
  const again = turns.takeAgain(slow).then((turn) => {
    order.push('slow');
    turns.end(turn);
  });
  turns.end(await second);
  await Promise.all([third, again]);
  assert.deepEqual(order, ['slow', 'third']);
  // Nobody is at it any more.
  turns.end(await turns.takeAgain(slow));
  assert.ok(!(turns.take('a') instanceof Promise));
});
