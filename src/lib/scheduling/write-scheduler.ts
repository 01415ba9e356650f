// Writes wait for the end of the event loop iteration, so that responses made meanwhile leave together. Thousands of
// connections may have something to send at once, or hundreds may have much: the flush then yields in between.
import type { Writable } from 'node:stream';

/** A flush writes to so many connections, in some five ms. */
export const MAX_CONNECTIONS_PER_FLUSH = 256;
/** A flush encrypts so many bytes, in some five ms. */
export const MAX_WRITTEN_BYTES = 2 * 1024 * 1024;
/** Of the connections scheduled while others are queued, so many go first. The others join the queue. */
export const MAX_AHEAD_OF_QUEUE = 16;

export interface Flushed {
  /** A client waits for the response and sends its next request after it; watch events have time. */
  readonly hasAnswer: boolean;
  /** Writes what is pending, and returns how many bytes it wrote. */
  flush(): number;
}

export class WriteScheduler {
  #waiting: Flushed[] = [];
  /** Connections of earlier flushes, from `#next` on. */
  #left: Flushed[] = [];
  #next = 0;
  #scheduled = false;
  /** Written since the last flush. */
  #bytes = 0;

  /** The caller schedules a connection at most once until its flush(). */
  schedule(connection: Flushed): void {
    this.#waiting.push(connection);
    this.#scheduleFlush();
  }

  /** Counts bytes that were written outside a flush. */
  wrote(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Enough was written: further writes wait for the next flush. */
  get exhausted(): boolean {
    return this.#bytes >= MAX_WRITTEN_BYTES;
  }

  #scheduleFlush(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#end);
  }

  readonly #end = (): void => {
    this.#scheduled = false;
    this.#bytes = 0;
    const waiting = answersFirst(this.#waiting);
    this.#waiting = [];
    const most = Math.min(waiting.length, this.#left.length > 0 ? MAX_AHEAD_OF_QUEUE : MAX_CONNECTIONS_PER_FLUSH);
    let first = 0;
    while (first < most && !this.exhausted) this.wrote((waiting[first++] as Flushed).flush());
    for (let i = first; i < waiting.length; i++) this.#left.push(waiting[i] as Flushed);
    if (this.#left.length > 0) this.#resume(MAX_CONNECTIONS_PER_FLUSH - first);
  };

  #resume(count: number): void {
    const end = Math.min(this.#left.length, this.#next + count);
    while (this.#next < end && !this.exhausted) this.wrote((this.#left[this.#next++] as Flushed).flush());
    if (this.#next < this.#left.length) return this.#scheduleFlush();
    this.#left = [];
    this.#next = 0;
  }
}

/** Otherwise a client whose write thousands watch would get its response after all of the watch events. */
function answersFirst(waiting: Flushed[]): Flushed[] {
  if (waiting.length === 1) return waiting;
  const others: Flushed[] = [];
  const ordered: Flushed[] = [];
  for (const connection of waiting) (connection.hasAnswer ? ordered : others).push(connection);
  for (const connection of others) ordered.push(connection);
  return ordered;
}

/** Of all connections, whatever they speak. */
export const writeScheduler = new WriteScheduler();

/** What is written to a stream in one event loop iteration leaves in one write. */
export class GatheredWrites implements Flushed {
  readonly hasAnswer = false;
  #gathering = false;

  constructor(private readonly output: Writable) {}

  /** Called before each write. */
  gather(): void {
    if (this.#gathering) return;
    this.#gathering = true;
    this.output.cork();
    writeScheduler.schedule(this);
  }

  flush(): number {
    this.#gathering = false;
    const { writableLength } = this.output;
    this.output.uncork();
    return writableLength;
  }
}
