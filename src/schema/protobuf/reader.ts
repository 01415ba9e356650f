// hot: reads protobuf. Every read is bounded by the message it is in; hostile lengths end in an error.
import { DecodeError } from '../json/walk.js';

export class Reader {
  pos = 0;

  constructor(
    readonly buffer: Buffer,
    public end = buffer.length,
  ) {}

  /** An unsigned number of at most 53 bits: tags and lengths. */
  varint(): number {
    const first = this.#byte();
    if (first < 0x80) return first;
    let value = first & 0x7f;
    let factor = 128;
    for (let i = 1; i < 10; i++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 128;
    }
    throw new DecodeError('proto: integer overflow');
  }

  int32(): number {
    const { low } = this.#halves();
    return low | 0;
  }

  int64(): number | bigint {
    const first = this.#peek();
    if (first < 0x80) {
      this.pos++;
      return first;
    }
    const { low, high } = this.#halves();
    const value = (high | 0) * 0x1_0000_0000 + low;
    if (Number.isSafeInteger(value)) return value;
    return BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low));
  }

  bool(): boolean {
    const { low, high } = this.#halves();
    return low !== 0 || high !== 0;
  }

  double(): number {
    this.#need(8);
    const value = this.buffer.readDoubleLE(this.pos);
    this.pos += 8;
    return value;
  }

  string(): string {
    const end = this.#lengthDelimited();
    const text = this.buffer.toString('utf8', this.pos, end);
    this.pos = end;
    return text;
  }

  bytes(): Buffer {
    const end = this.#lengthDelimited();
    const data = this.buffer.subarray(this.pos, end);
    this.pos = end;
    return data;
  }

  base64(): string {
    return this.bytes().toString('base64');
  }

  /** Narrows the reader to the message that starts here; gives the end to restore with `leave`. */
  enter(): number {
    const outer = this.end;
    this.end = this.#lengthDelimited();
    return outer;
  }

  leave(outer: number): void {
    this.pos = this.end;
    this.end = outer;
  }

  /** Passes over a field that is not known. */
  skip(wireType: number): void {
    switch (wireType) {
      case 0:
        this.#halves();
        return;
      case 1:
        this.#need(8);
        this.pos += 8;
        return;
      case 2:
        this.pos = this.#lengthDelimited();
        return;
      case 3:
        this.#skipGroup();
        return;
      case 5:
        this.#need(4);
        this.pos += 4;
        return;
      default:
        throw new DecodeError(`proto: illegal wireType ${wireType}`);
    }
  }

  #skipGroup(): void {
    for (let depth = 1; depth > 0;) {
      const tag = this.varint();
      const wireType = tag % 8;
      if (wireType === 3) depth++;
      else if (wireType === 4) depth--;
      else this.skip(wireType);
    }
  }

  #lengthDelimited(): number {
    const length = this.varint();
    if (length > this.end - this.pos) throw new DecodeError('unexpected EOF');
    return this.pos + length;
  }

  #need(bytes: number): void {
    if (this.end - this.pos < bytes) throw new DecodeError('unexpected EOF');
  }

  #peek(): number {
    if (this.pos >= this.end) throw new DecodeError('unexpected EOF');
    return this.buffer[this.pos] ?? 0;
  }

  #byte(): number {
    if (this.pos >= this.end) throw new DecodeError('unexpected EOF');
    return this.buffer[this.pos++] ?? 0;
  }

  #halves(): { low: number; high: number } {
    let low = 0;
    let high = 0;
    for (let i = 0; i < 10; i++) {
      const byte = this.#byte();
      const bits = byte & 0x7f;
      if (i < 4) low |= bits << (7 * i);
      else if (i === 4) {
        low |= bits << 28;
        high |= bits >>> 4;
      } else if (i < 9) high |= bits << (7 * i - 32);
      else high |= bits << 31;
      if (byte < 0x80) return { low: low >>> 0, high: high >>> 0 };
    }
    throw new DecodeError('proto: integer overflow');
  }
}
