// Writing protobuf from its end to its start, in one buffer: when a message's length must be written, all of it is
// already there. For messages of many small parts, where a buffer for each would cost more than what is in them.
//
//   free ─────────────▶│ tag length name │ tag length value │
//                      ▲ the next byte goes before this one
import { putVarint, varintLength } from './wire.js';

const FIRST_BYTES = 64 * 1024;
/** A writer that begins anew keeps no more. */
const MAX_KEPT_BYTES = 1024 * 1024;
const SHORT_CHARACTERS = 64;
const TWO_TO_14 = 0x4000;
const TWO_TO_32 = 0x1_0000_0000;

export class BackwardWriter {
  #buffer = Buffer.allocUnsafe(FIRST_BYTES);
  #at = FIRST_BYTES;

  /** Fields of a message are written last first. */
  string(field: number, text: string): void {
    if (text.length > SHORT_CHARACTERS || !this.#ascii(text)) {
      const length = Buffer.byteLength(text);
      this.#reserve(length);
      this.#at -= length;
      this.#buffer.write(text, this.#at, length, 'utf8');
      this.#prefix(field, length);
      return;
    }
    this.#prefix(field, text.length);
  }

  hex(field: number, digits: string): void {
    const length = digits.length / 2;
    this.#reserve(length);
    this.#at -= length;
    this.#buffer.write(digits, this.#at, length, 'hex');
    this.#prefix(field, length);
  }

  bytes(field: number, value: Buffer): void {
    this.#reserve(value.length);
    this.#at -= value.length;
    this.#buffer.set(value, this.#at);
    this.#prefix(field, value.length);
  }

  int(field: number, value: number | bigint): void {
    this.#varint(value);
    this.#varint(field << 3);
  }

  /** An integer whose varint is known. */
  varint(field: number, encoded: readonly number[]): void {
    this.#reserve(encoded.length);
    this.#at -= encoded.length;
    this.#buffer.set(encoded, this.#at);
    this.#varint(field << 3);
  }

  double(field: number, value: number): void {
    this.#reserve(8);
    this.#at -= 8;
    this.#buffer.writeDoubleLE(value, this.#at);
    this.#varint((field << 3) | 1);
  }

  /** From milliseconds, in nanoseconds. */
  nanoseconds(field: number, ms: number): void {
    this.#reserve(8);
    this.#at -= 8;
    // More than a number holds: the product of two halves.
    const microseconds = Math.round(ms * 1000);
    const low = (microseconds % TWO_TO_32) * 1000;
    this.#buffer.writeUInt32LE(low % TWO_TO_32, this.#at);
    this.#buffer.writeUInt32LE(Math.floor(microseconds / TWO_TO_32) * 1000 + Math.floor(low / TWO_TO_32), this.#at + 4);
    this.#varint((field << 3) | 1);
  }

  fixed32(field: number, value: number): void {
    this.#reserve(4);
    this.#at -= 4;
    this.#buffer.writeUInt32LE(value, this.#at);
    this.#varint((field << 3) | 5);
  }

  /** Where a message ends: read before its fields are written, and passed to `message` after them. */
  get end(): number {
    return this.#buffer.length - this.#at;
  }

  /** What was written since `end` is a message. */
  message(field: number, end: number): void {
    this.#prefix(field, this.end - end);
  }

  finish(): Buffer {
    return this.#buffer.subarray(this.#at);
  }

  /** A copy of what was written; the writer begins anew. */
  take(): Buffer {
    const written = Buffer.allocUnsafe(this.end);
    this.#buffer.copy(written, 0, this.#at);
    if (this.#buffer.length > MAX_KEPT_BYTES) this.#buffer = Buffer.allocUnsafe(FIRST_BYTES);
    this.#at = this.#buffer.length;
    return written;
  }

  #prefix(field: number, length: number): void {
    this.#varint(length);
    this.#varint((field << 3) | 2);
  }

  /** A call into Node's own writer costs more than so few characters. False, with nothing written, for others. */
  #ascii(text: string): boolean {
    const { length } = text;
    this.#reserve(length);
    const start = this.#at - length;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return false;
      this.#buffer[start + i] = code;
    }
    this.#at = start;
    return true;
  }

  #varint(value: number | bigint): void {
    this.#reserve(10);
    if (typeof value === 'number' && value >= 0 && value < TWO_TO_14) {
      if (value < 128) {
        this.#buffer[--this.#at] = value;
        return;
      }
      this.#buffer[--this.#at] = value >> 7;
      this.#buffer[--this.#at] = (value & 127) | 128;
      return;
    }
    this.#at -= varintLength(value);
    putVarint(this.#buffer, this.#at, value);
  }

  #reserve(bytes: number): void {
    if (this.#at >= bytes) return;
    const used = this.end;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, used + bytes));
    this.#buffer.copy(larger, larger.length - used, this.#at);
    this.#at = larger.length - used;
    this.#buffer = larger;
  }
}
