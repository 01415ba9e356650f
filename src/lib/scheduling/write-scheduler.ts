// Writes wait for the end of the turn, so that what was answered meanwhile leaves together. Thousands of connections may
// have something to send at once, or hundreds much: the others then have their turn in between.
import type { Writable } from 'node:stream';

/** So many are written to in one turn, in some five ms. */
export const MAX_CONNECTIONS_PER_FLUSH = 256;
/** And so many bytes are encrypted, in as long. */
export const MAX_WRITTEN_BYTES = 2 * 1024 * 1024;
/** Of those that come while others wait, which have one answer each, so many go first. The others wait in line. */
export const MAX_AHEAD_OF_QUEUE = 16;

export interface Flushed {
  /** Somebody waits for it, and will ask for more: what is only told to those who watch has time. */
  readonly hasAnswer: boolean;
  /** Tells how many bytes it wrote. */
  flush(): number;
}

export class WriteScheduler {
  #waiting: Flushed[] = [];
  /** Of earlier turns, from `#next` on. */
  #left: Flushed[] = [];
  #next = 0;
  #asked = false;
  /** Since the last end of a turn. */
  #bytes = 0;

  /** Whoever asks sees to it that it asks once. */
  schedule(connection: Flushed): void {
    this.#waiting.push(connection);
    this.#ask();
  }

  /** For what was written before this turn's end. */
  wrote(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Enough was written: whoever goes on does so at the end of the turn. */
  get exhausted(): boolean {
    return this.#bytes >= MAX_WRITTEN_BYTES;
  }

  #ask(): void {
    if (this.#asked) return;
    this.#asked = true;
    setImmediate(this.#end);
  }

  readonly #end = (): void => {
    this.#asked = false;
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
    if (this.#next < this.#left.length) return this.#ask();
    this.#left = [];
    this.#next = 0;
  }
}

/** Whoever wrote something that thousands watch would else read the answer, and go on, after all of them were told. */
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

/** What is written to a stream in one turn leaves it in one write. */
export class GatheredWrites implements Flushed {
  readonly hasAnswer = false;
  #gathering = false;

  constructor(private readonly output: Writable) {}

  /** To be asked before each write. */
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
