// Mode `batch`: events wait in a buffer and are handed on in batches, in the background.
//
//   process ─▶ waiting (at most bufferSize) ─▶ batch (at most maxBatchSize) ─▶ throttle ─▶ back end
//
// A batch goes when it is full, or when it has waited long enough. What does not fit into the buffer is lost at once: no
// request ever waits for its events.
import type { Clock } from '../lib/async/clock.js';
import { TokenBucket } from '../lib/async/token-bucket.js';
import type { AuditBackend, OnLost } from './backend.js';
import type { AuditEvent } from './event.js';
import type { EventQueue } from './event-queue.js';

export interface BufferedOptions {
  readonly bufferSize: number;
  readonly maxBatchSize: number;
  readonly maxBatchWaitMs: number;
  readonly throttle?: { readonly perSecond: number; readonly burst: number } | undefined;
  /** The next batch goes while the last is still on its way. */
  readonly parallel: boolean;
  /**
   * Where one batch ends and the next begins cannot be seen: all that are full go together, after a moment in which more
   * may come.
   */
  readonly joinable: boolean;
}

const LINGER_MS = 10;
/** Batches that a slow webhook has not answered yet. */
const MAX_IN_FLIGHT = 1000;
/** The objects in the events that wait may be large: a buffer that is not full by number is full by their bytes. */
const MAX_WAITING_BYTES = 512 * 1024 * 1024;

/** Stores a batch that left the queue. */
type Store = ReturnType<EventQueue['take']>;

export class BufferedBackend implements AuditBackend {
  readonly isWaitedFor = false;
  /** Lets a batch go that the throttle holds. */
  private release: (() => void) | undefined = undefined;
  private readonly bucket: TokenBucket | undefined;
  private readonly linger: Deadline;
  private readonly batchWait: Deadline;
  private readonly inFlight = new Set<Promise<unknown>>();
  private closed = false;
  private whenIdle: (() => void) | undefined = undefined;

  constructor(
    private readonly waiting: EventQueue,
    private readonly options: BufferedOptions,
    private readonly clock: Clock,
    private readonly onLost: OnLost,
  ) {
    const { throttle, maxBatchWaitMs } = options;
    if (throttle !== undefined) {
      const { burst, perSecond } = throttle;
      this.bucket = new TokenBucket({ burst, tokens: perSecond, everyMs: 1000 }, clock.now());
    }
    this.linger = new Deadline(clock, LINGER_MS, () => this.send());
    this.batchWait = new Deadline(clock, maxBatchWaitMs, () => this.send());
  }

  // hot: once for each request that is recorded.
  process(events: readonly AuditEvent[]): boolean {
    const fitting = this.closed ? 0 : this.fitting(events.length);
    if (fitting === events.length) this.waiting.add(events);
    else {
      this.waiting.add(events.slice(0, fitting));
      const why = this.closed ? 'audit backend shut down' : 'audit buffer queue blocked';
      this.onLost('buffered', why, events.slice(fitting));
    }
    this.send();
    return true;
  }

  /** Nothing is throttled any more; what is being tried again is waited for. */
  async close(): Promise<void> {
    this.closed = true;
    const idle = new Promise<void>((resolve) => (this.whenIdle = resolve));
    this.release?.();
    this.send();
    await idle;
    await Promise.all(this.inFlight);
    await this.waiting.close();
  }

  /** How many of so many events there is room for. */
  private fitting(count: number): number {
    const { waiting } = this;
    if (waiting.bytes >= MAX_WAITING_BYTES) return 0;
    const { bufferSize, maxBatchSize } = this.options;
    if (waiting.length + count <= bufferSize) return count;
    // While nothing is held, what waits is the batch that fills, with an empty buffer behind it.
    const room = this.held ? bufferSize : bufferSize + maxBatchSize;
    return Math.max(0, Math.min(count, room - waiting.length));
  }

  /** A batch is held by the throttle, or the back end accepts no more. */
  private get held(): boolean {
    return this.release !== undefined || this.inFlight.size >= (this.options.parallel ? MAX_IN_FLIGHT : 1);
  }

  private send(): void {
    while (!this.held) {
      const count = this.ready();
      if (count === 0) break;
      this.throttled(this.take(count));
    }
    if (this.closed && !this.held && this.waiting.length === 0) this.whenIdle?.();
  }

  /** How many events go together now. Where it is too early, a deadline is set. */
  private ready(): number {
    const { maxBatchSize, bufferSize, joinable } = this.options;
    const count = this.waiting.length;
    if (this.closed) return joinable ? count : Math.min(count, maxBatchSize);
    if (count === 0) return 0;
    const inFullBatches = count - (count % maxBatchSize);
    if (inFullBatches === 0) return this.batchWait.isOver() ? count : 0;
    if (!joinable) return maxBatchSize;
    return count * 2 >= bufferSize || this.linger.isOver() ? inFullBatches : 0;
  }

  private take(count: number): Store {
    this.batchWait.clear();
    this.linger.clear();
    return this.waiting.take(count);
  }

  private throttled(store: Store): void {
    const waitMs = this.closed ? 0 : (this.bucket?.take(this.clock.now()) ?? 0);
    if (waitMs === 0) return this.handOn(store);
    const go = (): void => {
      cancel();
      this.release = undefined;
      this.handOn(store);
      this.send();
    };
    const cancel = this.clock.after(waitMs, go);
    this.release = go;
  }

  private handOn(store: Store): void {
    const stored = store();
    if (!(stored instanceof Promise)) return;
    const done = stored.finally(() => {
      this.inFlight.delete(done);
      this.send();
    });
    this.inFlight.add(done);
  }
}

/** A timeout that starts on first use. */
class Deadline {
  private cancel: (() => void) | undefined = undefined;
  private over = false;

  constructor(
    private readonly clock: Clock,
    private readonly ms: number,
    private readonly onOver: () => void,
  ) {}

  isOver(): boolean {
    if (this.over) return true;
    this.cancel ??= this.clock.after(this.ms, () => {
      this.over = true;
      this.onOver();
    });
    return false;
  }

  clear(): void {
    this.cancel?.();
    this.cancel = undefined;
    this.over = false;
  }
}
