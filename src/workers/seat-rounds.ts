// Divides the seats of limits among worker processes by what each wants, in rounds: whenever a worker finds no seat.
//
//   worker 1 ── request ─▶ supervisor ── report? ─▶ all workers: share, in use, wanted
//                                     ── less ────▶ those that have more than their part, which answer what they still have
//                                     ── more ────▶ the others, as far as that goes
//
// The seats of all workers together are never more than the limit: what one gives up is acknowledged before another gets it. A
// worker that ends takes nothing with it, since every round asks those that are there. One that does not answer in time is taken
// to have what it had last.
import { type Clock, systemClock } from '../lib/async/clock.js';
import { withTimeout } from '../lib/async/with-timeout.js';
import { CoalescedCall } from '../lib/async/coalesced-call.js';
import type { Channel } from './channel.js';
import { divideSeats } from './divide-seats.js';
import { SEAT_TOPICS, type SeatReport, type ShareChange } from './shared-seats.js';

type Asked = Pick<Channel, 'ask' | 'notify'>;

export interface SeatRoundsOptions {
  /** The channels of the workers that serve, the oldest first: where they differ in the size of a limit, it knows best. */
  readonly workers: () => readonly Asked[];
  /** The system's where none is given. */
  readonly clock?: Clock;
}

const ANSWER_MS = 1_000;

export class SeatRounds {
  readonly #limits = new Map<string, CoalescedCall<void>>();

  constructor(private readonly options: SeatRoundsOptions) {}

  /** A worker wants more of a limit. Fulfilled when those that may give something were asked after that. */
  request(name: string): Promise<void> {
    let call = this.#limits.get(name);
    if (call === undefined) {
      const limit = new Limit(name, this.options.clock ?? systemClock);
      call = new CoalescedCall(() => this.#run(limit));
      this.#limits.set(name, call);
    }
    return call.call();
  }

  async #run(limit: Limit): Promise<void> {
    const isKnown = await limit.divide(this.options.workers());
    // A priority level that was deleted.
    if (!isKnown) this.#limits.delete(limit.name);
  }
}

interface Reported extends SeatReport {
  readonly worker: Asked;
  /** The part that it is to have. */
  target: number;
}

class Limit {
  #round = 0;
  /** Seats that each worker had when it was heard of last. */
  #held = new Map<Asked, number>();

  constructor(
    readonly name: string,
    private readonly clock: Clock,
  ) {}

  /** False where no worker knows the limit. */
  async divide(workers: readonly Asked[]): Promise<boolean> {
    const reports = await this.#collect(workers);
    const total = reports[0]?.total;
    if (total === undefined) return false;
    const silent = workers.filter((worker) => !reports.some((report) => report.worker === worker));
    const heldBySilent = silent.reduce((sum, worker) => sum + (this.#held.get(worker) ?? 0), 0);
    this.#held = new Map([...this.#held].filter(([worker]) => workers.includes(worker)));
    const available = Math.max(0, total - heldBySilent);
    const wanted = reports.map((report) => report.wanted);
    const targets = divideSeats(available, wanted, this.#round++);
    reports.forEach((report, i) => (report.target = targets[i] ?? 0));
    await Promise.all(reports.filter(({ share, target }) => target < share).map((report) => this.#shrink(report)));
    this.#grow(reports, available);
    return true;
  }

  async #collect(workers: readonly Asked[]): Promise<readonly Reported[]> {
    const answers = await Promise.all(workers.map((worker) => this.#ask(worker, SEAT_TOPICS.report, this.name)));
    return answers.flatMap((answer, i) => {
      const worker = workers[i];
      if (answer === undefined || worker === undefined) return [];
      const report = answer as SeatReport;
      this.#held.set(worker, Math.max(report.share, report.inUse));
      return [{ ...report, worker, target: 0 }];
    });
  }

  async #shrink({ worker, target }: Reported): Promise<void> {
    const change: ShareChange = { name: this.name, share: target };
    const held = await this.#ask(worker, SEAT_TOPICS.share, change);
    if (typeof held === 'number') this.#held.set(worker, held);
  }

  #grow(reports: readonly Reported[], available: number): void {
    const held = (worker: Asked): number => this.#held.get(worker) ?? 0;
    let free = available - reports.reduce((sum, { worker }) => sum + held(worker), 0);
    for (const { worker, target, share } of reports) {
      // Requests that are wider than the share may have more in use already.
      const seats = Math.min(target, held(worker) + Math.max(0, free));
      if (seats <= share) continue;
      free -= Math.max(0, seats - held(worker));
      this.#held.set(worker, Math.max(seats, held(worker)));
      worker.notify(SEAT_TOPICS.share, { name: this.name, share: seats } satisfies ShareChange);
    }
  }

  /** Undefined where it has ended, or does not answer soon. */
  async #ask(worker: Asked, topic: string, content: unknown): Promise<unknown> {
    try {
      const answer = worker.ask(topic, content);
      return await withTimeout(answer, { ms: ANSWER_MS, clock: this.clock, onTimeout: () => undefined });
    } catch {
      return undefined;
    }
  }
}
