import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../lib/testing/manual-clock.js';
import { Channel } from './channel.js';
import type { SeatHolder, SeatPool } from './seat-pool.js';
import { SeatRounds } from './seat-rounds.js';
import { SEAT_TOPICS, sharedSeats } from './shared-seats.js';
import { ports } from './testing.js';

/** Requests that take a seat for as long as the test likes, or wait for one. */
class TestWorker implements SeatHolder {
  readonly pool: SeatPool;
  readonly end: Channel;
  readonly own: Channel;
  seatsInUse = 0;
  waiting = 0;

  constructor(
    readonly rounds: SeatRounds,
    clock: ManualClock,
    total: number,
  ) {
    const [here, there] = ports();
    this.end = new Channel(here);
    this.own = new Channel(there);
    this.end.handle(SEAT_TOPICS.request, (name) => rounds.request(String(name)));
    this.pool = sharedSeats(this.own, clock).open('limit', this);
    this.pool.setTotal(total);
  }

  get seatsWanted(): number {
    return this.seatsInUse + this.waiting;
  }

  resized(): void {
    this.#begin();
  }

  async request(count: number): Promise<void> {
    this.waiting += count;
    this.#begin();
    if (this.waiting > 0) await this.pool.requestMore();
    await settled();
  }

  finish(count: number): void {
    this.seatsInUse -= count;
    this.#begin();
  }

  #begin(): void {
    for (; this.waiting > 0 && this.seatsInUse < this.pool.share; this.waiting--) this.seatsInUse++;
  }
}

const settled = async (): Promise<void> => {
  for (let i = 0; i < 4; i++) await new Promise(setImmediate);
};

function setUp(count: number, total: number) {
  const clock = new ManualClock();
  const workers: TestWorker[] = [];
  const rounds = new SeatRounds({ workers: () => workers.map(({ end }) => end), clock });
  const start = (): TestWorker => {
    const worker = new TestWorker(rounds, clock, total);
    workers.push(worker);
    return worker;
  };
  const started = Array.from({ length: count }, start) as [TestWorker, TestWorker, ...TestWorker[]];
  const inUse = (): number => workers.reduce((sum, { seatsInUse }) => sum + seatsInUse, 0);
  const shares = (): number[] => workers.map(({ pool }) => pool.share);
  return { clock, workers, started, start, inUse, shares };
}

test('one worker has the whole limit while the others need nothing', async () => {
  const { started, inUse } = setUp(2, 20);
  const [first] = started;
  await first.request(25);
  assert.deepEqual([first.seatsInUse, first.waiting, inUse()], [20, 5, 20]);
});

test('each has an even share before the first request', async () => {
  const { shares } = setUp(2, 20);
  await settled();
  assert.deepEqual(shares(), [10, 10]);
});

test('requests that come when their worker has reported already have the whole limit all the same', async () => {
  const { started } = setUp(2, 20);
  const [first] = started;
  await settled();
  await first.request(10);
  const rest: Promise<void>[] = [];
  first.own.handle(SEAT_TOPICS.report, () => {
    const report = { total: 20, share: first.pool.share, inUse: first.seatsInUse, wanted: first.seatsWanted };
    // As in an iteration of the event loop that reads the report's question first and many requests then.
    if (rest.length === 0) rest.push(first.request(15));
    return report;
  });
  await first.request(1);
  await Promise.all(rest);
  assert.deepEqual([first.seatsInUse, first.waiting], [20, 6]);
});

test('a worker with seats to spare asks nobody', async () => {
  const { started } = setUp(2, 20);
  const [first] = started;
  await first.request(1);
  let asked = 0;
  first.end.handle(SEAT_TOPICS.request, () => void asked++);
  await first.request(5);
  assert.deepEqual([asked, first.waiting], [0, 0]);
});

test('seats that are in use stay until they are free, and never are there too many', async () => {
  const { started, inUse, clock } = setUp(2, 20);
  const [first, second] = started;
  await first.request(20);
  await second.request(10);
  assert.deepEqual([first.seatsInUse, second.seatsInUse], [20, 0]);
  for (let i = 0; i < 12; i++) {
    first.finish(1);
    await first.request(1);
    assert.ok(inUse() <= 20, `${inUse()} in use`);
    await clock.move(25);
    await settled();
    assert.ok(inUse() <= 20, `${inUse()} in use`);
  }
  // In proportion to what they want.
  assert.ok(second.seatsInUse >= 6 && second.seatsInUse <= 8, String(second.seatsInUse));
  assert.equal(inUse(), 20);
});

test('those that wait get back what another worker does not need any more', async () => {
  const { started, clock } = setUp(2, 20);
  const [first, second] = started;
  await first.request(30);
  await second.request(10);
  first.finish(10);
  await clock.move(25);
  await settled();
  assert.ok(second.seatsInUse > 0 && first.waiting > 0);
  second.waiting = 0;
  second.finish(second.seatsInUse);
  await clock.move(25);
  await settled();
  assert.deepEqual([first.seatsInUse, first.waiting], [20, 0]);
});

test('while all seats are in use they are requested a few times a second, not for every request', async () => {
  const { started, clock } = setUp(2, 4);
  const [first, second] = started;
  await first.request(4);
  await second.request(2);
  let asked = 0;
  second.end.handle(SEAT_TOPICS.request, () => void asked++);
  for (let i = 0; i < 50; i++) assert.equal(second.pool.requestMore(), undefined);
  assert.equal(asked, 0);
  await clock.move(24);
  assert.equal(asked, 0);
  await clock.move(1);
  assert.equal(asked, 1);
});

test('what comes during a round is not refused by its result', async () => {
  const { started } = setUp(2, 20);
  const [first, second] = started;
  await settled();
  let report = (): void => undefined;
  const idle = { total: 20, share: 10, inUse: 0, wanted: 0 };
  second.own.handle(SEAT_TOPICS.report, () => new Promise((resolve) => (report = () => resolve(idle))));
  const early = first.request(11);
  await settled();
  first.waiting += 8;
  report();
  await early;
  const shared = first.pool.share;
  assert.deepEqual([first.seatsInUse, first.waiting], [shared, 19 - shared]);
  assert.notEqual(first.pool.requestMore(), undefined);
  await settled();
  report();
  await settled();
  assert.deepEqual([first.seatsInUse, first.waiting], [19, 0]);
});

test('the seats of a worker that has ended come back', async () => {
  const { workers, started, start, clock } = setUp(2, 20);
  const [first, second] = started;
  await first.request(15);
  await second.request(10);
  assert.equal(second.seatsInUse, 5);
  workers.splice(0, 1);
  first.end.close();
  const third = start();
  await clock.move(25);
  await settled();
  assert.equal(second.waiting, 0);
  await third.request(12);
  assert.deepEqual([second.seatsInUse, third.seatsInUse], [10, 10]);
});

test('a worker that does not answer keeps what it had, and the others do not wait for it for long', async () => {
  const { started, clock } = setUp(2, 20);
  const [first, second] = started;
  await first.request(12);
  const had = first.pool.share;
  first.own.handle(SEAT_TOPICS.report, () => new Promise(() => undefined));
  const requested = second.request(20);
  await settled();
  await clock.move(1_000);
  await requested;
  assert.equal(second.seatsInUse, 20 - had);
});

test('a limit that becomes smaller holds for all together', async () => {
  const { started, shares } = setUp(2, 20);
  const [first, second] = started;
  await first.request(8);
  await second.request(8);
  for (const worker of started) worker.pool.setTotal(10);
  await settled();
  assert.ok(shares().reduce((sum, share) => sum + share, 0) <= 10, shares().join());
});

test('a limit that nobody knows any more is forgotten', async () => {
  const { started } = setUp(1, 3);
  const [first] = started;
  await first.request(1);
  first.pool.close();
  await first.rounds.request('limit');
  assert.equal(await first.end.ask(SEAT_TOPICS.report, 'limit'), undefined);
});
