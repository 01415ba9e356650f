// runs-on: every-node
import assert from 'node:assert/strict';
import { setImmediate as yieldOnce } from 'node:timers/promises';
import { test } from 'node:test';
import {
  type Flushed,
  MAX_AHEAD_OF_QUEUE,
  MAX_WRITTEN_BYTES,
  MAX_CONNECTIONS_PER_FLUSH,
  WriteScheduler,
} from './write-scheduler.js';

const named = (name: number, written: number[], hasAnswer = false): Flushed => ({
  hasAnswer,
  flush() {
    written.push(name);
    return 100;
  },
});
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

test('what is scheduled in one event loop iteration is written at its end, in order', async () => {
  const scheduler = new WriteScheduler();
  const written: number[] = [];
  for (const i of upTo(MAX_CONNECTIONS_PER_FLUSH)) scheduler.schedule(named(i, written));
  assert.deepEqual(written, []);
  await yieldOnce();
  assert.deepEqual(written, upTo(MAX_CONNECTIONS_PER_FLUSH));
});

test('responses go before watch events', async () => {
  const scheduler = new WriteScheduler();
  const written: number[] = [];
  for (const i of upTo(MAX_CONNECTIONS_PER_FLUSH)) scheduler.schedule(named(i, written, i % 100 === 50));
  await yieldOnce();
  assert.deepEqual(written.slice(0, 4), [50, 150, 250, 0]);
  assert.deepEqual(
    written.toSorted((a, b) => a - b),
    upTo(MAX_CONNECTIONS_PER_FLUSH),
  );
});

test('thousands are written to in parts, and who comes meanwhile goes first', async () => {
  const scheduler = new WriteScheduler();
  const written: number[] = [];
  for (const i of upTo(1000)) scheduler.schedule(named(i, written));
  await yieldOnce();
  assert.equal(written.length, MAX_CONNECTIONS_PER_FLUSH);
  scheduler.schedule(named(5000, written));
  await yieldOnce();
  assert.equal(written[MAX_CONNECTIONS_PER_FLUSH], 5000);
  assert.equal(written.length, 2 * MAX_CONNECTIONS_PER_FLUSH);
  for (let i = 0; i < 10; i++) await yieldOnce();
  assert.deepEqual(
    written.filter((name) => name !== 5000),
    upTo(1000),
  );
});

test('those who wait go on, however many come meanwhile', async () => {
  const scheduler = new WriteScheduler();
  const written: number[] = [];
  for (const i of upTo(600)) scheduler.schedule(named(i, written));
  for (let i = 0; i < 3; i++) {
    for (const j of upTo(MAX_CONNECTIONS_PER_FLUSH)) scheduler.schedule(named(1000 + j, written));
    await yieldOnce();
  }
  assert.ok(written.indexOf(599) < 600 + 2 * MAX_AHEAD_OF_QUEUE);
});

test('a connection scheduled during a flush is written to afterwards', async () => {
  const scheduler = new WriteScheduler();
  const written: number[] = [];
  const rescheduling: Flushed = {
    hasAnswer: false,
    flush() {
      written.push(1);
      scheduler.schedule(named(2, written));
      return 0;
    },
  };
  scheduler.schedule(rescheduling);
  for (const i of upTo(MAX_CONNECTIONS_PER_FLUSH)) scheduler.schedule(named(100 + i, written));
  await yieldOnce();
  assert.equal(written.length, MAX_CONNECTIONS_PER_FLUSH);
  await yieldOnce();
  assert.deepEqual(written.slice(MAX_CONNECTIONS_PER_FLUSH), [2, 100 + MAX_CONNECTIONS_PER_FLUSH - 1]);
});

test('a flush ends when much was written, however few connections it was for', async () => {
  const scheduler = new WriteScheduler();
  const written: number[] = [];
  const large = (name: number): Flushed => ({
    hasAnswer: false,
    flush() {
      written.push(name);
      return MAX_WRITTEN_BYTES / 2;
    },
  });
  for (const i of upTo(5)) scheduler.schedule(large(i));
  await yieldOnce();
  assert.deepEqual(written, [0, 1]);
  assert.ok(scheduler.exhausted);
  scheduler.schedule(named(9, written, true));
  await yieldOnce();
  assert.deepEqual(written, [0, 1, 9, 2, 3]);
  await yieldOnce();
  assert.deepEqual(written, [0, 1, 9, 2, 3, 4]);
  assert.ok(!scheduler.exhausted);
});

test('what was written before a flush counts until then', async () => {
  const scheduler = new WriteScheduler();
  const written: number[] = [];
  scheduler.wrote(MAX_WRITTEN_BYTES);
  assert.ok(scheduler.exhausted);
  scheduler.schedule(named(1, written));
  await yieldOnce();
  assert.deepEqual(written, [1]);
  assert.ok(!scheduler.exhausted);
});
