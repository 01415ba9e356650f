// Where the meter of virtual time stood when a request was last let in, as metrics show it.
import { GUESSED_MS, type Queue } from './ticket.js';

/** The meter when a request was last let in, and where those that were in line then would begin: in seat-seconds. */
export interface DispatchProgress {
  readonly r: number;
  readonly start: number;
  readonly nextMin: number;
  readonly nextMax: number;
  /** Less the work of their queues that is under way, by the guess. */
  readonly discountedMin: number;
  readonly discountedMax: number;
}

/** Keeps that in seat-milliseconds. */
export class DispatchMeter {
  #r = -1;
  #start = 0;
  #nextMin = 0;
  #nextMax = 0;
  #discountedMin = 0;
  #discountedMax = 0;

  /** Undefined before the first. */
  get last(): DispatchProgress | undefined {
    if (this.#r < 0) return undefined;
    return {
      r: this.#r / 1000,
      start: this.#start / 1000,
      nextMin: this.#nextMin / 1000,
      nextMax: this.#nextMax / 1000,
      discountedMin: this.#discountedMin / 1000,
      discountedMax: this.#discountedMax / 1000,
    };
  }

  /** Before the queues in line are looked at. */
  begin(): void {
    this.#nextMin = this.#discountedMin = Infinity;
    this.#nextMax = this.#discountedMax = -Infinity;
  }

  saw<T>({ nextStart, seatsInUse }: Queue<T>): void {
    const discounted = nextStart - seatsInUse * GUESSED_MS;
    if (nextStart < this.#nextMin) this.#nextMin = nextStart;
    if (nextStart > this.#nextMax) this.#nextMax = nextStart;
    if (discounted < this.#discountedMin) this.#discountedMin = discounted;
    if (discounted > this.#discountedMax) this.#discountedMax = discounted;
  }

  dispatched(r: number, start: number): void {
    this.#r = r;
    this.#start = start;
  }
}
