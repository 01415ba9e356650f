import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CoalescedCall } from './coalesced-call.js';

interface Started {
  readonly answer: (value: number) => void;
  readonly fail: (error: Error) => void;
}

class Iterations {
  readonly #ends: (() => void)[] = [];
  readonly atEnd = (run: () => void): void => void this.#ends.push(run);

  async end(): Promise<void> {
    for (const run of this.#ends.splice(0)) run();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('a coalesced call', () => {
  const iterations = new Iterations();
  const coalesced = (): { readonly shared: CoalescedCall<number>; readonly started: Started[] } => {
    const started: Started[] = [];
    const start = (): Promise<number> => new Promise((answer, fail) => started.push({ answer, fail }));
    return { shared: new CoalescedCall<number>(start, { atIterationEnd: iterations.atEnd }), started };
  };

  it('is one for all callers in an iteration of the event loop', async () => {
    const { shared, started } = coalesced();
    const all = [shared.call(), shared.call(), shared.call()];
    await iterations.end();
    assert.equal(started.length, 1);
    started[0]?.answer(7);
    assert.deepEqual(await Promise.all(all), [7, 7, 7]);
  });

  it('is another for a caller after it has left, even if it has no answer yet', async () => {
    const { shared, started } = coalesced();
    const first = shared.call();
    await iterations.end();
    const second = shared.call();
    await iterations.end();
    started[1]?.answer(2);
    assert.equal(await second, 2);
    started[0]?.answer(1);
    assert.equal(await first, 1);
  });

  it('is the next one for all who come while many are in flight', async () => {
    const { shared, started } = coalesced();
    for (let i = 0; i < 4; i++) {
      void shared.call();
      await iterations.end();
    }
    const later = [shared.call(), shared.call()];
    await iterations.end();
    later.push(shared.call());
    assert.equal(started.length, 4);
    started[0]?.answer(1);
    await iterations.end();
    assert.equal(started.length, 5);
    started[4]?.answer(5);
    assert.deepEqual(await Promise.all(later), [5, 5, 5]);
  });

  it('that leaves at once is for its first caller alone', async () => {
    const started: Started[] = [];
    const start = (): Promise<number> => new Promise((answer, fail) => started.push({ answer, fail }));
    const shared = new CoalescedCall<number>(start, { maxInFlight: 1, leavesAtOnce: true });
    const first = shared.call();
    const others = [shared.call(), shared.call()];
    started[0]?.answer(1);
    assert.equal(await first, 1);
    await iterations.end();
    started[1]?.answer(2);
    assert.deepEqual(await Promise.all(others), [2, 2]);
    assert.equal(started.length, 2);
  });

  it('is started again after one that failed, for later callers', async () => {
    const { shared, started } = coalesced();
    const first = shared.call();
    await iterations.end();
    const second = shared.call();
    started[0]?.fail(new Error('unavailable'));
    await assert.rejects(first, /unavailable/);
    started[1]?.answer(2);
    assert.equal(await second, 2);
  });
});
