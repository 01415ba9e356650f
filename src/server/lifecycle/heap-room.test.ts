import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '../../lib/testing/manual-clock.js';
import { leaveHeapRoom } from './heap-room.js';

const MIB = 1024 ** 2;

describe('the room for the heap', () => {
  it('is wide for a small heap, narrows as it grows, and is left to V8 for a large one', async () => {
    const clock = new ManualClock();
    const stopping = new AbortController();
    const set: number[] = [];
    let heapMib = 50;
    leaveHeapRoom({
      clock,
      stopping: stopping.signal,
      heapBytes: () => heapMib * MIB,
      setGrowth: (percent) => void set.push(percent),
    });
    assert.deepEqual(set, []);
    await clock.move(10_000);
    assert.deepEqual(set, [100]);
    heapMib = 100;
    await clock.move(5_000);
    heapMib = 500;
    await clock.move(5_000);
    heapMib = 90;
    await clock.move(5_000);
    assert.deepEqual(set, [100, 60, 0, 70]);
    stopping.abort();
    heapMib = 50;
    await clock.move(10_000);
    assert.equal(set.length, 4);
  });
});
