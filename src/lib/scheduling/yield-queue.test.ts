import assert from 'node:assert/strict';
import test from 'node:test';
import { Yielder } from './yield.js';
import { YieldQueue } from './yield-queue.js';

/** An event loop whose iterations others use for so long each, by a clock that only work moves. */
class BusyLoop {
  nowMs = 0;
  iterations = 0;
  stopped = false;
  readonly clock = (): number => this.nowMs;
  readonly queue: YieldQueue;

  constructor(readonly othersMs: number) {
    this.queue = new YieldQueue(this.clock, (run) => setImmediate(run));
    this.#turn();
  }

  #turn(): void {
    this.iterations++;
    this.nowMs += this.othersMs;
    if (!this.stopped) setImmediate(() => this.#turn());
  }

  /** So many steps of a millisecond each; resolves with the time at which the last was done. */
  async work(steps: number): Promise<number> {
    const yielder = new Yielder(this.clock, this.queue);
    for (let i = 0; i < steps; i++) {
      this.nowMs++;
      await yielder.yieldIfDue();
    }
    return this.nowMs;
  }
}

test('work in steps has a third of a busy thread, within the longest slice', async (t) => {
  // In slices of five milliseconds it would be 200 iterations each time.
  for (const { othersMs, maxMs } of [
    { othersMs: 50, maxMs: 4_000 },
    { othersMs: 300, maxMs: 9_500 },
  ]) {
    await t.test(`others hold it for ${othersMs} ms of each iteration`, async () => {
      const loop = new BusyLoop(othersMs);
      const endedMs = await loop.work(1_000);
      loop.stopped = true;
      assert.ok(endedMs <= maxMs, `1,000 ms of work took ${endedMs} ms, ${loop.iterations} iterations`);
    });
  }
});

test('two that wait share it: neither starves', async () => {
  const loop = new BusyLoop(100);
  const [first, second] = await Promise.all([loop.work(500), loop.work(500)]);
  loop.stopped = true;
  assert.ok(Math.abs(first - second) < 500, `${first} and ${second}`);
  assert.ok(Math.max(first, second) <= 1_000 * 5, `${Math.max(first, second)} ms`);
});

test('work in steps does not hold up others that are quick', async () => {
  const loop = new BusyLoop(1);
  await loop.work(1_000);
  loop.stopped = true;
  // Five milliseconds in each.
  assert.ok(loop.iterations >= 190, `${loop.iterations} iterations`);
});

test('however many work on something large, an iteration is not much longer than one slice', async () => {
  const loop = new BusyLoop(1);
  let iteration = 0;
  let inThisIteration = 0;
  let most = 0;
  const order: number[] = [];
  const work = async (name: number): Promise<void> => {
    for (let part = 0; part < 3; part++) {
      await loop.queue.wait();
      order.push(name);
      inThisIteration = iteration === loop.iterations ? inThisIteration + 1 : 1;
      iteration = loop.iterations;
      most = Math.max(most, inThisIteration);
      loop.nowMs += 6;
    }
  };
  const names = Array.from({ length: 10 }, (_, i) => i);
  await Promise.all(names.map(work));
  loop.stopped = true;
  assert.ok(most <= 2, `${most} in one iteration`);
  assert.deepEqual(order, [...names, ...names, ...names]);
});
