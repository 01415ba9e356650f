// Events that watches have not been able to send yet. Each watch has its own queue, and writes the next events to its
// connection once the connection has drained: a connection copies and encrypts its bytes, a queue only points at events,
// which watches share.
//
//   watch 1   ▪▪▪▪▪▪▪▪ → connection        an event that several queues point at is held once, and counted once
//   watch 2       ▪▪▪▪ → connection
//
// When all of them together hold too much, those that are furthest behind end, and their clients start over.
import type { ResponseSink } from '../../lib/http/http.js';

/** A client with so many unread bytes counts as gone or too slow. */
const MAX_OF_ONE_BYTES = 32 * 1024 * 1024;
const MAX_TOGETHER_BYTES = 256 * 1024 * 1024;
/** So far the slowest end, so that the next event does not end one more. */
const ENOUGH_FREED = 0.75;

export class WatchBuffers {
  readonly #open = new Set<PacedOutput>();
  /** How many queues each event stands in. */
  readonly #queued = new Map<Buffer, number>();
  #bytes = 0;

  constructor(private readonly maxBytes: number = MAX_TOGETHER_BYTES) {}

  /** What is held for all watches together. */
  get bytes(): number {
    return this.#bytes;
  }

  /** `ended`: called when the client was too slow, or the output is not needed any more. */
  open(sink: ResponseSink, ended: () => void): PacedOutput {
    const output = new PacedOutput(sink, this, ended);
    this.#open.add(output);
    return output;
  }

  close(output: PacedOutput): void {
    this.#open.delete(output);
  }

  /** Of a connection: its copy is its own. */
  copied(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.maxBytes) this.#endSlowest();
  }

  queued(event: Buffer): void {
    const queues = this.#queued.get(event) ?? 0;
    this.#queued.set(event, queues + 1);
    if (queues === 0) this.copied(event.length);
  }

  unqueued(event: Buffer): void {
    const queues = this.#queued.get(event) ?? 0;
    if (queues > 1) return void this.#queued.set(event, queues - 1);
    this.#queued.delete(event);
    this.#bytes -= event.length;
  }

  #endSlowest(): void {
    const slowest = [...this.#open].sort((a, b) => b.unreadBytes - a.unreadBytes);
    for (const output of slowest) {
      if (this.#bytes <= this.maxBytes * ENOUGH_FREED || output.unreadBytes === 0) return;
      output.end();
    }
  }
}

/** Of those that have nothing waiting, which are nearly all. */
const NONE: Buffer[] = [];

/** Writes events as fast as a client reads them, and keeps the others meanwhile. */
export class PacedOutput {
  #over = false;
  #queue: Buffer[] = NONE;
  #next = 0;
  #queuedBytes = 0;
  /** With the connection, which has not sent them yet. */
  #sentBytes = 0;
  #whenEmpty: (() => void)[] | undefined;

  constructor(
    private readonly sink: ResponseSink,
    private readonly all: WatchBuffers,
    private readonly ended: () => void,
  ) {}

  get over(): boolean {
    return this.#over;
  }

  get unreadBytes(): number {
    return this.#queuedBytes + this.#sentBytes;
  }

  // hot: every watcher on every batch of events.
  write(event: Buffer): void {
    if (this.#over) return;
    if (this.#sentBytes === 0) return this.#send(event);
    if (this.#queue === NONE) this.#queue = [];
    this.#queue.push(event);
    this.#queuedBytes += event.length;
    this.all.queued(event);
    if (this.#queuedBytes > MAX_OF_ONE_BYTES) this.end();
  }

  /** Resolves when nothing waits any more, or never will. */
  drained(): Promise<void> {
    if (this.#sentBytes === 0 || this.#over) return Promise.resolve();
    return new Promise((resolve) => (this.#whenEmpty ??= []).push(resolve));
  }

  /** Releases everything that is queued. */
  end(): void {
    if (this.#over) return;
    for (const event of this.#queue.slice(this.#next)) this.all.unqueued(event);
    this.#queue = NONE;
    this.#next = 0;
    this.#queuedBytes = 0;
    this.#drained();
    this.all.close(this);
    this.#over = true;
    this.ended();
    this.#notifyEmpty();
  }

  #send(event: Buffer): void {
    if (this.sink.write(event)) return;
    this.#sentBytes = event.length;
    this.all.copied(event.length);
    void this.sink.drained().then(() => this.#resume());
  }

  #resume(): void {
    if (this.#over) return;
    this.#drained();
    while (this.#next < this.#queue.length && this.#sentBytes === 0) {
      const event = this.#queue[this.#next++] as Buffer;
      this.#queuedBytes -= event.length;
      this.all.unqueued(event);
      this.#send(event);
    }
    if (this.#next < this.#queue.length) return;
    this.#queue = NONE;
    this.#next = 0;
    if (this.#sentBytes === 0) this.#notifyEmpty();
  }

  #drained(): void {
    this.all.copied(-this.#sentBytes);
    this.#sentBytes = 0;
  }

  #notifyEmpty(): void {
    const waiting = this.#whenEmpty ?? [];
    this.#whenEmpty = undefined;
    for (const resolve of waiting) resolve();
  }
}
