// A watch that begins in the past is told of it in turns with others. What is written meanwhile is past by then, and told
// the same way; when nothing is left, the watch lives.
//
//      startRevision ── told ── told ── newest │ ── written meanwhile, told ── newest │ ── live ──▶
import { errorText } from '../../lib/error-text.js';
import { type Steps, Turns } from '../../lib/turns.js';
import { KvError, type KvEvent, type KvWatch, type KvWatchReceiver } from '../kv.js';

export interface RevisionRange {
  readonly startRevision: number;
  readonly endRevision: number;
}

export interface Log {
  /** The last change that live watches have been told of. */
  newest(): number;
  /** Fails when they are not known any more, or the store is closed. */
  events(range: RevisionRange): Steps<readonly KvEvent[] | undefined>;
  /** At once, with everything from this revision on. */
  live(startRevision: number): KvWatch;
}

export function catchUp(log: Log, startRevision: number, receiver: KvWatchReceiver): KvWatch {
  const reader = new PastReader(log, receiver);
  void reader.run(startRevision);
  return reader;
}

const BATCH_EVENTS = 100;
const BATCH_BYTES = 256 * 1024;

class PastReader implements KvWatch {
  #live: KvWatch | undefined;
  #isCancelled = false;
  readonly #turns = new Turns();

  constructor(
    private readonly log: Log,
    private readonly receiver: KvWatchReceiver,
  ) {}

  cancel(): void {
    this.#isCancelled = true;
    this.#live?.cancel();
  }

  async run(startRevision: number): Promise<void> {
    const { log } = this;
    try {
      let next = startRevision;
      for (let newest = log.newest(); next <= newest; newest = log.newest()) {
        await this.#tell(await this.#read({ startRevision: next, endRevision: newest }));
        next = newest + 1;
      }
      if (!this.#isCancelled) this.#live = log.live(next);
    } catch (error) {
      if (!this.#isCancelled) this.receiver.failed(error instanceof KvError ? error : failure(error));
    }
  }

  async #read(range: RevisionRange): Promise<readonly KvEvent[]> {
    const steps = this.log.events(range);
    while (!this.#isCancelled) {
      const { done, value } = steps.next();
      if (done) return value ?? [];
      await this.#turns.breathe();
    }
    return [];
  }

  async #tell(events: readonly KvEvent[]): Promise<void> {
    for (let at = 0; at < events.length && !this.#isCancelled;) {
      let to = at;
      let bytes = 0;
      for (; to < events.length && to - at < BATCH_EVENTS && bytes < BATCH_BYTES; to++) {
        bytes += events[to]?.value.length ?? 0;
      }
      await this.receiver.events(events.slice(at, to));
      at = to;
      await this.#turns.breathe();
    }
  }
}

const failure = (cause: unknown): KvError =>
  new KvError('unavailable', `a watch failed: ${errorText(cause)}`, { cause });
