// runs-on: every-node
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionError } from './error-code.js';
import { FloodGuard } from './flood-guard.js';

/** How many frames the guard accepts before it throws. */
function taken(guard: FloodGuard): number {
  for (let count = 0; ; count++) {
    try {
      guard.spend();
    } catch (error) {
      assert.ok(error instanceof ConnectionError);
      return count;
    }
  }
}

test('ten thousand at once, and a thousand more each second', () => {
  let nowMs = 0;
  const guard = new FloodGuard(() => nowMs);
  assert.equal(taken(guard), 10_000);
  nowMs += 1500;
  assert.equal(taken(guard), 1500);
  nowMs += 3_600_000;
  assert.equal(taken(guard), 10_000);
});

test('a client may update windows every 4 KiB of a large answer, of the stream and of the connection', () => {
  const guard = new FloodGuard(() => 0);
  for (let frames = 0; frames < 20_000; frames++) {
    guard.earn(16_384);
    for (let step = 0; step < 8; step++) guard.spend();
  }
  assert.ok(taken(guard) <= 10_020);
});

test('events of a watch may be answered by a step each, of the stream and of all', () => {
  const guard = new FloodGuard(() => 0);
  for (let events = 0; events < 50_000; events++) {
    guard.earn(100);
    guard.spend();
    guard.spend();
  }
});
