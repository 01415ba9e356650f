// Pieces of bytes that come one after the other, put together at the end.

const SMALL_BYTES = 512;
const BLOCK_BYTES = 4096;
const NO_BLOCK = Buffer.alloc(0);

export class CollectedBytes {
  #pieces: Buffer[] = [];
  #size = 0;
  /** Where small pieces are put together: a piece of one byte must not cost the hundred of a view. */
  #block: Buffer = NO_BLOCK;
  #blockUsed = 0;

  get size(): number {
    return this.#size;
  }

  add(piece: Buffer): void {
    this.#size += piece.length;
    if (piece.length >= SMALL_BYTES || this.#size === piece.length) {
      this.#closeBlock();
      this.#pieces.push(piece);
      return;
    }
    if (this.#blockUsed + piece.length > this.#block.length) {
      this.#closeBlock();
      this.#block = Buffer.allocUnsafe(BLOCK_BYTES);
    }
    this.#blockUsed += piece.copy(this.#block, this.#blockUsed);
  }

  /** All of them; none are left. */
  take(): Buffer {
    this.#closeBlock();
    const pieces = this.#pieces;
    const size = this.#size;
    this.#pieces = [];
    this.#size = 0;
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, size);
  }

  #closeBlock(): void {
    if (this.#blockUsed > 0) this.#pieces.push(this.#block.subarray(0, this.#blockUsed));
    this.#block = NO_BLOCK;
    this.#blockUsed = 0;
  }
}
