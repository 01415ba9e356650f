// A watch that is handed pages of history: up to what it hears has happened.
import { type ChangesPage, KvError, type KvEvent, type KvWatchReceiver } from '../kv.js';

interface Page {
  readonly prefix: string;
  readonly startRevision: number;
  readonly endRevision: number;
}

export class PullingReceiver implements KvWatchReceiver {
  #next: number;
  #target = 0;
  #isPulling = false;
  #isOver = false;

  constructor(
    private readonly watched: Pick<Page, 'prefix' | 'startRevision'>,
    private readonly receiver: KvWatchReceiver,
    private readonly pull: (page: Page) => Promise<ChangesPage>,
  ) {
    this.#next = watched.startRevision;
  }

  events(batch: readonly KvEvent[]): void {
    this.pullUpTo(batch[batch.length - 1]?.revision ?? 0);
  }

  progress(revision: number): void {
    if (!this.#isPulling) this.receiver.progress(revision);
  }

  failed(error: KvError): void {
    if (!this.#isOver) this.receiver.failed(error);
    this.#isOver = true;
  }

  cancel(): void {
    this.#isOver = true;
  }

  pullUpTo(revision: number): void {
    this.#target = Math.max(this.#target, revision);
    if (this.#isPulling || this.#next > this.#target) return;
    this.#isPulling = true;
    void this.#pullAll().catch((error: unknown) =>
      this.failed(error instanceof KvError ? error : new KvError('unavailable', String(error))),
    );
  }

  async #pullAll(): Promise<void> {
    const { prefix } = this.watched;
    try {
      while (this.#next <= this.#target && !this.#isOver) {
        const { events, upTo } = await this.pull({ prefix, startRevision: this.#next, endRevision: this.#target });
        if (this.#isOver) return;
        this.#next = upTo + 1;
        if (events.length > 0) await this.receiver.events(events);
      }
    } finally {
      this.#isPulling = false;
    }
  }
}
