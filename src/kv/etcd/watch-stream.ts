// Watches on one gRPC stream to one member.
import { compacted, type KvError, type KvWatchReceiver, prefixEnd } from '../kv.js';
import type { GrpcStream } from '../../outbound/grpc.js';
import { GrpcError, UNAVAILABLE } from '../../outbound/grpc-error.js';
import { kvError, METHODS } from './client.js';
import type { MemberConnection } from './member.js';
import {
  decodeWatch,
  encodeWatchCancel,
  encodeWatchCreate,
  encodeWatchProgress,
  type EtcdWatchAnswer,
} from './messages.js';

export interface RunningWatch {
  readonly id: number;
  readonly prefix: string;
  readonly previous: boolean;
  readonly receiver: KvWatchReceiver;
  /** The first revision that has not been handed over. */
  nextRevision: number;
  /** Set while the receiver handles the last batch: no stream hands over another batch before this settles. */
  busy: Promise<void> | undefined;
}

export interface WatchStreamOwner {
  /** The member answers on this stream. */
  answered(): void;
  /** The watch cannot go on, here or elsewhere. */
  failed(watch: RunningWatch, error: KvError): void;
  /** The stream is over; its watches are not. */
  lost(stream: WatchStream, error: GrpcError): void;
}

/** A watch as this stream has it. */
interface PlacedWatch {
  readonly watch: RunningWatch;
  /** How many of the next answers about progress may be older than the watch. */
  olderAnswers: number;
  /** The member's revision when it began the watch. */
  begunAt: number | undefined;
}

export class WatchStream {
  readonly #placed = new Map<number, PlacedWatch>();
  readonly #stream: GrpcStream;
  readonly #owner: WatchStreamOwner;
  /** Requests for progress that may still be answered: a member leaves out those that come while a watch is behind. */
  #progressRequests = 0;
  #closed = false;

  constructor(connection: MemberConnection, owner: WatchStreamOwner) {
    this.#owner = owner;
    this.#stream = connection.stream(
      METHODS.watch,
      (message) => this.#take(decodeWatch(message)),
      (error) => {
        if (this.#closed) return;
        this.#closed = true;
        owner.lost(this, error);
      },
      // With this header a member that is cut off from the cluster ends the stream. Without it the stream stays silent.
      { hasleader: 'true' },
    );
  }

  get watches(): Iterable<RunningWatch> {
    return Array.from(this.#placed.values(), ({ watch }) => watch);
  }

  get size(): number {
    return this.#placed.size;
  }

  add(watch: RunningWatch): void {
    const { id, prefix, nextRevision, previous } = watch;
    this.#placed.set(id, { watch, olderAnswers: this.#progressRequests, begunAt: undefined });
    this.#stream.send(
      encodeWatchCreate({ watchId: id, key: prefix, end: prefixEnd(prefix), startRevision: nextRevision, previous }),
    );
  }

  /** False when the watch is not on this stream. */
  cancel(id: number): boolean {
    if (!this.#placed.delete(id)) return false;
    this.#stream.send(encodeWatchCancel(id));
    return true;
  }

  /** The answer says how far all watches are that were on the stream before. */
  requestProgress(): void {
    this.#progressRequests++;
    this.#stream.send(encodeWatchProgress());
  }

  /** Its watches hear nothing more of it. */
  close(): void {
    this.#closed = true;
    this.#stream.close();
  }

  #take(answer: EtcdWatchAnswer): void | Promise<void> {
    if (this.#closed) return;
    this.#owner.answered();
    if (answer.watchId === -1) {
      this.#progressed(answer.revision);
      return;
    }
    const placed = this.#placed.get(answer.watchId);
    if (placed === undefined) return;
    const { watch } = placed;
    if (answer.canceled) {
      this.#canceled(watch, answer);
      return;
    }
    if (answer.created) {
      placed.begunAt = answer.revision;
      return;
    }
    return watch.busy === undefined ? deliver(watch, answer) : watch.busy.then(() => deliver(watch, answer));
  }

  /**
   * Answers come in the order of their requests, but a member may say that it has begun a watch before it sends an older answer. Such
   * an answer says nothing of this watch, which may have missed changes up to that revision.
   */
  #progressed(revision: number): void {
    if (this.#progressRequests > 0) this.#progressRequests--;
    for (const placed of this.#placed.values()) {
      const { watch, begunAt } = placed;
      const mayBeOlder = placed.olderAnswers > 0;
      if (mayBeOlder) placed.olderAnswers--;
      if (begunAt === undefined || (mayBeOlder && revision <= begunAt)) continue;
      if (watch.busy === undefined) progress(watch, revision);
      else void watch.busy.then(() => progress(watch, revision)).catch(() => undefined);
    }
  }

  #canceled(watch: RunningWatch, { compactRevision, cancelReason }: EtcdWatchAnswer): void {
    const message = cancelReason || 'the watch was canceled';
    const failure = new GrpcError({ status: UNAVAILABLE, message, sent: true });
    const error = compactRevision > 0 ? compacted(watch.nextRevision, compactRevision) : kvError(failure);
    if (compactRevision > 0 || error.code === 'denied' || cancelReason.includes('permission denied')) {
      this.#placed.delete(watch.id);
      this.#owner.failed(watch, error);
      return;
    }
    // Anything else passes (a member without a leader, say): the whole stream starts anew.
    this.close();
    this.#owner.lost(this, failure);
  }
}

function deliver(watch: RunningWatch, answer: EtcdWatchAnswer): void | Promise<void> {
  const [first] = answer.events;
  if (first === undefined) return progress(watch, answer.revision);
  const { nextRevision } = watch;
  const events =
    first.revision >= nextRevision ? answer.events : answer.events.filter(({ revision }) => revision >= nextRevision);
  const last = events[events.length - 1];
  if (last === undefined) return;
  watch.nextRevision = last.revision + 1;
  watch.busy = watch.receiver.events(events)?.finally(() => (watch.busy = undefined));
  return watch.busy;
}

function progress(watch: RunningWatch, revision: number): void {
  if (revision < watch.nextRevision - 1) return;
  watch.nextRevision = revision + 1;
  watch.receiver.progress(revision);
}
