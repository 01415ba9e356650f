// One watch. It reads history until it is where the store is, and is then handed what is committed. When its client does not read,
// it leaves the store, and reads on in history when the client does: nothing is kept for it in memory.
import type { Change } from '../../kv/embedded/change.js';
import type { Mvcc } from '../../kv/embedded/mvcc.js';
import { KvError } from '../../kv/kv.js';
import { WATCH_FILTER, type WatchCreate, type WatchResponse } from '../../kv/etcd/messages/watch.js';
import { fieldHead } from '../../lib/protobuf/wire.js';
import { eachStep, runCooperatively, runSync, type StepGenerator } from '../../lib/scheduling/yield.js';
import { errorText } from '../../lib/text/error-text.js';
import type { KeySpan } from '../key-range.js';
import { eventBytes } from './event-bytes.js';

/** A stream with more to send than this gets no further events until its client has read. */
const MAX_PENDING_BYTES = 1024 * 1024;
/** Of values in one answer out of history. */
const PAGE_BYTES = 256 * 1024;
const EVENTS_FIELD = 11;
/** What a commit has more is read in history, in steps. */
const MAX_LIVE_CHANGES = 2048;

export interface WatcherStream {
  readonly mvcc: Mvcc;
  readonly maxFragmentBytes: number;
  readonly pendingBytes: number;
  drained(): Promise<void>;
  answer(answer: Partial<Omit<WatchResponse, 'header'>>, revision: number): void;
  /** A whole message. */
  send(pieces: readonly Buffer[]): void;
  /** The encoded fields of an answer but for its events. */
  head(answer: Partial<Omit<WatchResponse, 'header'>>, revision: number): Buffer;
  /** A watch is where the store is. */
  caughtUp(): void;
  compacted(watcher: Watcher): void;
  failed(watcher: Watcher, why: string): void;
}

export class Watcher {
  readonly #request: WatchCreate;
  readonly #span: KeySpan;
  readonly #stream: WatcherStream;
  /** The first revision that has not been sent. */
  #next: number;
  #live: { cancel(): void } | undefined;
  #isCancelled = false;
  /** Something was sent since the last tick. */
  #hasSent = false;

  constructor(
    stream: WatcherStream,
    readonly id: number,
    span: KeySpan,
    request: WatchCreate,
  ) {
    this.#stream = stream;
    this.#span = span;
    this.#request = request;
    this.#next = request.startRevision > 0 ? request.startRevision : stream.mvcc.revision + 1;
  }

  /** It has been sent everything up to the store's revision. */
  get isLive(): boolean {
    return this.#live !== undefined;
  }

  start(): void {
    this.#catchUp().catch((error: unknown) => {
      if (this.#isCancelled) return;
      this.cancel();
      if (error instanceof KvError && error.code === 'compacted') this.#stream.compacted(this);
      else this.#stream.failed(this, errorText(error));
    });
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#live?.cancel();
    this.#live = undefined;
  }

  /** Now and then: says how far it is, if nothing else was sent and it was asked for. */
  tick(): void {
    if (this.#request.progressNotify && this.isLive && !this.#hasSent) {
      this.#stream.answer({ watchId: this.id }, this.#stream.mvcc.revision);
    }
    this.#hasSent = false;
  }

  async #catchUp(): Promise<void> {
    const { mvcc } = this.#stream;
    const { start, end } = this.#span;
    while (!this.#isCancelled) {
      const endRevision = mvcc.revision;
      if (this.#next > endRevision) {
        this.#live = mvcc.follow({ start, end, startRevision: this.#next }, (changes) => this.#receive(changes));
        return this.#stream.caughtUp();
      }
      const page = await mvcc.changes({ start, end, startRevision: this.#next, endRevision, maxBytes: PAGE_BYTES });
      if (this.#isCancelled) return;
      this.#next = page.upTo + 1;
      await runCooperatively(this.#sendSteps(page.changes, page.upTo));
      if (this.#isCancelled) return;
      if (this.#isBehind) await this.#stream.drained();
    }
  }

  get #isBehind(): boolean {
    return this.#stream.pendingBytes > MAX_PENDING_BYTES;
  }

  // hot: for each commit and watch
  #receive(changes: readonly Change[]): void {
    const last = changes[changes.length - 1];
    if (last === undefined) return;
    if (!this.#isBehind && changes.length <= MAX_LIVE_CHANGES) {
      this.#next = last.revision + 1;
      return runSync(this.#sendSteps(changes, this.#stream.mvcc.revision));
    }
    this.#live?.cancel();
    this.#live = undefined;
    this.#next = changes[0]?.revision ?? this.#next;
    if (this.#isBehind) void this.#stream.drained().then(() => this.start());
    else this.start();
  }

  *#sendSteps(changes: readonly Change[], revision: number): StepGenerator<void> {
    const { prevKv, filters, fragment } = this.#request;
    const isWanted = ({ next }: Change): boolean =>
      !filters.includes(next === undefined ? WATCH_FILTER.noDelete : WATCH_FILTER.noPut);
    const wanted = filters.length === 0 ? changes : changes.filter(isWanted);
    if (wanted.length === 0) return;
    this.#hasSent = true;
    const events: Buffer[] = [];
    yield* eachStep(wanted, (change) => events.push(eventBytes(change, prevKv)));
    if (this.#isCancelled) return;
    if (!fragment) return this.#sendEvents(events, revision, false);
    for (let from = 0; from < events.length;) {
      const to = fragmentEnd(events, from, this.#stream.maxFragmentBytes);
      this.#sendEvents(events.slice(from, to), revision, to < events.length);
      from = to;
    }
  }

  #sendEvents(events: readonly Buffer[], revision: number, fragment: boolean): void {
    const head = this.#stream.head({ watchId: this.id, fragment }, revision);
    this.#stream.send([head, ...events.flatMap((event) => [fieldHead(EVENTS_FIELD, event.length), event])]);
  }
}

/** So many events as fit, and one at least. */
function fragmentEnd(events: readonly Buffer[], from: number, maxBytes: number): number {
  let bytes = 0;
  let to = from;
  do bytes += events[to++]?.length ?? 0;
  while (to < events.length && bytes + (events[to]?.length ?? 0) < maxBytes);
  return to;
}
