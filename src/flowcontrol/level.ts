// One priority level: its requests with their seats and queues, its bounds, and its metrics.
import type { Clock } from '../lib/async/clock.js';
import type { RequestInfo } from '../machinery/request-info.js';
import type { UserInfo } from '../machinery/user.js';
import type { OpenSeatPool, SeatHolder, SeatPool } from '../workers/seat-pool.js';
import type { PriorityLevelConfigurationSpec } from '../schema/generated/flowcontrol.v1.js';
import { FairQueues, type QueueLimits, type QueueObserver, type Refusal } from './fair-queues.js';
import { Ticket, type TicketParts } from './ticket.js';
import type { LevelMetrics, SchemaMetrics } from './metrics.js';
import { RetryAfter } from './retry-after.js';
import { type Demand, NO_DEMAND, type SeatBounds, type SeenDemand, smoothedDemand } from './seats.js';

/** What a ticket is for. */
export interface LevelSubject {
  readonly info: RequestInfo;
  readonly user: UserInfo;
  readonly metrics: SchemaMetrics;
}

export interface LevelOptions {
  readonly clock: Clock;
  readonly metrics: LevelMetrics;
  readonly openSeatPool: OpenSeatPool;
  /** The last request of a level that is going away was answered. */
  readonly onIdle: () => void;
}

export interface LevelConfiguration {
  readonly uid: string;
  readonly spec: PriorityLevelConfigurationSpec;
  readonly quiescing: boolean;
  readonly bounds: SeatBounds;
}

const NO_BOUNDS: SeatBounds = { nominal: 0, lower: 0, upper: 0 };
/** No single request uses more of its level. */
const MAX_SEATS_PART = 0.15;

export class PriorityLevel implements SeatHolder {
  readonly #options: LevelOptions;
  #configuration: LevelConfiguration | undefined;
  #queues: FairQueues<LevelSubject> | undefined;
  #limits: QueueLimits = { queues: 0, handSize: 1, queueLengthLimit: 1 };
  #retryAfter = new RetryAfter();
  readonly #pool: SeatPool;
  /** Of this and all other processes of the server. */
  seats = 0;
  demand: Demand = NO_DEMAND;
  /** The most seats one request may use; 0 where the level does not limit it. */
  maxSeats = 0;

  constructor(
    readonly name: string,
    options: LevelOptions,
  ) {
    this.#options = options;
    this.#pool = options.openSeatPool(`level/${name}`, this);
  }

  get uid(): string {
    return this.#configuration?.uid ?? '';
  }

  get spec(): PriorityLevelConfigurationSpec {
    return this.#configuration?.spec ?? { type: 'Limited' };
  }

  get bounds(): SeatBounds {
    return this.#configuration?.bounds ?? NO_BOUNDS;
  }

  get quiescing(): boolean {
    return this.#configuration?.quiescing ?? false;
  }

  get exempt(): boolean {
    return this.spec.type === 'Exempt';
  }

  get idle(): boolean {
    return this.queues.idle;
  }

  /** Flows share one queue where there is only one, and none matter where there are no queues. */
  get distinguishesFlows(): boolean {
    return (this.#limits.queues ?? 0) > 1;
  }

  get queues(): FairQueues<LevelSubject> {
    return (this.#queues ??= new FairQueues(this.#limits, this.#options.clock, this.#observer()));
  }

  configure(configuration: LevelConfiguration): void {
    const isNew = this.#configuration === undefined;
    const { bounds, spec } = configuration;
    this.#configuration = configuration;
    this.#limits = limitsOf(spec);
    const { queues, handSize } = this.#limits;
    if ((queues ?? 0) > 0) {
      const part = Math.min(Math.ceil(bounds.nominal * MAX_SEATS_PART), Math.floor(bounds.nominal / handSize));
      this.maxSeats = Math.max(1, part);
    }
    if (isNew) this.seats = bounds.nominal - Math.floor((bounds.nominal - bounds.lower) / 2);
    this.#options.metrics.limits(bounds);
    this.#pool.setTotal(this.seats);
    this.queues.configure(this.#limits, this.#share, this.#share < this.seats);
  }

  /** The level is gone. */
  close(): void {
    this.#pool.close();
  }

  /** Of this process, since the last call. */
  takeDemand(): SeenDemand {
    return this.queues.demand.take(this.#options.clock.now());
  }

  addDemand(seen: SeenDemand): void {
    this.demand = smoothedDemand(this.demand, seen);
  }

  rebalanced(seats: number, target: number): void {
    this.seats = seats;
    this.#options.metrics.rebalanced(this.demand, target, seats);
    this.#pool.setTotal(seats);
    this.resized();
  }

  get seatsInUse(): number {
    return this.queues.seatsInUse;
  }

  get seatsWanted(): number {
    return this.queues.seatsInUse + this.queues.waitingSeats;
  }

  resized(): void {
    this.queues.setSeats(this.#share, this.#share < this.seats);
  }

  /** Seats that requests of this process may use. */
  get #share(): number {
    return this.exempt ? this.seats : this.#pool.share;
  }

  // hot: every request
  ticket(parts: TicketParts<LevelSubject>): Ticket<LevelSubject> {
    const ticket = new Ticket(parts);
    parts.subject.metrics.estimatedSeats.observe(ticket.seats);
    return ticket;
  }

  // hot: every request
  enter(ticket: Ticket<LevelSubject>): 'execute' | 'wait' | Refusal {
    const outcome = this.queues.enter(ticket);
    if (outcome === 'execute') this.#started(ticket);
    else if (outcome === 'wait') void this.#pool.requestMore();
    return outcome;
  }

  /** For a ticket that found no room: fulfilled when it may enter again. Undefined where other processes have no seats to spare. */
  requestSeats({ seats }: Ticket<LevelSubject>): Promise<void> | undefined {
    return this.#pool.requestMore(seats);
  }

  refuse(ticket: Ticket<LevelSubject>, why: Refusal): void {
    this.queues.refused();
    this.#refused(ticket, why);
  }

  /** For a ticket that had to wait and has got its seats. */
  started(ticket: Ticket<LevelSubject>): void {
    this.#started(ticket);
  }

  leave(ticket: Ticket<LevelSubject>): void {
    this.queues.leave(ticket);
    this.#refused(ticket, 'time-out');
    this.#reportIfIdle();
  }

  // hot: every request
  /** Answers when that was, by the clock. */
  finish(ticket: Ticket<LevelSubject>): number {
    const { metrics, info } = ticket.subject;
    const nowMs = this.#options.clock.now();
    metrics.executed((nowMs - (ticket.startedMs ?? nowMs)) / 1000, info.verb === 'watch');
    this.queues.finish(ticket);
    this.#reportIfIdle();
    return nowMs;
  }

  /** Notes a refusal, and says when to come again. */
  retryAfterSeconds(): number {
    // Wall-clock seconds do not matter, only how many lie between refusals.
    this.#retryAfter.refused(this.#options.clock.now());
    return this.#retryAfter.seconds;
  }

  #started(ticket: Ticket<LevelSubject>): void {
    const { metrics } = ticket.subject;
    if (!this.exempt) metrics.waited(((ticket.startedMs ?? 0) - ticket.arrivedMs) / 1000, true);
    metrics.dispatched.inc();
  }

  #refused(ticket: Ticket<LevelSubject>, why: Refusal): void {
    const { metrics } = ticket.subject;
    metrics.rejected(why);
    metrics.waited((this.#options.clock.now() - ticket.arrivedMs) / 1000, why === 'time-out');
  }

  #reportIfIdle(): void {
    if (this.quiescing && this.queues.idle) this.#options.onIdle();
  }

  #observer(): QueueObserver<LevelSubject> {
    const { metrics } = this.#options;
    return {
      waiting: ({ subject, seats }, by) => subject.metrics.inQueue(by, by * seats),
      executing: ({ subject }, by) => subject.metrics.executingRequests.add(by),
      seatsHeld: ({ subject, seats }, by) => subject.metrics.executingSeats.add(by * seats),
      enqueued: ({ subject }, length) => {
        subject.metrics.inQueue(0, 0);
        subject.metrics.queueLength(length);
      },
      noRoom: ({ subject }) => subject.metrics.noAccommodation(),
      epochAdvanced: () => metrics.epochAdvanced(),
      demand: (inUse, waitingSeats, nowMs) => {
        if (!metrics.isDue(nowMs)) return;
        const { waiting = 0, executing = 0 } = this.#queues ?? {};
        const { queues = 0, queueLengthLimit } = this.#limits;
        const queueRoom = queues * queueLengthLimit;
        const state = {
          demandedSeats: inUse + waitingSeats,
          seatsInUse: inUse,
          waiting,
          executing,
          seats: this.#share,
          queueRoom,
        };
        metrics.utilization(state, nowMs);
      },
    };
  }
}

function limitsOf({ type, limited }: PriorityLevelConfigurationSpec): QueueLimits {
  if (type === 'Exempt') return { queues: undefined, handSize: 1, queueLengthLimit: 1 };
  const queuing = limited?.limitResponse?.queuing;
  if (queuing == null) return { queues: 0, handSize: 1, queueLengthLimit: 1 };
  const { queues, handSize, queueLengthLimit } = queuing;
  return { queues, handSize, queueLengthLimit };
}
