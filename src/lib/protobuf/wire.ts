// Writing and reading the protobuf wire form, as little of it as the messages of the services we call need.

/** Fields are written in order; zero and empty ones are left out, as proto3 does. */
export class ProtoWriter {
  readonly #parts: Buffer[] = [];

  int(field: number, value: number | bigint | boolean): this {
    const number = typeof value === 'boolean' ? Number(value) : value;
    if (number === 0 || number === 0n) return this;
    this.#parts.push(varint(field << 3), varint(number));
    return this;
  }

  bytes(field: number, value: Buffer | string): this {
    const buffer = typeof value === 'string' ? Buffer.from(value) : value;
    return buffer.length === 0 ? this : this.message(field, buffer);
  }

  /** Also when empty: that a message is there says something. */
  message(field: number, value: Buffer | ProtoWriter): this {
    const buffer = value instanceof ProtoWriter ? value.finish() : value;
    this.#parts.push(fieldHead(field, buffer.length), buffer);
    return this;
  }

  /** Fields that were written before. */
  raw(fields: Buffer): this {
    this.#parts.push(fields);
    return this;
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

/** What goes before so many bytes that are a field's. */
export const fieldHead = (field: number, length: number): Buffer =>
  Buffer.from([...varintBytes((field << 3) | 2), ...varintBytes(length)]);

export type ProtoValue = number | bigint | Buffer;

/** Calls back for every field: integers as number (bigint beyond 2^53), everything with a length as bytes. */
export function readFields(bytes: Buffer, field: (number: number, value: ProtoValue) => void): void {
  let at = 0;
  const next = (): number | bigint => {
    const { value, end } = readVarint(bytes, at);
    at = end;
    return value;
  };
  while (at < bytes.length) {
    const tag = Number(next());
    switch (tag & 7) {
      case 0:
        field(tag >>> 3, next());
        break;
      case 1:
        at += 8;
        break;
      case 2: {
        const length = Number(next());
        if (at + length > bytes.length) throw new Error('protobuf: a field ends after its message');
        field(tag >>> 3, bytes.subarray(at, at + length));
        at += length;
        break;
      }
      case 5:
        at += 4;
        break;
      default:
        throw new Error(`protobuf: wire type ${tag & 7}`);
    }
  }
}

export const asBytes = (value: ProtoValue): Buffer => (Buffer.isBuffer(value) ? value : Buffer.alloc(0));
export const asNumber = (value: ProtoValue): number => (Buffer.isBuffer(value) ? 0 : Number(value));
export const asText = (value: ProtoValue): string => asBytes(value).toString();

const varint = (value: number | bigint): Buffer => Buffer.from(varintBytes(value));

function varintBytes(value: number | bigint): number[] {
  if (typeof value !== 'number' || value < 0 || value > MAX_SHIFTED) return largeVarint(value);
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128);
  bytes.push(rest);
  return bytes;
}

/** Shifting is for 32 bits. */
const MAX_SHIFTED = 2 ** 31 - 1;

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

function readVarint(bytes: Buffer, start: number): { value: number | bigint; end: number } {
  let value = 0;
  let scale = 1;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    // Seven groups stay below 2^49; the rest may not fit a number.
    if (at - start >= 7) return readLongVarint(bytes, start);
    value += (byte & 127) * scale;
    if (byte < 128) return { value, end: at + 1 };
    scale *= 128;
  }
  throw new Error('protobuf: the message ends inside a number');
}

function readLongVarint(bytes: Buffer, start: number): { value: number | bigint; end: number } {
  let value = 0n;
  for (let at = start; at < bytes.length && at < start + 10; at++) {
    const byte = bytes[at] ?? 0;
    value |= BigInt(byte & 127) << BigInt(7 * (at - start));
    if (byte < 128) {
      const signed = BigInt.asIntN(64, value);
      const small = signed >= BigInt(Number.MIN_SAFE_INTEGER) && signed <= BigInt(Number.MAX_SAFE_INTEGER);
      return { value: small ? Number(signed) : signed, end: at + 1 };
    }
  }
  throw new Error('protobuf: a number is too long');
}
