// runs-on: every-node
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadlines } from './deadlines.js';

test('each deadline that is not cleared comes at its time', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const deadlines = new Deadlines();
  const missed: string[] = [];
  const set = (name: string, lengthMs: number) => deadlines.set(Date.now(), lengthMs, () => missed.push(name));
  const first = set('first', 100);
  set('second', 100);
  set('short', 30);
  t.mock.timers.tick(50);
  const third = set('third', 100);
  set('fourth', 100);
  assert.deepEqual(missed, ['short']);
  deadlines.clear(first);
  deadlines.clear(third);
  t.mock.timers.tick(50);
  assert.deepEqual(missed, ['short', 'second']);
  t.mock.timers.tick(49);
  assert.deepEqual(missed, ['short', 'second']);
  t.mock.timers.tick(1);
  assert.deepEqual(missed, ['short', 'second', 'fourth']);
  const fifth = set('fifth', 100);
  const sixth = set('sixth', 100);
  deadlines.clear(sixth);
  t.mock.timers.tick(100);
  assert.deepEqual(missed.at(-1), 'fifth');
  set('seventh', 100);
  for (const over of [fifth, sixth, first]) deadlines.clear(over);
  t.mock.timers.tick(100);
  assert.deepEqual(missed.at(-1), 'seventh');
});
