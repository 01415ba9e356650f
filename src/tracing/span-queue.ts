// Spans on their way to the collector: queued, sent in batches, and dropped where it does not accept them.
//
//   end of a span ─▶ waiting (2048 at most) ─▶ a batch (512) every 5 s, or at once when it is full ─▶ collector
//
// One batch is under way at a time. Nobody waits for any of this but the end of the server, and that not for long.
import type { Clock } from '../lib/async/clock.js';
import { withTimeout } from '../lib/async/with-timeout.js';
import type { RecordedSpan } from './recorded-span.js';

const MAX_WAITING = 2048;
const MAX_IN_BATCH = 512;
const BATCH_EVERY_MS = 5_000;
/** A batch is dropped when it has not been accepted by then. */
const GIVE_UP_MS = 30_000;
const RETRY_MS = 5_000;

export interface SpanQueueOptions {
  /** Fails when the collector did not accept them; with a RetryableFailure where a retry may succeed. */
  readonly deliver: (spans: readonly RecordedSpan[], signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly onDropped: (count: number, why: DropReason) => void;
  readonly onFailed: (error: unknown) => void;
}

export type DropReason = 'queue-full' | 'not-taken' | 'shutdown';

/** The collector is busy or away. */
export class RetryableFailure extends Error {}

export class SpanQueue {
  readonly #options: SpanQueueOptions;
  #waiting: RecordedSpan[] = [];
  #cancelTimer: (() => void) | undefined;
  #sending: Promise<void> | undefined;
  #closing = false;
  /** Ends a pause between two tries. */
  #hurry: (() => void) | undefined;
  readonly #stop = new AbortController();

  constructor(options: SpanQueueOptions) {
    this.#options = options;
  }

  add(span: RecordedSpan): void {
    if (this.#closing || this.#waiting.length >= MAX_WAITING) {
      this.#options.onDropped(1, this.#closing ? 'shutdown' : 'queue-full');
      return;
    }
    this.#waiting.push(span);
    if (this.#sending !== undefined) return;
    if (this.#waiting.length >= MAX_IN_BATCH) this.#send();
    else this.#cancelTimer ??= this.#options.clock.after(BATCH_EVERY_MS, () => this.#send());
  }

  /** Sends what waits, for as long as `withinMs`; what is left then is dropped. */
  async close(withinMs: number): Promise<void> {
    this.#closing = true;
    this.#hurry?.();
    await withTimeout(this.#sendAll(), { ms: withinMs, clock: this.#options.clock, onTimeout: () => undefined });
    this.#stop.abort();
    const left = this.#waiting.splice(0).length;
    if (left > 0) this.#options.onDropped(left, 'shutdown');
  }

  async #sendAll(): Promise<void> {
    while (!this.#stop.signal.aborted && (this.#sending !== undefined || this.#waiting.length > 0)) {
      this.#send();
      await this.#sending;
    }
  }

  #send(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#sending !== undefined || this.#waiting.length === 0) return;
    const batch = this.#waiting.splice(0, MAX_IN_BATCH);
    this.#sending = this.#deliver(batch).finally(() => {
      this.#sending = undefined;
      if (this.#closing || this.#waiting.length === 0) return;
      if (this.#waiting.length >= MAX_IN_BATCH) this.#send();
      else this.#cancelTimer ??= this.#options.clock.after(BATCH_EVERY_MS, () => this.#send());
    });
  }

  async #deliver(batch: readonly RecordedSpan[]): Promise<void> {
    const { clock, deliver, onDropped, onFailed } = this.#options;
    const giveUpMs = clock.now() + GIVE_UP_MS;
    for (;;) {
      try {
        return await deliver(batch, this.#stop.signal);
      } catch (error) {
        onFailed(error);
        const again = error instanceof RetryableFailure && clock.now() + RETRY_MS < giveUpMs;
        // Whoever ends has no time to come again.
        if (!again || this.#closing) return onDropped(batch.length, this.#closing ? 'shutdown' : 'not-taken');
      }
      await this.#pause();
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const over = (): void => {
        cancel();
        this.#hurry = undefined;
        resolve();
      };
      const cancel = this.#options.clock.after(RETRY_MS, over);
      this.#hurry = over;
    });
  }
}
