// runs-on: every-node
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { type Flushed, MOST_FIRST, MOST_WRITTEN_BYTES, MOST_WRITTEN_TO, WriteTurns } from './write-turns.js';

const named = (name: number, written: number[], hasAnswer = false): Flushed => ({
  hasAnswer,
  flush() {
    written.push(name);
    return 100;
  },
});
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

test('what is asked for in a turn is written at its end, in order', async () => {
  const turns = new WriteTurns();
  const written: number[] = [];
  for (const i of upTo(MOST_WRITTEN_TO)) turns.atEnd(named(i, written));
  assert.deepEqual(written, []);
  await turn();
  assert.deepEqual(written, upTo(MOST_WRITTEN_TO));
});

test('answers go before what is only told', async () => {
  const turns = new WriteTurns();
  const written: number[] = [];
  for (const i of upTo(MOST_WRITTEN_TO)) turns.atEnd(named(i, written, i % 100 === 50));
  await turn();
  assert.deepEqual(written.slice(0, 4), [50, 150, 250, 0]);
  assert.deepEqual(
    written.toSorted((a, b) => a - b),
    upTo(MOST_WRITTEN_TO),
  );
});

test('thousands are written to in parts, and who comes meanwhile goes first', async () => {
  const turns = new WriteTurns();
  const written: number[] = [];
  for (const i of upTo(1000)) turns.atEnd(named(i, written));
  await turn();
  assert.equal(written.length, MOST_WRITTEN_TO);
  turns.atEnd(named(5000, written));
  await turn();
  assert.equal(written[MOST_WRITTEN_TO], 5000);
  assert.equal(written.length, 2 * MOST_WRITTEN_TO);
  for (let i = 0; i < 10; i++) await turn();
  assert.deepEqual(
    written.filter((name) => name !== 5000),
    upTo(1000),
  );
});

test('those who wait go on, however many come meanwhile', async () => {
  const turns = new WriteTurns();
  const written: number[] = [];
  for (const i of upTo(600)) turns.atEnd(named(i, written));
  for (let i = 0; i < 3; i++) {
    for (const j of upTo(MOST_WRITTEN_TO)) turns.atEnd(named(1000 + j, written));
    await turn();
  }
  assert.ok(written.indexOf(599) < 600 + 2 * MOST_FIRST);
});

test('who asks while others are written to is written to afterwards', async () => {
  const turns = new WriteTurns();
  const written: number[] = [];
  const asking: Flushed = {
    hasAnswer: false,
    flush() {
      written.push(1);
      turns.atEnd(named(2, written));
      return 0;
    },
  };
  turns.atEnd(asking);
  for (const i of upTo(MOST_WRITTEN_TO)) turns.atEnd(named(100 + i, written));
  await turn();
  assert.equal(written.length, MOST_WRITTEN_TO);
  await turn();
  assert.deepEqual(written.slice(MOST_WRITTEN_TO), [2, 100 + MOST_WRITTEN_TO - 1]);
});

test('a turn ends when much was written, however few it was for', async () => {
  const turns = new WriteTurns();
  const written: number[] = [];
  const large = (name: number): Flushed => ({
    hasAnswer: false,
    flush() {
      written.push(name);
      return MOST_WRITTEN_BYTES / 2;
    },
  });
  for (const i of upTo(5)) turns.atEnd(large(i));
  await turn();
  assert.deepEqual(written, [0, 1]);
  assert.ok(turns.isSpent);
  turns.atEnd(named(9, written, true));
  await turn();
  assert.deepEqual(written, [0, 1, 9, 2, 3]);
  await turn();
  assert.deepEqual(written, [0, 1, 9, 2, 3, 4]);
  assert.ok(!turns.isSpent);
});

test('what was written before the end of a turn counts until then', async () => {
  const turns = new WriteTurns();
  const written: number[] = [];
  turns.wrote(MOST_WRITTEN_BYTES);
  assert.ok(turns.isSpent);
  turns.atEnd(named(1, written));
  await turn();
  assert.deepEqual(written, [1]);
  assert.ok(!turns.isSpent);
});
