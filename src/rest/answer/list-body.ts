// The body of a list, put together from the bytes of its items as its client reads, in memory that is used again.
import type { ResponseBody } from '../../lib/http/http.js';
import { BufferPool, MAX_POOLED_BYTES } from '../../lib/values/buffer-pool.js';

/** Pieces of this size keep the socket busy without holding the whole answer. */
export const PIECE_BYTES = MAX_POOLED_BYTES;

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
