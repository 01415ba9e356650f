// Pages of etcd's history, read by a watch from the first revision on: it is whole when etcd reports progress beyond the last.
// Each page has a stream of its own, so that no answer about progress can be older than its watch. etcd begins such a watch only
// every tenth of a second, and hands over up to a thousand revisions at once. What a page does not take of them is kept for the
// page after.
import type { Clock } from '../../lib/async/clock.js';
import {
  type ChangesPage,
  type ChangesRequest,
  compacted,
  KvError,
  type KvEvent,
  type KvWatchReceiver,
} from '../kv.js';
import type { LoneWatch, LoneWatchRequest } from './lone-watch.js';

/** A member does not answer a request for progress while a watch of the stream is behind. */
const PROGRESS_AGAIN_MS = 50;
/** A member that says nothing for so long hangs: the watch that waits for this page ends, and its client resumes it. */
const MAX_PAGE_MS = 10_000;
const MAX_LEFTOVERS = 8;
const MAX_LEFTOVER_BYTES = 4 * 1024 * 1024;
const LEFTOVER_MS = 10_000;

/** Everything that happened to a prefix from a page's end up to a revision. */
interface Leftover {
  readonly events: readonly KvEvent[];
  readonly upTo: number;
}

export interface EtcdHistoryParts {
  readonly watch: (request: LoneWatchRequest, receiver: KvWatchReceiver) => LoneWatch;
  readonly clock: Clock;
}

export class EtcdHistory {
  readonly #parts: EtcdHistoryParts;
  /** By prefix and first revision. */
  readonly #leftovers = new Map<string, Leftover>();

  constructor(parts: EtcdHistoryParts) {
    this.#parts = parts;
  }

  async changes(request: ChangesRequest): Promise<ChangesPage> {
    const { prefix, startRevision, endRevision } = request;
    const name = leftoverName(prefix, startRevision);
    const found = this.#leftovers.get(name);
    this.#leftovers.delete(name);
    const { events, upTo } = found ?? (await this.#watch(request));
    const taken = pageOf(events, upTo, request);
    const rest = events.slice(taken.events.length);
    if (rest.length > 0) this.#keep(leftoverName(prefix, taken.upTo + 1), { events: rest, upTo });
    return { events: taken.events, upTo: Math.min(taken.upTo, endRevision) };
  }

  /** All events of one answer, or none up to the last revision wanted. */
  #watch({ prefix, startRevision, endRevision, signal }: ChangesRequest): Promise<Leftover> {
    const { watch, clock } = this.#parts;
    return new Promise((resolve, reject) => {
      let cancelTimer: (() => void) | undefined;
      const stop = (): void => {
        loneWatch.cancel();
        cancelTimer?.();
        cancelGiveUp();
        signal?.removeEventListener('abort', abort);
      };
      const finish = (events: readonly KvEvent[], upTo: number): void => {
        stop();
        resolve({ events, upTo });
      };
      const fail = (error: Error): void => {
        stop();
        reject(error);
      };
      const abort = (): void => fail(signal?.reason as Error);
      const loneWatch = watch(
        { prefix, startRevision },
        {
          events(batch) {
            const torn = batch.find(lacksPrevious);
            if (torn !== undefined) return fail(compacted(startRevision, torn.revision));
            finish(batch, batch[batch.length - 1]?.revision ?? startRevision);
          },
          progress: (revision) => {
            if (revision >= endRevision) finish([], revision);
          },
          failed: fail,
        },
      );
      const askAgain = (): void => {
        cancelTimer = clock.after(PROGRESS_AGAIN_MS, () => {
          loneWatch.requestProgress();
          askAgain();
        });
      };
      const cancelGiveUp = clock.after(MAX_PAGE_MS, () =>
        fail(new KvError('unavailable', 'etcd did not hand over its history in time')),
      );
      signal?.addEventListener('abort', abort);
      if (signal?.aborted === true) abort();
      else askAgain();
    });
  }

  #keep(name: string, leftover: Leftover): void {
    const bytes = leftover.events.reduce((sum, event) => sum + bytesOf(event), 0);
    if (bytes > MAX_LEFTOVER_BYTES) return;
    this.#leftovers.set(name, leftover);
    const [oldest] = this.#leftovers.keys();
    if (this.#leftovers.size > MAX_LEFTOVERS && oldest !== undefined) this.#leftovers.delete(oldest);
    this.#parts.clock.after(LEFTOVER_MS, () => {
      if (this.#leftovers.get(name) === leftover) this.#leftovers.delete(name);
    });
  }
}

/** At the revision that etcd has compacted the change is there, and what it replaced is not. */
const lacksPrevious = ({ type, previous, createRevision, revision }: KvEvent): boolean =>
  previous === undefined && (type === 'delete' || createRevision < revision);

const leftoverName = (prefix: string, startRevision: number): string => `${startRevision} ${prefix}`;

const bytesOf = ({ value, previous }: KvEvent): number => value.length + (previous?.value.length ?? 0);

/** Whole revisions: a transaction of somebody else's may have several changes of one. */
function pageOf(events: readonly KvEvent[], upTo: number, { endRevision, maxBytes }: ChangesRequest): ChangesPage {
  let bytes = 0;
  for (const [i, event] of events.entries()) {
    const isNew = event.revision !== events[i - 1]?.revision;
    if (isNew && event.revision > endRevision) return { events: events.slice(0, i), upTo: endRevision };
    if (isNew && bytes > maxBytes) return { events: events.slice(0, i), upTo: events[i - 1]?.revision ?? endRevision };
    bytes += bytesOf(event);
  }
  return { events, upTo };
}
