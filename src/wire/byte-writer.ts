// Bytes put one after another into a buffer that grows.

const SMALL_BYTES = 4096;
/** Below it a loop is faster than a call out of JavaScript. */
const LOOPED_CHARACTERS = 64;

export class ByteWriter {
  bytes: Buffer;
  /** How many are written. */
  at = 0;

  constructor(bytes: Buffer = Buffer.allocUnsafeSlow(SMALL_BYTES)) {
    this.bytes = bytes;
  }

  /** Room for so many more. `bytes` may be another buffer afterwards. */
  ensure(more: number): void {
    const needed = this.at + more;
    if (needed <= this.bytes.length) return;
    this.bytes = this.grown(needed);
  }

  protected grown(needed: number): Buffer {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.at);
    return larger;
  }

  /** A byte for each character. Room for it is there already. */
  // hot: several times for each answer.
  putLatin1(text: string): void {
    const { length } = text;
    if (length > LOOPED_CHARACTERS) {
      this.at += this.bytes.write(text, this.at, 'latin1');
      return;
    }
    const { bytes } = this;
    let { at } = this;
    for (let i = 0; i < length; i++) bytes[at++] = text.charCodeAt(i);
    this.at = at;
  }

  /** All of the bytes. Room for them is there already. */
  put(bytes: Buffer, start = 0, end = bytes.length): void {
    this.at += bytes.copy(this.bytes, this.at, start, end);
  }
}
