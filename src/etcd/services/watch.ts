// etcd's Watch service: any number of watches on one stream.
import type { Clock } from '../../lib/async/clock.js';
import type { Mvcc } from '../../kv/embedded/mvcc.js';
import {
  NO_WATCH,
  WATCH_REQUEST,
  WATCH_RESPONSE,
  type WatchCreate,
  type WatchResponse,
} from '../../kv/etcd/messages/watch.js';
import type { GrpcService, ServerCall } from '../grpc/server.js';
import type { HeaderOf } from '../header.js';
import { spanOf } from '../key-range.js';
import { Watcher, type WatcherStream } from './watcher.js';

export interface WatchParts {
  readonly mvcc: Mvcc;
  readonly header: HeaderOf;
  readonly clock: Clock;
  /** Larger answers are sent in fragments where a watch wants them so. */
  readonly maxFragmentBytes: number;
  /** A watch that asked for it hears how far it is when nothing else was sent for so long. */
  readonly progressPeriodMs: number;
}

export const watchService = (parts: WatchParts): GrpcService => ({
  unary: {},
  streams: {
    async Watch(call) {
      const stream = new WatchStream(parts, call);
      try {
        for await (const message of call.messages) stream.take(message);
        await ended(call.signal);
      } catch (error) {
        // A client that is gone needs no answer.
        if (!call.signal.aborted) throw error;
      } finally {
        stream.close();
      }
    },
  },
});

/** A client that sends no more may still want to hear. */
const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

type Answer = Partial<Omit<WatchResponse, 'header'>>;

class WatchStream implements WatcherStream {
  readonly mvcc: Mvcc;
  readonly maxFragmentBytes: number;
  readonly #header: HeaderOf;
  readonly #call: ServerCall;
  readonly #watchers = new Map<number, Watcher>();
  #nextId = 0;
  /** Somebody wants to know how far all are, and not all are where the store is. */
  #progressWanted = false;
  #cancelTimer: (() => void) | undefined;

  constructor({ mvcc, header, clock, maxFragmentBytes, progressPeriodMs }: WatchParts, call: ServerCall) {
    this.mvcc = mvcc;
    this.maxFragmentBytes = maxFragmentBytes;
    this.#header = header;
    this.#call = call;
    const tick = (): void => {
      for (const watcher of this.#watchers.values()) watcher.tick();
      this.#cancelTimer = clock.after(progressPeriodMs, tick);
    };
    this.#cancelTimer = clock.after(progressPeriodMs, tick);
  }

  take(message: Buffer): void {
    const { createRequest, cancelRequest, progressRequest } = WATCH_REQUEST.decode(message);
    if (createRequest !== undefined) this.#create(createRequest);
    else if (cancelRequest !== undefined) this.#cancel(cancelRequest.watchId);
    else if (progressRequest !== undefined) {
      this.#progressWanted = true;
      this.caughtUp();
    }
  }

  close(): void {
    this.#cancelTimer?.();
    for (const watcher of this.#watchers.values()) watcher.cancel();
    this.#watchers.clear();
  }

  get pendingBytes(): number {
    return this.#call.pendingBytes;
  }

  drained(): Promise<void> {
    return this.#call.drained();
  }

  answer(answer: Answer, revision: number): void {
    this.send([this.head(answer, revision)]);
  }

  head(answer: Answer, revision: number): Buffer {
    return WATCH_RESPONSE.encode({ ...answer, header: this.#header(revision) });
  }

  send(pieces: readonly Buffer[]): void {
    this.#call.send(pieces);
  }

  caughtUp(): void {
    if (!this.#progressWanted || this.#watchers.size === 0) return;
    for (const watcher of this.#watchers.values()) if (!watcher.isLive) return;
    this.#progressWanted = false;
    this.answer({ watchId: NO_WATCH }, this.mvcc.revision);
  }

  compacted(watcher: Watcher): void {
    this.#watchers.delete(watcher.id);
    const { revision, compacted } = this.mvcc;
    this.answer({ watchId: watcher.id, canceled: true, compactRevision: compacted }, revision);
  }

  failed(watcher: Watcher, why: string): void {
    this.#watchers.delete(watcher.id);
    this.answer({ watchId: watcher.id, canceled: true, cancelReason: why }, this.mvcc.revision);
  }

  #create(request: WatchCreate): void {
    const { revision } = this.mvcc;
    // A zero byte is the smallest key.
    const span = spanOf(request.key.length === 0 ? { ...request, key: ZERO } : request);
    const refuse = (cancelReason: string): void =>
      this.answer({ watchId: NO_WATCH, created: true, canceled: true, cancelReason }, revision);
    if (request.startRevision < 0) return refuse('etcdserver: mvcc: required revision has been compacted');
    if (span.end !== undefined && span.start >= span.end) return refuse('mvcc: watcher range is empty');
    if (request.watchId !== 0 && this.#watchers.has(request.watchId)) {
      return refuse('mvcc: duplicate watch ID provided on the WatchStream');
    }
    const id = request.watchId === 0 ? this.#freeId() : request.watchId;
    this.answer({ watchId: id, created: true }, revision);
    const watcher = new Watcher(this, id, span, request);
    this.#watchers.set(id, watcher);
    watcher.start();
  }

  #freeId(): number {
    while (this.#watchers.has(this.#nextId)) this.#nextId++;
    return this.#nextId++;
  }

  #cancel(id: number): void {
    const watcher = this.#watchers.get(id);
    if (watcher === undefined) return;
    watcher.cancel();
    this.#watchers.delete(id);
    this.answer({ watchId: id, canceled: true }, this.mvcc.revision);
    this.caughtUp();
  }
}

const ZERO = Buffer.alloc(1);
