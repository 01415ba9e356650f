import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '../testing/manual-clock.js';
import { CoalescedCall, OVERTAKE_MS } from './coalesced-call.js';

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
  const clock = new ManualClock();
  const coalesced = (maxInFlight?: number): { readonly shared: CoalescedCall<number>; readonly started: Started[] } => {
    const started: Started[] = [];
    const start = (): Promise<number> => new Promise((answer, fail) => started.push({ answer, fail }));
    const options = { clock, atIterationEnd: iterations.atEnd, ...(maxInFlight !== undefined && { maxInFlight }) };
    return { shared: new CoalescedCall<number>(start, options), started };
  };

  it('is one for all callers in an iteration of the event loop', async () => {
    const { shared, started } = coalesced();
    const all = [shared.call(), shared.call(), shared.call()];
    await iterations.end();
    assert.equal(started.length, 1);
    started[0]?.answer(7);
    assert.deepEqual(await Promise.all(all), [7, 7, 7]);
  });

  it('is the next one for all who come while one is in flight, though that has no answer yet', async () => {
    const { shared, started } = coalesced();
    const first = shared.call();
    await iterations.end();
    const later = [shared.call()];
    await iterations.end();
    later.push(shared.call());
    assert.equal(started.length, 1);
    started[0]?.answer(1);
    assert.equal(await first, 1);
    await iterations.end();
    assert.equal(started.length, 2);
    started[1]?.answer(2);
    assert.deepEqual(await Promise.all(later), [2, 2]);
  });

  it('overtakes one that takes long, and then waits for no answer of that', async () => {
    const { shared, started } = coalesced();
    const stuck = shared.call();
    await iterations.end();
    const second = shared.call();
    await clock.move(OVERTAKE_MS - 1);
    assert.equal(started.length, 1);
    await clock.move(1);
    assert.equal(started.length, 2);
    await iterations.end();
    started[1]?.answer(2);
    assert.equal(await second, 2);
    await iterations.end();
    const third = shared.call();
    assert.equal(started.length, 3);
    started[2]?.answer(3);
    assert.equal(await third, 3);
    started[0]?.answer(1);
    assert.equal(await stuck, 1);
  });

  it('is not begun while as many are in flight as may be', async () => {
    const { shared, started } = coalesced(2);
    for (let i = 0; i < 2; i++) {
      void shared.call();
      await clock.move(OVERTAKE_MS);
      await iterations.end();
    }
    const last = shared.call();
    await clock.move(10 * OVERTAKE_MS);
    assert.equal(started.length, 2);
    started[0]?.answer(1);
    await iterations.end();
    assert.equal(started.length, 3);
    started[2]?.answer(3);
    assert.equal(await last, 3);
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
