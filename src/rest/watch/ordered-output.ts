// Events that are made later than they happened are written in their order nevertheless.
import type { MaybePromise } from '../../lib/async/maybe-promise.js';
import type { WatchEvent } from '../../storage/store.js';
import type { PacedOutput } from '../wire/watch-buffers.js';

/** Of objects whose events wait to be made; with more the watch has fallen behind. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;
const NONE: readonly WatchEvent[] = [];

export class OrderedOutput {
  #last: Promise<void> | undefined;
  #waitingBytes = 0;

  constructor(private readonly paced: PacedOutput) {}

  // hot: every watcher on every batch of events; nearly always there is nothing to wait for.
  write(make: (events: readonly WatchEvent[]) => MaybePromise<Buffer>, events = NONE): void {
    if (this.#last !== undefined)
      return this.#wait(
        this.#last.then(() => make(events)),
        events,
      );
    const made = make(events);
    if (made instanceof Promise) this.#wait(made, events);
    else this.paced.write(made);
  }

  drained(): Promise<void> {
    return this.#last === undefined ? this.paced.drained() : this.#last.then(() => this.drained());
  }

  #wait(made: Promise<Buffer>, events: readonly WatchEvent[]): void {
    let bytes = 0;
    for (const event of events) if (event.type !== 'BOOKMARK') bytes += event.object.size;
    this.#waitingBytes += bytes;
    const last = made
      .then((buffer) => this.paced.write(buffer))
      .catch(() => this.paced.end())
      .finally(() => {
        this.#waitingBytes -= bytes;
        if (this.#last === last) this.#last = undefined;
      });
    const isBehind = this.#last !== undefined && this.#waitingBytes > MAX_WAITING_BYTES;
    this.#last = last;
    if (isBehind) this.paced.end();
  }
}
