/** Writes CBOR items one after the other. */
export class CborWriter {
  #buffer = Buffer.allocUnsafe(4096);
  #length = 0;

  finish(): Buffer {
    return Buffer.from(this.#buffer.subarray(0, this.#length));
  }

  raw(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** The first bytes of an item: its major type and its length, number or tag, as short as possible. */
  head(major: number, value: number | bigint): void {
    const type = major << 5;
    if (value < 24) this.#byte(type | Number(value));
    else if (value < 0x100) this.#numbers(type | 24, 1, Number(value));
    else if (value < 0x1_0000) this.#numbers(type | 25, 2, Number(value));
    else if (value < 0x1_0000_0000) this.#numbers(type | 26, 4, Number(value));
    else {
      this.#byte(type | 27);
      this.#room(8);
      this.#length = this.#buffer.writeBigUInt64BE(BigInt(value), this.#length);
    }
  }

  bytes(bytes: Uint8Array): void {
    this.head(2, bytes.length);
    this.raw(bytes);
  }

  tag(number: number): void {
    this.head(6, number);
  }

  int(value: number | bigint): void {
    if (value >= 0) this.head(0, value);
    else this.head(1, typeof value === 'bigint' ? -value - 1n : -value - 1);
  }

  bool(value: boolean): void {
    this.#byte(value ? 0xf5 : 0xf4);
  }

  null(): void {
    this.#byte(0xf6);
  }

  /** In 16, 32 or 64 bits: the fewest that keep the value. */
  float(value: number): void {
    const half = toHalf(value);
    if (half !== undefined) this.#numbers(0xf9, 2, half);
    else if (Math.fround(value) === value) {
      this.#byte(0xfa);
      this.#room(4);
      this.#length = this.#buffer.writeFloatBE(value, this.#length);
    } else {
      this.#byte(0xfb);
      this.#room(8);
      this.#length = this.#buffer.writeDoubleBE(value, this.#length);
    }
  }

  #byte(value: number): void {
    this.#room(1);
    this.#buffer[this.#length++] = value;
  }

  #numbers(head: number, size: number, value: number): void {
    this.#byte(head);
    this.#room(size);
    this.#length = this.#buffer.writeUIntBE(value, this.#length, size);
  }

  #room(bytes: number): void {
    if (this.#buffer.length - this.#length >= bytes) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + bytes));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

/** The 16 bits of a float that fits in them. */
function toHalf(value: number): number | undefined {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  if (magnitude === 0) return sign;
  const exponent = Math.floor(Math.log2(magnitude));
  if (exponent > 15 || exponent < -24) return undefined;
  if (exponent < -14) {
    const steps = magnitude / 2 ** -24;
    return Number.isInteger(steps) ? sign | steps : undefined;
  }
  const fraction = (magnitude / 2 ** exponent - 1) * 1024;
  return Number.isInteger(fraction) && fraction >= 0 ? sign | ((exponent + 15) << 10) | fraction : undefined;
}
