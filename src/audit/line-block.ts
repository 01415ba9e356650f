// Lines one behind another in one buffer, encoded there once.

export interface LineBlock {
  readonly bytes: Buffer;
  /** Where each line ends, its newline included. */
  readonly ends: readonly number[];
  /** Another block has the other lines of the same buffer. */
  readonly isPart: boolean;
}

/** At most this many for a UTF-16 unit. */
const BYTES_PER_UNIT = 3;
const FIRST_BYTES = 4096;
/** A block that is larger is not added to. */
const FULL_BYTES = 1024 * 1024;
/** As many as are filled while one is written. */
const MAX_SPARES = 3;
const DIGIT_ZERO = 0x30;
const NOTHING = Buffer.alloc(0);

export class LineBlockBuilder {
  private full: LineBlock[] = [];
  private fullBytes = 0;
  private bytes: Buffer = NOTHING;
  private length = 0;
  private ends: number[] = [];
  /** Where the line begins that is being encoded. */
  private lineStart = 0;
  /** Buffers of released blocks, for the next ones. */
  private readonly spares: Buffer[] = [];

  /** Of all lines that are still here. */
  get totalBytes(): number {
    return this.fullBytes + this.length;
  }

  // hot: four times for each request that is recorded.
  /** Says where the piece begins, as long as nothing else is added. */
  add(piece: string | Buffer): number {
    if (typeof piece === 'string') {
      this.makeRoom(piece.length * BYTES_PER_UNIT);
      const at = this.length;
      this.length += this.bytes.write(piece, at);
      return at;
    }
    this.makeRoom(piece.length);
    const at = this.length;
    this.bytes.set(piece, at);
    this.length += piece.length;
    return at;
  }

  /** In the place of what was added there. `text` is ASCII. */
  putText(at: number, text: string): void {
    this.bytes.write(text, at, 'latin1');
  }

  /** Puts a text in two places. A loop over few characters is faster than two calls out of JavaScript. */
  putTwice(at: number, other: number, text: string): void {
    const { bytes } = this;
    for (let i = 0; i < text.length; i++) {
      const letter = text.charCodeAt(i);
      bytes[at + i] = letter;
      bytes[other + i] = letter;
    }
  }

  /** In the place of what was added there. */
  putSixDigits(at: number, number: number): void {
    writeSixDigits(this.bytes, at, number);
  }

  endLine(): void {
    this.endLineAt(this.length);
  }

  /** In the middle of what was added last. */
  endLineAt(end: number): void {
    this.lineStart = end;
    this.ends.push(end);
  }

  /** Takes the first `count` lines out. */
  take(count: number): readonly LineBlock[] {
    if (this.ends.length > 0) this.endBlock();
    const blocks: LineBlock[] = [];
    for (let left = count; left > 0;) {
      const block = this.full.shift();
      if (block === undefined) break;
      const [first, rest] = block.ends.length <= left ? [block, undefined] : split(block, left);
      if (rest !== undefined) this.full.unshift(rest);
      blocks.push(first);
      this.fullBytes -= first.bytes.length;
      left -= first.ends.length;
    }
    return blocks;
  }

  /** Nobody looks at the block any more. */
  giveBack({ bytes, isPart }: LineBlock): void {
    if (isPart || this.spares.length >= MAX_SPARES || bytes.buffer.byteLength > FULL_BYTES * 2) return;
    this.spares.push(Buffer.from(bytes.buffer));
  }

  private endBlock(): void {
    const { bytes, ends, lineStart } = this;
    this.full.push({ bytes: bytes.subarray(0, lineStart), ends, isPart: false });
    this.fullBytes += lineStart;
    const begun = bytes.subarray(lineStart, this.length);
    this.bytes = this.spares.pop() ?? NOTHING;
    this.length = 0;
    this.lineStart = 0;
    this.ends = [];
    if (begun.length > 0) this.add(begun);
  }

  private makeRoom(bytes: number): void {
    if (this.length + bytes <= this.bytes.length) return;
    if (this.lineStart >= FULL_BYTES) {
      this.endBlock();
      if (this.length + bytes <= this.bytes.length) return;
    }
    const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, this.length + bytes, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }
}

export function writeSixDigits(bytes: Buffer, at: number, number: number): void {
  let rest = number | 0;
  for (let i = 5; i >= 0; i--) {
    const tenth = (rest / 10) | 0;
    bytes[at + i] = DIGIT_ZERO + rest - tenth * 10;
    rest = tenth;
  }
}

function split({ bytes, ends }: LineBlock, count: number): [LineBlock, LineBlock] {
  const end = ends[count - 1] ?? 0;
  return [
    { bytes: bytes.subarray(0, end), ends: ends.slice(0, count), isPart: true },
    { bytes: bytes.subarray(end), ends: ends.slice(count).map((at) => at - end), isPart: true },
  ];
}
