// hot: reads protobuf. Every read is bounded by the message it is in; hostile lengths end in an error.
import { DecodeError } from '../json/walk.js';

/** Buffer's own decoder without the argument checks of toString: Node's types leave it out. */
type WithUtf8Slice = Buffer & { utf8Slice(start: number, end: number): string };

/** The wire type of what ends a group; there are no groups. */
export const END_OF_GROUP = 4;

/** No field has a number so high. */
const MAX_FIELDS = 2 ** 29 - 1;

/** In bytes. */
const shortText = 32;
/** A power of two. */
const recentTexts: string[] = Array.from({ length: 4096 }, () => '');

export class Reader {
  pos = 0;
  /** The last tag that 32 bits did not hold, whole. */
  wideTag = 0n;
  /** The upper half of the last number that `low` read. */
  private high = 0;
  readonly buffer: WithUtf8Slice;

  constructor(
    buffer: Buffer,
    public end = buffer.length,
  ) {
    this.buffer = buffer as WithUtf8Slice;
  }

  /** An unsigned number of at most 53 bits: tags and lengths. */
  varint(): number {
    const first = this.byte();
    if (first < 0x80) return first;
    let value = first & 0x7f;
    let factor = 128;
    for (let i = 1; i < 10; i++) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 128;
    }
    throw new DecodeError('proto: integer overflow');
  }

  /**
   * A field's number and wire type. Of a tag beyond 32 bits the number is what Go makes of it; one that is none, or that
   * no field has, stays so.
   */
  tag(): number {
    const start = this.pos;
    const tag = this.varint();
    if (tag < 0x1_0000_0000) {
      if (tag < 8) this.wideTag = 0n;
      return tag;
    }
    let exact = 0n;
    for (let i = start; i < this.pos; i++) exact |= BigInt((this.buffer[i] ?? 0) & 0x7f) << BigInt(7 * (i - start));
    this.wideTag = BigInt.asUintN(64, exact);
    const number = BigInt.asIntN(32, this.wideTag >> 3n);
    const wireType = Number(this.wideTag & 7n);
    if (number <= 0n) return wireType;
    return Math.min(Number(number), MAX_FIELDS) * 8 + wireType;
  }

  int32(): number {
    return this.low() | 0;
  }

  int64(): number | bigint {
    const low = this.low();
    const high = this.high;
    if (high === 0) return low;
    const value = (high | 0) * 0x1_0000_0000 + low;
    if (Number.isSafeInteger(value)) return value;
    return BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low));
  }

  bool(): boolean {
    return this.low() !== 0 || this.high !== 0;
  }

  double(): number {
    this.need(8);
    const value = this.buffer.readDoubleLE(this.pos);
    this.pos += 8;
    return value;
  }

  string(): string {
    const end = this.lengthDelimited();
    const length = end - this.pos;
    if (length < shortText) return this.shortString(length);
    const text = this.buffer.utf8Slice(this.pos, end);
    this.pos = end;
    return text;
  }

  bytes(): Buffer {
    const end = this.lengthDelimited();
    const data = this.buffer.subarray(this.pos, end);
    this.pos = end;
    return data;
  }

  base64(): string {
    return this.bytes().toString('base64');
  }

  /** Narrows the reader to the message that starts here; returns the end to restore with `leave`. */
  enter(): number {
    const outer = this.end;
    this.end = this.lengthDelimited();
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
        this.low();
        return;
      case 1:
        this.need(8);
        this.pos += 8;
        return;
      case 2:
        this.pos = this.lengthDelimited();
        return;
      case 3:
        this.skipGroup();
        return;
      case 5:
        this.need(4);
        this.pos += 4;
        return;
      case END_OF_GROUP:
        throw new DecodeError('proto: unexpected end of group');
      default:
        throw new DecodeError(`proto: illegal wireType ${wireType}`);
    }
  }

  private skipGroup(): void {
    for (let depth = 1; depth > 0;) {
      const tag = this.varint();
      const wireType = tag % 8;
      if (wireType === 3) depth++;
      else if (wireType === END_OF_GROUP) depth--;
      else this.skip(wireType);
    }
  }

  /** Short texts repeat from object to object: the last ones are found again by their characters. */
  private shortString(length: number): string {
    // Unset strings are on the wire too.
    if (length === 0) return '';
    const { buffer, pos } = this;
    this.pos = pos + length;
    let hash = length;
    for (let i = 0; i < length; i++) hash = (Math.imul(hash, 31) + (buffer[pos + i] ?? 0)) | 0;
    const slot = hash & (recentTexts.length - 1);
    const recent = recentTexts[slot] ?? '';
    if (recent.length === length) {
      let i = 0;
      while (i < length && recent.charCodeAt(i) === buffer[pos + i]) i++;
      if (i === length) return recent;
    }
    const text = buffer.utf8Slice(pos, pos + length);
    // As many characters as bytes: plain ASCII, which the comparison above relies on.
    if (text.length === length) recentTexts[slot] = text;
    return text;
  }

  /** Where what starts here with its length ends. */
  lengthDelimited(): number {
    const length = this.varint();
    if (length >= 2 ** 63) throw new DecodeError('proto: negative length found during unmarshaling');
    if (length > this.end - this.pos) throw new DecodeError('unexpected EOF');
    return this.pos + length;
  }

  private need(bytes: number): void {
    if (this.end - this.pos < bytes) throw new DecodeError('unexpected EOF');
  }

  private byte(): number {
    if (this.pos >= this.end) throw new DecodeError('unexpected EOF');
    return this.buffer[this.pos++] ?? 0;
  }

  /** The lower half of a 64-bit number; the upper one is left in `high`. */
  private low(): number {
    const first = this.byte();
    this.high = 0;
    if (first < 0x80) return first;
    let low = first & 0x7f;
    let high = 0;
    for (let i = 1; i < 10; i++) {
      const byte = this.byte();
      const bits = byte & 0x7f;
      if (i < 4) low |= bits << (7 * i);
      else if (i === 4) {
        low |= bits << 28;
        high |= bits >>> 4;
      } else if (i < 9) high |= bits << (7 * i - 32);
      else high |= bits << 31;
      if (byte < 0x80) {
        this.high = high >>> 0;
        return low >>> 0;
      }
    }
    throw new DecodeError('proto: integer overflow');
  }
}
