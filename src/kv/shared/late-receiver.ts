// A watch that begins in the past.
import type { KvError, KvEvent, KvWatchReceiver } from '../kv.js';

/** Keeps what happens now until what happened before has been handed over. */
export class LateReceiver implements KvWatchReceiver {
  isCancelled = false;
  #kept: KvEvent[] | undefined = [];

  constructor(private readonly receiver: KvWatchReceiver) {}

  past(events: readonly KvEvent[]): void | Promise<void> {
    return this.receiver.events(events);
  }

  begin(): void {
    const kept = this.#kept ?? [];
    this.#kept = undefined;
    if (kept.length > 0 && !this.isCancelled) void this.receiver.events(kept);
  }

  events(batch: readonly KvEvent[]): void | Promise<void> {
    if (this.#kept === undefined) return this.receiver.events(batch);
    for (const event of batch) this.#kept.push(event);
  }

  progress(revision: number): void {
    if (this.#kept === undefined) this.receiver.progress(revision);
  }

  failed(error: KvError): void {
    this.isCancelled = true;
    this.receiver.failed(error);
  }
}
