// Lines one behind another in one buffer, written there once.

export interface LineBlock {
  readonly bytes: Buffer;
  /** Where each line ends, its newline included. */
  readonly ends: readonly number[];
}

/** At most this many bytes for a UTF-16 unit. */
const BYTES_PER_UNIT = 3;
const FIRST_BYTES = 4096;
/** A line without objects in it, about. */
const LINE_BYTES = 768;

export class LineBlockBuilder {
  private bytes: Buffer;
  private length = 0;
  private readonly ends: number[] = [];

  /** `lines`: how many are expected. */
  constructor(lines = 0) {
    this.bytes = Buffer.allocUnsafe(Math.max(FIRST_BYTES, lines * LINE_BYTES));
  }

  // hot: twice for each request that is recorded.
  add(piece: string | Buffer): void {
    if (typeof piece === 'string') {
      this.makeRoom(piece.length * BYTES_PER_UNIT);
      this.length += this.bytes.write(piece, this.length);
    } else {
      this.makeRoom(piece.length);
      this.length += piece.copy(this.bytes, this.length);
    }
  }

  endLine(): void {
    this.ends.push(this.length);
  }

  block(): LineBlock {
    return { bytes: this.bytes.subarray(0, this.length), ends: this.ends };
  }

  private makeRoom(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }
}
