import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Clock } from '../lib/async/clock.js';
import { FairQueues, type QueueLimits, type QueueObserver } from './fair-queues.js';
import { Ticket } from './ticket.js';
import { deal } from './shuffle-shard.js';

const SILENT: QueueObserver<string> = {
  waiting: () => undefined,
  executing: () => undefined,
  seatsHeld: () => undefined,
  enqueued: () => undefined,
  noRoom: () => undefined,
  demand: () => undefined,
};

interface Due {
  readonly atMs: number;
  readonly call: () => void;
}

/** A clock that is moved by hand, and runs what is due by then. */
class ModelClock implements Clock {
  #ms = 0;
  #due: Due[] = [];

  now = (): number => this.#ms;

  after(ms: number, call: () => void): () => void {
    const entry = { atMs: this.#ms + ms, call };
    this.#due.push(entry);
    return () => (this.#due = this.#due.filter((other) => other !== entry));
  }

  /** Until nothing is due before `untilMs`. */
  run(untilMs: number): void {
    for (;;) {
      const next = this.#due.reduce<Due | undefined>(
        (first, entry) => (first === undefined || entry.atMs < first.atMs ? entry : first),
        undefined,
      );
      if (next === undefined || next.atMs > untilMs) break;
      this.#due = this.#due.filter((entry) => entry !== next);
      this.#ms = next.atMs;
      next.call();
    }
    this.#ms = untilMs;
  }
}

const QUEUES: QueueLimits = { queues: 64, handSize: 6, queueLengthLimit: 50 };

function queues(limits: QueueLimits, seats: number): { set: FairQueues<string>; clock: ModelClock } {
  const clock = new ModelClock();
  const set = new FairQueues<string>(limits, clock, SILENT);
  set.configure(limits, seats);
  return { set, clock };
}

const ticket = (flow: string, start: () => void = () => undefined, seats = 1): Ticket<string> =>
  new Ticket({
    schema: 'schema',
    distinguisher: flow,
    estimate: { initialSeats: seats, finalSeats: 0, lingerMs: 0 },
    subject: flow,
    start,
  });

test('hands have different cards, the same for the same hash', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
      fc.integer({ min: 1, max: 200 }),
      fc.integer({ min: 1, max: 10 }),
      (hash, deck, hand) => {
        const cards = deal(hash, deck, Math.min(hand, deck));
        assert.equal(new Set(cards).size, Math.min(hand, deck));
        assert.ok(cards.every((card) => card >= 0 && card < deck));
        assert.deepEqual(deal(hash, deck, Math.min(hand, deck)), cards);
      },
    ),
  );
});

test('without queues what finds no seat is refused, and a level without seats serves one at a time', () => {
  const { set } = queues({ queues: 0, handSize: 1, queueLengthLimit: 1 }, 2);
  const first = ticket('a');
  assert.equal(set.enter(first), 'execute');
  assert.equal(set.enter(ticket('a')), 'execute');
  assert.equal(set.enter(ticket('a')), 'concurrency-limit');
  set.finish(first);
  assert.equal(set.enter(ticket('a')), 'execute');
  const { set: none } = queues({ queues: 0, handSize: 1, queueLengthLimit: 1 }, 0);
  assert.equal(none.enter(ticket('a')), 'execute');
  assert.equal(none.enter(ticket('a')), 'concurrency-limit');
});

test('a share without seats lets nobody in while other processes have the rest, and those that wait begin when it has some', () => {
  const { set } = queues(QUEUES, 0);
  set.setSeats(0, true);
  const started: string[] = [];
  assert.equal(set.enter(ticket('a', () => started.push('a'))), 'wait');
  assert.equal(set.enter(ticket('b', () => started.push('b'), 5)), 'wait');
  set.setSeats(1, true);
  assert.deepEqual(started, ['a']);
  set.setSeats(6, true);
  assert.deepEqual(started, ['a', 'b']);
  const { set: refusing } = queues({ ...QUEUES, queues: 0 }, 0);
  refusing.setSeats(0, true);
  assert.equal(refusing.enter(ticket('a')), 'concurrency-limit');
  refusing.setSeats(2, true);
  assert.equal(refusing.enter(ticket('a', undefined, 3)), 'execute', 'one that is wider than the share is alone in it');
  assert.equal(refusing.enter(ticket('a')), 'concurrency-limit');
});

test('those that wait are served in their order; a full queue refuses; one that leaves is forgotten', () => {
  const { set } = queues({ queues: 1, handSize: 1, queueLengthLimit: 3 }, 1);
  const served: string[] = [];
  const running = ticket('a');
  assert.equal(set.enter(running), 'execute');
  const waiting = ['b', 'c', 'd'].map((name) => ticket(name, () => served.push(name)));
  for (const one of waiting) assert.equal(set.enter(one), 'wait');
  assert.equal(set.enter(ticket('e')), 'queue-full');
  set.refused();
  const [b, c, d] = waiting;
  assert.ok(b !== undefined && c !== undefined && d !== undefined);
  set.leave(c);
  set.finish(running);
  set.finish(b);
  set.finish(d);
  assert.deepEqual(served, ['b', 'd']);
  assert.ok(set.idle);
  assert.deepEqual([set.dispatched, set.rejected, set.cancelled, set.seatsInUse, set.waitingSeats], [3, 2, 1, 0, 0]);
});

test('a wide request waits for its seats and lingers on them', () => {
  const { set, clock } = queues({ queues: 1, handSize: 1, queueLengthLimit: 9 }, 4);
  const narrow = ticket('a');
  set.enter(narrow);
  let started = false;
  const wide = new Ticket({
    schema: 'schema',
    distinguisher: 'b',
    estimate: { initialSeats: 1, finalSeats: 4, lingerMs: 20 },
    subject: 'b',
    start: () => (started = true),
  });
  assert.equal(set.enter(wide), 'wait');
  set.finish(narrow);
  assert.ok(started);
  set.finish(wide);
  assert.equal(set.seatsInUse, 4);
  clock.run(100);
  assert.equal(set.seatsInUse, 0);
});

/** Each flow keeps so many requests of so many milliseconds under way or in line; how much time each flow's get. */
function simulate(flows: Readonly<Record<string, { greed: number; tookMs: number }>>, seats: number, forMs: number) {
  const { set, clock } = queues(QUEUES, seats);
  const got = new Map<string, number>();
  const send = (flow: string, tookMs: number): void => {
    const again = (): void => send(flow, tookMs);
    const run = (): void => {
      clock.after(tookMs, () => {
        got.set(flow, (got.get(flow) ?? 0) + tookMs);
        set.finish(one);
        again();
      });
    };
    const one: Ticket<string> = ticket(flow, run);
    const outcome = set.enter(one);
    if (outcome === 'execute') run();
    else if (outcome !== 'wait') clock.after(50, again);
  };
  for (const [flow, { greed, tookMs }] of Object.entries(flows)) for (let i = 0; i < greed; i++) send(flow, tookMs);
  clock.run(forMs);
  return got;
}

test('each flow gets its fair share, however greedy another is', () => {
  const got = simulate(
    { elephant: { greed: 300, tookMs: 10 }, wolf: { greed: 60, tookMs: 25 }, mouse: { greed: 2, tookMs: 5 } },
    8,
    20_000,
  );
  // The mouse wants less than a share: two at a time, served after waiting for at most one seat to come free.
  const mouse = got.get('mouse') ?? 0;
  assert.ok(mouse > 0.4 * 2 * 20_000, `the mouse got ${mouse}`);
  const served = [...got.values()].reduce((a, b) => a + b, 0);
  assert.ok(served > 0.98 * 8 * 20_000, 'no seat stays empty while someone waits');
});

test('flows of the same greed get the same time, whatever their requests take', () => {
  const flows = Object.fromEntries([3, 7, 12, 20].map((tookMs, i) => [`flow-${i}`, { greed: 12, tookMs }] as const));
  const got = simulate(flows, 6, 60_000);
  const times = [...got.values()];
  const mean = times.reduce((a, b) => a + b, 0) / times.length;
  // Within what one hand of several queues may differ from another.
  for (const time of times) assert.ok(Math.abs(time - mean) < 0.35 * mean, `${time} beside ${mean}`);
});

test('where on the meter the last request began is known, and where those in line begin', () => {
  const one: QueueLimits = { queues: 1, handSize: 1, queueLengthLimit: 50 };
  const { set, clock } = queues(one, 1);
  assert.equal(set.lastDispatch, undefined);
  const first = ticket('a');
  assert.equal(set.enter(first), 'execute');
  assert.deepEqual(set.lastDispatch, {
    r: 0,
    start: 0,
    nextMin: 0,
    nextMax: 0,
    discountedMin: 0,
    discountedMax: 0,
  });
  assert.equal(set.enter(ticket('a')), 'wait');
  clock.run(10);
  set.finish(first);
  // The first took 10 ms, and a seat's 10 ms have passed on the meter.
  assert.deepEqual(set.lastDispatch, {
    r: 0.01,
    start: 0.01,
    nextMin: 0.01,
    nextMax: 0.01,
    discountedMin: 0.01,
    discountedMax: 0.01,
  });
});

test('the meter is set back before it becomes coarse, and the order of those in line stays', () => {
  const limits: QueueLimits = { queues: 8, handSize: 2, queueLengthLimit: 50 };
  const orderAfter = (ms: number): { started: string[]; advanced: number; progress: number } => {
    const clock = new ModelClock();
    let advanced = 0;
    const set = new FairQueues<string>(limits, clock, { ...SILENT, epochAdvanced: () => void advanced++ });
    set.configure(limits, 1);
    const first = ticket('a');
    set.enter(first);
    const started: string[] = [];
    const waiting: Ticket<string>[] = ['a', 'b', 'c', 'd', 'e', 'a'].map((flow) =>
      ticket(flow, () => void started.push(flow)),
    );
    for (const one of waiting) set.enter(one);
    clock.run(ms);
    set.finish(first);
    for (let left = new Set(waiting); left.size > 0;) {
      const running = [...left].find(({ startedMs }) => startedMs !== undefined);
      assert.ok(running !== undefined, 'somebody has the seat');
      left = new Set([...left].filter((one) => one !== running));
      set.finish(running);
    }
    return { started, advanced, progress: set.progress };
  };
  const { started, advanced } = orderAfter(2 ** 30);
  assert.equal(advanced, 0);
  const long = orderAfter(2 ** 45);
  assert.ok(long.advanced > 0);
  assert.deepEqual(long.started, started);
  assert.ok(long.progress * 1000 < 2 ** 42);
});
