// The protobuf wire form: numbers, and where fields begin and end.

/** What goes before so many bytes that are a field's. */
export function fieldHead(field: number, length: number): Buffer {
  const tag = (field << 3) | 2;
  const head = Buffer.allocUnsafe(varintLength(tag) + varintLength(length));
  putVarint(head, putVarint(head, 0, tag), length);
  return head;
}

export const VARINT = 0;
export const LENGTH_DELIMITED = 2;

/** Where reading is in a message. */
export class Cursor {
  at = 0;

  constructor(private readonly all: Buffer) {}

  varint(): number | bigint {
    const { all } = this;
    const start = this.at;
    let value = 0;
    let scale = 1;
    for (let at = start; at < all.length; at++) {
      const byte = all[at] as number;
      // Seven groups stay below 2^49; the rest may not fit a number.
      if (at - start >= 7) return this.#longVarint();
      value += (byte & 127) * scale;
      if (byte < 128) {
        this.at = at + 1;
        return value;
      }
      scale *= 128;
    }
    throw new Error('protobuf: the message ends inside a number');
  }

  #longVarint(): number | bigint {
    const { all, at: start } = this;
    let value = 0n;
    for (let at = start; at < all.length && at < start + 10; at++) {
      const byte = all[at] as number;
      value |= BigInt(byte & 127) << BigInt(7 * (at - start));
      if (byte < 128) {
        this.at = at + 1;
        const signed = BigInt.asIntN(64, value);
        const small = signed >= BigInt(Number.MIN_SAFE_INTEGER) && signed <= BigInt(Number.MAX_SAFE_INTEGER);
        return small ? Number(signed) : signed;
      }
    }
    throw new Error('protobuf: a number is too long');
  }

  /** A varint as a number: what is beyond 2^53 is not exact. */
  int(): number {
    const byte = this.all[this.at] ?? 128;
    if (byte >= 128) return Number(this.varint());
    this.at++;
    return byte;
  }

  bytes(): Buffer {
    const end = this.endOfBytes();
    const start = this.at;
    this.at = end;
    return this.all.subarray(start, end);
  }

  /** Where the bytes end whose length is read; they begin where the cursor is then. */
  endOfBytes(): number {
    const length = this.int();
    const end = this.at + length;
    if (length < 0 || end > this.all.length) throw new Error('protobuf: a field ends after its message');
    return end;
  }

  skip(wireType: number): void {
    switch (wireType) {
      case VARINT:
        return this.#skipVarint();
      case 1:
        this.at += 8;
        return;
      case LENGTH_DELIMITED:
        this.at = this.endOfBytes();
        return;
      case 5:
        this.at += 4;
        return;
      default:
        throw new Error(`protobuf: wire type ${wireType}`);
    }
  }

  #skipVarint(): void {
    const { all, at: start } = this;
    for (let at = start; at < all.length; at++) {
      if (at - start >= 10) throw new Error('protobuf: a number is too long');
      if ((all[at] as number) >= 128) continue;
      this.at = at + 1;
      return;
    }
    throw new Error('protobuf: the message ends inside a number');
  }
}

/** Shifting is for 32 bits. */
const MAX_SHIFTED = 2 ** 31 - 1;

const isLarge = (value: number | bigint): boolean => typeof value !== 'number' || value < 0 || value > MAX_SHIFTED;

export function varintLength(value: number | bigint): number {
  if (isLarge(value)) return typeof value === 'number' && value > 0 ? largeLength(value) : largeVarint(value).length;
  const small = value as number;
  if (small < 0x80) return 1;
  if (small < 0x4000) return 2;
  if (small < 0x20_0000) return 3;
  return small < 0x1000_0000 ? 4 : 5;
}

/** Of a number above 31 bits. */
function largeLength(value: number): number {
  let length = 0;
  for (let rest = value; rest >= 1; rest /= 128) length++;
  return length;
}

export function putVarint(target: Buffer, start: number, value: number | bigint): number {
  if (isLarge(value)) return putLargeVarint(target, start, value);
  let at = start;
  let rest = value as number;
  for (; rest > 127; rest >>>= 7) target[at++] = (rest & 127) | 128;
  target[at++] = rest;
  return at;
}

function putLargeVarint(target: Buffer, start: number, value: number | bigint): number {
  const bytes = largeVarint(value);
  target.set(bytes, start);
  return start + bytes.length;
}

/** Negative numbers are written as 64 bits. */
export function largeVarint(value: number | bigint): number[] {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return bytes;
}

/** The numbers of a packed list. */
export function readPacked(bytes: Buffer): number[] {
  const cursor = new Cursor(bytes);
  const numbers: number[] = [];
  while (cursor.at < bytes.length) numbers.push(cursor.int());
  return numbers;
}
