// Bytes of one stream that wait for room, in the pieces they came in.
import type { ByteWriter } from '../byte-writer.js';

export class PieceQueue {
  readonly #pieces: Buffer[] = [];
  /** The first piece that is not gone, and how much of it is. */
  #at = 0;
  #offset = 0;

  add(bytes: Buffer): void {
    this.#pieces.push(bytes);
  }

  /** Moves so many bytes; no more than there are. Room for them is there already. */
  moveTo(out: ByteWriter, length: number): void {
    let left = length;
    while (left > 0) {
      const piece = this.#pieces[this.#at] as Buffer;
      const end = Math.min(piece.length, this.#offset + left);
      out.put(piece, this.#offset, end);
      left -= end - this.#offset;
      this.#offset = end;
      if (end === piece.length) {
        this.#at++;
        this.#offset = 0;
      }
    }
  }
}
