// What the main thread did lately: a slow request finds here what it waited for. A sample of three counters is kept every
// tenth of a second, for a minute, so that requests pay nothing for it.
import { performance, PerformanceObserver } from 'node:perf_hooks';
import type { Clock } from '../async/clock.js';

const SAMPLE_MS = 100;
const MAX_SAMPLES = 600;

export interface ThreadUse {
  /** The thread worked, for whomever. */
  readonly busyMs: number;
  /** V8 collected garbage and held the thread. */
  readonly collectingMs: number;
  /** The longest time in which the thread reached no timer. */
  readonly longestHoldMs: number;
}

/** Both count up from the start. */
export interface ThreadCounters {
  readonly busyMs: () => number;
  readonly collectingMs: () => number;
}

export class ThreadUseHistory {
  readonly #samples: { readonly atMs: number; readonly busyMs: number; readonly collectingMs: number }[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly counters: ThreadCounters,
  ) {
    this.#sample();
  }

  /** Since a moment of the clock; the sample before it is where counting begins. */
  since(atMs: number): ThreadUse {
    const samples = this.#samples;
    let at = samples.length - 1;
    while (at > 0 && (samples[at]?.atMs ?? 0) > atMs) at--;
    const first = samples[at];
    const busyMs = this.counters.busyMs() - (first?.busyMs ?? 0);
    const collectingMs = this.counters.collectingMs() - (first?.collectingMs ?? 0);
    let longestHoldMs = 0;
    for (; at < samples.length; at++) {
      const next = samples[at + 1]?.atMs ?? this.clock.now();
      longestHoldMs = Math.max(longestHoldMs, next - (samples[at]?.atMs ?? next) - SAMPLE_MS);
    }
    return { busyMs, collectingMs, longestHoldMs };
  }

  #sample(): void {
    const { busyMs, collectingMs } = this.counters;
    this.#samples.push({ atMs: this.clock.now(), busyMs: busyMs(), collectingMs: collectingMs() });
    if (this.#samples.length > MAX_SAMPLES) this.#samples.shift();
    this.clock.after(SAMPLE_MS, () => this.#sample());
  }
}

/** Of the thread that calls it. */
export function threadCounters(): ThreadCounters {
  let collectingMs = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) collectingMs += entry.duration;
  }).observe({ entryTypes: ['gc'] });
  return { busyMs: () => performance.eventLoopUtilization().active, collectingMs: () => collectingMs };
}
