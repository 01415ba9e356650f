// The body of a list, put together from the bytes of its items as its client reads, in memory that is used again.
import type { ResponseBody } from '../../lib/http/http.js';
import { BufferPool, MAX_POOLED_BYTES } from '../../lib/values/buffer-pool.js';
import type { StoredObject } from '../../storage/store.js';

/** Pieces of this size keep the socket busy without holding the whole answer. */
export const PIECE_BYTES = MAX_POOLED_BYTES;

/** What is smaller is joined for the first request. */
const SMALL_BYTES = 32 * 1024;
/** A second and third one are often of clients that came at the same time. */
const REQUESTS_BEFORE_JOINING = 3;

/** The memory of pieces that are sent. */
const pieceMemory = new BufferPool();

export interface ListItems {
  readonly count: number;
  /** What `put` needs for the item, at most. */
  bytesOf(index: number): number;
  /** Answers where the item ends that was put at `start`. */
  put(index: number, out: Buffer, start: number): number;
}

/** What stands before and after the items. */
export interface Around {
  readonly head: Buffer;
  readonly tail: Buffer;
  /** What a piece is sent as, if not as it is. */
  readonly encode?: (piece: Buffer) => Buffer;
}

export function bodyInPieces(items: ListItems, { head, tail, encode }: Around): ResponseBody {
  return {
    async stream(sink) {
      let piece = pieceMemory.take(Math.max(PIECE_BYTES, head.length));
      let at = head.copy(piece, 0);
      /** Writes the piece, and waits until its memory is free. */
      const flush = async (): Promise<void> => {
        const bytes = piece.subarray(0, at);
        const ready = sink.write(encode === undefined ? bytes : encode(bytes));
        const waits = !ready || sink.pendingBytes > 0;
        if (waits) await sink.drained();
        // Where nothing was waited for, or only for most of it, somebody may still read the piece.
        const isFree = encode !== undefined || (waits && sink.pendingBytes === 0);
        if (isFree) pieceMemory.give(piece);
        at = 0;
      };
      for (let i = 0; i < items.count; i++) {
        const needed = items.bytesOf(i);
        if (at + needed > piece.length) {
          await flush();
          if (sink.signal.aborted) return;
          piece = pieceMemory.take(Math.max(PIECE_BYTES, needed));
        }
        at = items.put(i, piece, at);
      }
      if (at + tail.length > piece.length) {
        await flush();
        piece = pieceMemory.take(tail.length);
      }
      at += tail.copy(piece, at);
      sink.last?.();
      await flush();
    },
  };
}

/**
 * Items that are joined once for all requests, by the array of items, which the store hands out again while nothing has changed,
 * and by their form. The first requests join them only where they are small: where objects change all the time a list is asked
 * for a few times at most, and one that is copied piece by piece as it is sent leaves no memory behind.
 */
export class JoinedLists<Joined extends object> {
  /** Joined, or how often they were requested so far. */
  readonly #lists = new WeakMap<readonly StoredObject[], Map<object, Joined | number>>();

  // hot: every list
  get(items: readonly StoredObject[], form: object): Joined | undefined {
    const known = this.#lists.get(items)?.get(form);
    return typeof known === 'number' ? undefined : known;
  }

  /** Whether the request for so many bytes, which are not joined yet, is to join them. */
  isWorthJoining(items: readonly StoredObject[], form: object, bytes: number): boolean {
    let forms = this.#lists.get(items);
    if (forms === undefined) this.#lists.set(items, (forms = new Map()));
    const before = forms.get(form) ?? 0;
    if (typeof before === 'number') forms.set(form, before + 1);
    return bytes <= SMALL_BYTES || before === REQUESTS_BEFORE_JOINING;
  }

  keep(items: readonly StoredObject[], form: object, joined: Joined): Joined {
    this.#lists.get(items)?.set(form, joined);
    return joined;
  }
}
