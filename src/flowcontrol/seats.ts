// How many requests a priority level may have under way: its part of the server by shares, what it lends and borrows.
// Pure arithmetic; KEP-1040 has the reasons.

export interface LevelShares {
  readonly shares: number;
  readonly lendablePercent: number;
  /** Undefined: as much as the server has. */
  readonly borrowingLimitPercent: number | undefined;
}

export interface SeatBounds {
  readonly nominal: number;
  /** What is left when all that may be lent is. */
  readonly lower: number;
  /** With all that may be borrowed. */
  readonly upper: number;
}

export function seatBounds(level: LevelShares, totalSeats: number, sumOfShares: number): SeatBounds {
  const nominal = sumOfShares === 0 ? 0 : Math.ceil((totalSeats * level.shares) / sumOfShares);
  const lendable = Math.round((nominal * level.lendablePercent) / 100);
  const borrowable =
    level.borrowingLimitPercent === undefined ? totalSeats : Math.round((nominal * level.borrowingLimitPercent) / 100);
  return { nominal, lower: nominal - lendable, upper: nominal + borrowable };
}

/** The demand of a level's requests since the last round. */
export interface Demand {
  readonly high: number;
  readonly average: number;
  readonly deviation: number;
  readonly smoothed: number;
}

export const NO_DEMAND: Demand = { high: 0, average: 0, deviation: 0, smoothed: 0 };

const SMOOTHING = 0.977;

/** Rises at once with demand, and falls slowly after it. */
export function smoothedDemand(before: Demand, seen: SeenDemand): Demand {
  const high = Math.round(seen.max);
  if (seen.seconds <= 0) return { ...before, high };
  const envelope = seen.average + seen.deviation;
  const smoothed = Math.max(envelope, SMOOTHING * before.smoothed + (1 - SMOOTHING) * envelope);
  return { high, average: seen.average, deviation: seen.deviation, smoothed };
}

export interface SeenDemand {
  readonly seconds: number;
  readonly max: number;
  readonly average: number;
  readonly deviation: number;
}

/** What several processes saw in the same time, as one. */
export function sumOfDemand(seen: readonly SeenDemand[]): SeenDemand {
  const sum = (of: (one: SeenDemand) => number): number => seen.reduce((all, one) => all + of(one), 0);
  return {
    seconds: seen.reduce((longest, { seconds }) => Math.max(longest, seconds), 0),
    max: sum(({ max }) => max),
    average: sum(({ average }) => average),
    // Each strays by itself: what is added are variances.
    deviation: Math.sqrt(sum(({ deviation }) => deviation * deviation)),
  };
}

/** Follows a number that changes from time to time: its greatest value, its average over time and how far it strays. */
export class DemandMeter {
  #value = 0;
  #max = 0;
  #sinceMs: number;
  #seconds = 0;
  #sum = 0;
  #sumOfSquares = 0;

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
  }

  // hot: every request, twice
  set(value: number, nowMs: number): void {
    this.#advance(nowMs);
    this.#value = value;
    if (value > this.#max) this.#max = value;
  }

  /** Returns the demand since the last call, and starts anew. */
  take(nowMs: number): SeenDemand {
    this.#advance(nowMs);
    const seconds = this.#seconds;
    const average = seconds > 0 ? this.#sum / seconds : 0;
    const variance = seconds > 0 ? this.#sumOfSquares / seconds - average * average : 0;
    const seen = { seconds, max: this.#max, average, deviation: Math.sqrt(Math.max(0, variance)) };
    this.#seconds = this.#sum = this.#sumOfSquares = 0;
    this.#max = this.#value;
    return seen;
  }

  #advance(nowMs: number): void {
    const seconds = (nowMs - this.#sinceMs) / 1000;
    this.#sinceMs = nowMs;
    this.#seconds += seconds;
    this.#sum += this.#value * seconds;
    this.#sumOfSquares += this.#value * this.#value * seconds;
  }
}

export interface LevelNeed {
  readonly name: string;
  readonly exempt: boolean;
  readonly bounds: SeatBounds;
  readonly demand: Demand;
}

export interface Rebalanced {
  /** Seats of each level until the next round. */
  readonly seats: ReadonlyMap<string, number>;
  /** What each level was meant to get, before there was too much or too little of it. */
  readonly targets: ReadonlyMap<string, number>;
  /** How much of its target each level gets that neither of its bounds holds. */
  readonly fairFraction: number;
}

/** Lends the seats of levels that need less to those that need more. */
export function rebalance(levels: readonly LevelNeed[], nominalSum: number): Rebalanced {
  const seats = new Map<string, number>();
  const targets = new Map<string, number>();
  const limited: {
    readonly name: string;
    readonly least: number;
    readonly level: LevelNeed;
    readonly target: number;
  }[] = [];
  let remaining = nominalSum;
  for (const level of levels) {
    const { name, bounds, demand } = level;
    if (level.exempt) {
      const current = Math.max(bounds.lower, demand.high);
      seats.set(name, current);
      targets.set(name, current);
      remaining -= current;
      continue;
    }
    const least = Math.max(bounds.lower, Math.min(bounds.nominal, demand.high));
    const target = Math.max(least, demand.smoothed);
    targets.set(name, target);
    limited.push({ name, least, level, target });
  }
  const lowerSum = limited.reduce((sum, { level }) => sum + level.bounds.lower, 0);
  const leastSum = limited.reduce((sum, { least }) => sum + least, 0);
  if (remaining <= lowerSum) {
    for (const { name, level } of limited) seats.set(name, level.bounds.lower);
    return { seats, targets, fairFraction: 0 };
  }
  if (remaining <= leastSum) {
    const part = (remaining - lowerSum) / (leastSum - lowerSum);
    for (const { name, least, level } of limited) {
      seats.set(name, level.bounds.lower + Math.round((least - level.bounds.lower) * part));
    }
    return { seats, targets, fairFraction: 0 };
  }
  const shares = limited.map(({ least, level, target }) => ({ least, most: level.bounds.upper, target }));
  const { parts, fraction } = divide(nominalSum, shares);
  limited.forEach(({ name }, i) => seats.set(name, Math.round(parts[i] ?? 0)));
  return { seats, targets, fairFraction: fraction };
}

export interface Share {
  readonly least: number;
  readonly most: number;
  readonly target: number;
}

/** No target is smaller: nobody's part may be a part of nothing. */
const SMALLEST_TARGET = 0.001;

/**
 * Divides a sum so that each gets the same fraction of its target, but never less than its least or more than its most.
 * The sum of all parts grows with the fraction and has a corner wherever one meets a bound: between two corners it is a
 * straight line.
 */
export function divide(sum: number, shares: readonly Share[]): { readonly parts: number[]; readonly fraction: number } {
  const targets = shares.map(({ target }) => Math.max(target, SMALLEST_TARGET));
  const partsAt = (fraction: number): number[] =>
    shares.map(({ least, most }, i) => Math.max(least, Math.min(most, fraction * (targets[i] ?? 0))));
  const total = (fraction: number): number => partsAt(fraction).reduce((a, b) => a + b, 0);
  const corners = shares
    .flatMap(({ least, most }, i) => [least / (targets[i] ?? 1), most / (targets[i] ?? 1)])
    .sort((a, b) => a - b);
  let below = corners[0] ?? 0;
  for (const corner of corners) {
    const reached = total(corner);
    if (reached >= sum) {
      const from = total(below);
      const fraction = reached === from ? corner : below + ((corner - below) * (sum - from)) / (reached - from);
      return { parts: partsAt(fraction), fraction };
    }
    below = corner;
  }
  return { parts: partsAt(below), fraction: below };
}
