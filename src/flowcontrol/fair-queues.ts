// The requests of one priority level: those that have seats, and the queues of those that wait for one.
//
// Fairness is by virtual time (fair queuing for server requests, KEP-1040). R is a meter of seat-milliseconds that each
// busy queue would have had, had all been served side by side. A queue's `nextStart` is where on that meter its next
// request begins; the head whose end comes first is served next:
//
//     queue 0  nextStart 10  head needs 3  → ends at 13   ← next
//     queue 1  nextStart 12  head needs 9  → ends at 21
//
// A request is dispatched with a guess of its time; when it ends, its queue's `nextStart` is put right.
import type { Clock } from '../lib/async/clock.js';
import { DispatchMeter, type DispatchProgress } from './dispatch-progress.js';
import { DemandMeter } from './seats.js';
import { ShuffleShard } from './shuffle-shard.js';
import { GUESSED_MS, headOf, newQueue, type Queue, type Ticket } from './ticket.js';
import { TicketList } from './ticket-list.js';

/** Seat-milliseconds: from here on the meter could not distinguish microseconds any more. */
const HIGH_R = 2 ** 42;

export interface QueueLimits {
  /** How many queues; 0 refuses what finds no seat, undefined seats everybody. */
  readonly queues: number | undefined;
  readonly handSize: number;
  readonly queueLengthLimit: number;
}

export type Refusal = 'queue-full' | 'concurrency-limit' | 'time-out';

/** What happens to requests, as metrics count it; `seats` are what the request holds. */
export interface QueueObserver<T> {
  waiting(ticket: Ticket<T>, by: 1 | -1): void;
  executing(ticket: Ticket<T>, by: 1 | -1): void;
  seatsHeld(ticket: Ticket<T>, by: 1 | -1): void;
  enqueued(ticket: Ticket<T>, length: number): void;
  noRoom(ticket: Ticket<T>): void;
  /** The meter of virtual time was set back. */
  epochAdvanced?(): void;
  /** Seats in use and seats wanted by those that wait, after every change. */
  demand(inUse: number, waiting: number, nowMs: number): void;
}

export class FairQueues<T> {
  readonly #clock: Clock;
  readonly #observe: QueueObserver<T>;
  #limits: QueueLimits;
  #seats = 0;
  /** Other processes have the rest. */
  #isShare = false;
  #shard: ShuffleShard | undefined;
  #queues: Queue<T>[] = [];
  /** Those with someone in line. */
  readonly #inLine = new Set<Queue<T>>();
  /** Requests that have seats and came by no queue. */
  readonly #queueless = new TicketList<Ticket<T>>();
  readonly demand: DemandMeter;
  #r = 0;
  #lastMs: number;
  #busyQueues = 0;
  /** Index of the queue last served. */
  #robin = 0;
  #enqueues = 0;
  readonly #dispatches = new DispatchMeter();
  waiting = 0;
  waitingSeats = 0;
  executing = 0;
  seatsInUse = 0;
  dispatched = 0;
  rejected = 0;
  cancelled = 0;

  constructor(limits: QueueLimits, clock: Clock, observe: QueueObserver<T>) {
    this.#clock = clock;
    this.#observe = observe;
    this.#limits = limits;
    this.#lastMs = clock.now();
    this.demand = new DemandMeter(this.#lastMs);
    this.configure(limits, 0);
  }

  get queues(): readonly Queue<T>[] {
    return this.#queues;
  }

  get queueless(): Iterable<Ticket<T>> {
    return this.#queueless;
  }

  get idle(): boolean {
    return this.waiting === 0 && this.executing === 0;
  }

  /** The meter of virtual time, in seat-seconds. */
  get progress(): number {
    return this.#r / 1000;
  }

  get lastDispatch(): DispatchProgress | undefined {
    return this.#dispatches.last;
  }

  /** Queues that are too many go when they are empty. */
  configure(limits: QueueLimits, seats: number, isShare = false): void {
    this.#sync();
    const { queues = 0, handSize } = limits;
    for (let index = this.#queues.length; index < queues; index++) this.#queues.push(newQueue(index));
    if (
      queues > 0 &&
      (this.#limits.queues !== queues || this.#limits.handSize !== handSize || this.#shard === undefined)
    ) {
      this.#shard = new ShuffleShard(queues, handSize);
    }
    this.#limits = limits;
    this.#seats = seats;
    this.#isShare = isShare;
    this.#dispatch();
  }

  /** `isShare`: the level has more seats, in other processes. */
  setSeats(seats: number, isShare = false): void {
    this.#sync();
    this.#seats = seats;
    this.#isShare = isShare;
    this.#dispatch();
  }

  // hot: every request
  /**
   * `execute`: it has its seats. `wait`: its `start` is called when it has, unless it leaves before. Else it may enter again
   * when there are more seats; `refused` counts it when it does not.
   */
  enter(ticket: Ticket<T>): 'execute' | 'wait' | Refusal {
    const nowMs = this.#sync();
    ticket.arrivedMs = nowMs;
    ticket.arrivalR = this.#r;
    const { queues } = this.#limits;
    if (queues === undefined || queues === 0) {
      if (!this.#fits(ticket.seats)) return 'concurrency-limit';
      this.#queueless.add(ticket);
      this.#hold(ticket, nowMs);
      return 'execute';
    }
    const queue = this.#pick(ticket);
    if (this.seatsInUse >= this.#seats && queue.waiting.size >= this.#limits.queueLengthLimit) {
      return 'queue-full';
    }
    ticket.queue = queue;
    if (queue.waiting.size === 0 && queue.executing.size === 0) {
      queue.nextStart = this.#r;
      this.#busyQueues++;
    }
    // Nobody is in line anywhere: whoever comes would be served next anyway.
    if (this.waiting === 0 && this.seatsInUse < this.#seats && this.#fits(ticket.seats)) {
      this.#observe.enqueued(ticket, 1);
      this.#robin = queue.index;
      this.#dispatches.begin();
      this.#dispatches.saw(queue);
      this.#begin(queue, ticket, nowMs);
      return 'execute';
    }
    this.#join(queue, ticket);
    this.#observe.enqueued(ticket, queue.waiting.size);
    this.#reportDemand(nowMs);
    this.#dispatch(ticket);
    return ticket.startedMs === undefined ? 'wait' : 'execute';
  }

  refused(): void {
    this.rejected++;
  }

  /** One that waits gives up: it may have waited too long, or its client is gone. */
  leave(ticket: Ticket<T>): void {
    const { queue } = ticket;
    if (queue === undefined || ticket.startedMs !== undefined) return;
    const nowMs = this.#sync();
    if (!this.#unjoin(queue, ticket)) return;
    this.rejected++;
    this.cancelled++;
    this.#bound(queue);
    this.#settle(queue);
    this.#reportDemand(nowMs);
    this.#dispatch();
  }

  // hot: every request
  /** The request was answered. */
  finish(ticket: Ticket<T>): void {
    const nowMs = this.#sync();
    this.executing--;
    this.#observe.executing(ticket, -1);
    const { queue } = ticket;
    if (queue === undefined) this.#queueless.delete(ticket);
    else {
      queue.executing.delete(ticket);
      const tookMs = nowMs - (ticket.startedMs ?? nowMs);
      queue.nextStart += ticket.estimate.initialSeats * (tookMs - GUESSED_MS);
      this.#bound(queue);
      if (queue.waiting.size === 0 && queue.executing.size === 0) this.#busyQueues--;
    }
    if (ticket.lingerMs <= 0) this.#release(ticket, nowMs);
    else this.#clock.after(ticket.lingerMs, () => this.#release(ticket, this.#sync()));
    this.#dispatch();
  }

  /** Time goes on by the state that was in effect until now. */
  #sync(): number {
    const nowMs = this.#clock.now();
    if (this.#busyQueues > 0) {
      const wanted = Math.min(this.seatsInUse + this.waitingSeats, this.#seats);
      this.#r += (wanted / this.#busyQueues) * (nowMs - this.#lastMs);
    }
    this.#lastMs = nowMs;
    if (this.#r >= HIGH_R) this.#advanceEpoch(Math.floor(this.#r / HIGH_R) * HIGH_R);
    return nowMs;
  }

  /** The meter only ever grows, and the larger it is, the coarser: it is set back, and all that stands on it. */
  #advanceEpoch(by: number): void {
    this.#r -= by;
    for (const queue of this.#queues) {
      // One without requests begins anew with the next.
      if (queue.waiting.size === 0 && queue.executing.size === 0) queue.nextStart = 0;
      else queue.nextStart -= by;
      for (const ticket of queue.waiting) ticket.arrivalR -= by;
    }
    this.#observe.epochAdvanced?.();
  }

  #fits(seats: number): boolean {
    if (this.#limits.queues === undefined) return true;
    // One that is wider than the level gets it for itself.
    if (seats > this.#seats) return this.executing === 0 && (this.#seats > 0 || !this.#isShare);
    return this.seatsInUse + seats <= this.#seats;
  }

  /** The queue of the flow's hand with the least work in line. */
  #pick(ticket: Ticket<T>): Queue<T> {
    const hand = this.#shard?.handOf(ticket.schema, ticket.distinguisher) ?? [0];
    const offset = this.#enqueues++ % hand.length;
    let best: Queue<T> | undefined;
    for (let i = 0; i < hand.length; i++) {
      const queue = this.#queues[hand[(offset + i) % hand.length] ?? 0];
      if (queue !== undefined && (best === undefined || queue.waitingWork < best.waitingWork)) best = queue;
    }
    if (best === undefined) throw new Error('a level with queues has none');
    return best;
  }

  #join(queue: Queue<T>, ticket: Ticket<T>): void {
    queue.waiting.add(ticket);
    queue.waitingInitialSeats += ticket.estimate.initialSeats;
    queue.waitingSeats += ticket.seats;
    queue.waitingWork += ticket.work;
    this.#inLine.add(queue);
    this.waiting++;
    this.waitingSeats += ticket.seats;
    this.#observe.waiting(ticket, 1);
  }

  #unjoin(queue: Queue<T>, ticket: Ticket<T>): boolean {
    if (!queue.waiting.delete(ticket)) return false;
    queue.waitingInitialSeats -= ticket.estimate.initialSeats;
    queue.waitingSeats -= ticket.seats;
    queue.waitingWork -= ticket.work;
    if (queue.waiting.size === 0) this.#inLine.delete(queue);
    this.waiting--;
    this.waitingSeats -= ticket.seats;
    this.#observe.waiting(ticket, -1);
    return true;
  }

  /** `newcomer` learns its seat from the result of `enter`, not from its `start`. */
  #dispatch(newcomer?: Ticket<T>): void {
    while (this.waiting > 0 && this.seatsInUse < this.#seats) {
      const queue = this.#next();
      const ticket = queue === undefined ? undefined : headOf(queue);
      if (queue === undefined || ticket === undefined) return;
      if (!this.#fits(ticket.seats)) {
        this.#observe.noRoom(ticket);
        return;
      }
      this.#robin = queue.index;
      this.#unjoin(queue, ticket);
      this.#begin(queue, ticket, this.#lastMs);
      if (ticket !== newcomer) ticket.start();
    }
  }

  /** Whose head would end first; of equals the next after the queue last served. */
  #next(): Queue<T> | undefined {
    let best: Queue<T> | undefined;
    let bestEnd = Infinity;
    let bestDistance = Infinity;
    this.#dispatches.begin();
    for (const queue of this.#inLine) {
      const head = headOf(queue);
      if (head === undefined) continue;
      this.#dispatches.saw(queue);
      const end = queue.nextStart + head.work;
      const distance = (queue.index - this.#robin - 1 + this.#queues.length) % this.#queues.length;
      if (end > bestEnd || (end === bestEnd && distance > bestDistance)) continue;
      best = queue;
      bestEnd = end;
      bestDistance = distance;
    }
    return best;
  }

  #begin(queue: Queue<T>, ticket: Ticket<T>, nowMs: number): void {
    // More than the level has is stretched over time: the work stays the same.
    if (ticket.finalSeats > this.#seats && this.#seats > 0) {
      ticket.lingerMs = (ticket.finalSeats * ticket.lingerMs) / this.#seats;
      ticket.finalSeats = this.#seats;
    }
    this.#dispatches.dispatched(this.#r, queue.nextStart);
    queue.executing.add(ticket);
    queue.seatsInUse += ticket.seats;
    queue.nextStart += ticket.work;
    this.#bound(queue);
    this.#hold(ticket, nowMs);
  }

  #hold(ticket: Ticket<T>, nowMs: number): void {
    ticket.startedMs = nowMs;
    this.executing++;
    this.dispatched++;
    this.seatsInUse += ticket.seats;
    this.#observe.executing(ticket, 1);
    this.#observe.seatsHeld(ticket, 1);
    this.#reportDemand(nowMs);
  }

  #release(ticket: Ticket<T>, nowMs: number): void {
    const { queue } = ticket;
    this.seatsInUse -= ticket.seats;
    this.#observe.seatsHeld(ticket, -1);
    if (queue !== undefined) {
      queue.seatsInUse -= ticket.seats;
      this.#removeIfSpare(queue);
    }
    this.#reportDemand(nowMs);
    if (ticket.lingerMs > 0) this.#dispatch();
  }

  /** A queue that could not be served does not accumulate virtual time. */
  #bound(queue: Queue<T>): void {
    const head = headOf(queue);
    if (head !== undefined && queue.nextStart < head.arrivalR) queue.nextStart = head.arrivalR;
  }

  #settle(queue: Queue<T>): void {
    if (queue.waiting.size > 0 || queue.executing.size > 0) return;
    this.#busyQueues--;
    this.#removeIfSpare(queue);
  }

  #removeIfSpare(queue: Queue<T>): void {
    const { queues = 0 } = this.#limits;
    if (this.#queues.length <= queues || queue.waiting.size > 0 || queue.executing.size > 0) return;
    this.#queues = this.#queues.filter((other) => other !== queue);
    this.#queues.forEach((other, index) => (other.index = index));
    if (this.#robin >= queue.index && this.#robin > 0) this.#robin--;
  }

  #reportDemand(nowMs: number): void {
    this.demand.set(this.seatsInUse + this.waitingSeats, nowMs);
    this.#observe.demand(this.seatsInUse, this.waitingSeats, nowMs);
  }
}
