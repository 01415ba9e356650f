import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { ManualClock } from '../lib/testing/manual-clock.js';
import { emitTimeouts } from './idle-timeout.js';

const IDLE_MS = 90_000;

class CountingSocket extends EventEmitter {
  bytesRead = 100;
  bytesWritten = 200;
  timeouts = 0;

  constructor() {
    super();
    this.on('timeout', () => this.timeouts++);
  }
}

function watched() {
  const clock = new ManualClock();
  const socket = new CountingSocket();
  return { clock, socket, stop: emitTimeouts(socket as unknown as Socket, IDLE_MS, clock) };
}

test('a connection that reads and writes nothing times out, and again after as long', async () => {
  const { clock, socket } = watched();
  await clock.move(IDLE_MS - 1);
  assert.equal(socket.timeouts, 0);
  await clock.move(1);
  assert.equal(socket.timeouts, 1);
  await clock.move(IDLE_MS);
  assert.equal(socket.timeouts, 2);
});

test('what is read or written begins its time anew', async () => {
  const { clock, socket } = watched();
  for (const count of ['bytesRead', 'bytesWritten'] as const) {
    await clock.move(IDLE_MS - 1);
    assert.equal(socket.timeouts, 0, count);
    socket[count]++;
  }
  await clock.move(IDLE_MS - 1);
  assert.equal(socket.timeouts, 0);
  await clock.move(IDLE_MS / 3 + 1);
  assert.equal(socket.timeouts, 1);
});

test('nothing is looked at after it was stopped, or the socket closed', async () => {
  for (const how of ['stop', 'close'] as const) {
    const { clock, socket, stop } = watched();
    if (how === 'stop') stop();
    else socket.emit('close');
    await clock.move(10 * IDLE_MS);
    assert.equal(socket.timeouts, 0, how);
  }
});
