import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CoalescedCall } from './coalesced-call.js';

interface Started {
  readonly answer: (value: number) => void;
  readonly fail: (error: Error) => void;
}

describe('a coalesced call', () => {
  const coalesced = (): { readonly shared: CoalescedCall<number>; readonly started: Started[] } => {
    const started: Started[] = [];
    const start = (): Promise<number> => new Promise((answer, fail) => started.push({ answer, fail }));
    return { shared: new CoalescedCall<number>(start), started };
  };

  it('is the next one for all who come while one is in flight, though that has no answer yet', async () => {
    const { shared, started } = coalesced();
    const first = shared.call();
    const others = [shared.call(), shared.call()];
    assert.equal(started.length, 1);
    started[0]?.answer(1);
    assert.equal(await first, 1);
    assert.equal(started.length, 2);
    started[1]?.answer(2);
    assert.deepEqual(await Promise.all(others), [2, 2]);
    void shared.call();
    assert.equal(started.length, 3);
  });

  it('is started again after one that failed, for later callers', async () => {
    const { shared, started } = coalesced();
    const first = shared.call();
    const second = shared.call();
    started[0]?.fail(new Error('unavailable'));
    await assert.rejects(first, /unavailable/);
    started[1]?.answer(2);
    assert.equal(await second, 2);
  });
});
