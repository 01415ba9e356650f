// hot: writes protobuf from the end of a buffer to its start, so that a message's length is known when it is needed.

export class Writer {
  #buffer = Buffer.allocUnsafe(16 * 1024);
  /** Everything from here to the end of the buffer is written. */
  pos = this.#buffer.length;

  /** What was written, in memory of its own; the writer is empty again. */
  finish(): Buffer {
    const bytes = Buffer.allocUnsafeSlow(this.#buffer.length - this.pos);
    this.#buffer.copy(bytes, 0, this.pos);
    this.reset();
    return bytes;
  }

  /** What was written, until the writer writes again. */
  lend(): Buffer {
    return this.#buffer.subarray(this.pos);
  }

  reset(): void {
    // One large object does not keep its memory for ever.
    if (this.#buffer.length > 1024 * 1024) this.#buffer = Buffer.allocUnsafe(16 * 1024);
    this.pos = this.#buffer.length;
  }

  /** Places count from the end, since growing moves the start. */
  get written(): number {
    return this.#buffer.length - this.pos;
  }

  byte(value: number): void {
    if (this.pos < 1) this.#grow(1);
    this.#buffer[--this.pos] = value;
  }

  /** A whole number from 0 to 2^53. */
  varint(value: number): void {
    if (value < 0x80) {
      this.byte(value);
      return;
    }
    let size = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 128)) size++;
    if (this.pos < size) this.#grow(size);
    this.pos -= size;
    let at = this.pos;
    let rest = value;
    while (rest >= 0x80) {
      this.#buffer[at++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    this.#buffer[at] = rest;
  }

  /** A signed number in its 64-bit form. */
  int(value: number | bigint): void {
    if (typeof value === 'number' && value >= 0) {
      this.varint(value);
      return;
    }
    let rest = BigInt.asUintN(64, BigInt(value));
    const bytes: number[] = [];
    while (rest >= 0x80n) {
      bytes.push(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    bytes.push(Number(rest));
    for (let i = bytes.length - 1; i >= 0; i--) this.byte(bytes[i] ?? 0);
  }

  double(value: number): void {
    if (this.pos < 8) this.#grow(8);
    this.pos -= 8;
    this.#buffer.writeDoubleLE(value, this.pos);
  }

  /** A text with its length in front. */
  string(text: string): void {
    const { length } = text;
    if (this.pos < length) this.#grow(length);
    const end = this.pos;
    if (length < 48) {
      let at = end;
      let i = length - 1;
      for (; i >= 0; i--) {
        const code = text.charCodeAt(i);
        if (code >= 0x80) break;
        this.#buffer[--at] = code;
      }
      if (i < 0) {
        this.pos = at;
        this.varint(length);
        return;
      }
    }
    const size = Buffer.byteLength(text);
    if (this.pos < size) this.#grow(size);
    this.pos -= size;
    this.#buffer.write(text, this.pos, 'utf8');
    this.varint(size);
  }

  bytes(data: Uint8Array): void {
    if (this.pos < data.length) this.#grow(data.length);
    this.pos -= data.length;
    this.#buffer.set(data, this.pos);
    this.varint(data.length);
  }

  base64(text: string): void {
    this.bytes(Buffer.from(text, 'base64'));
  }

  #grow(by: number): void {
    const { length } = this.#buffer;
    const larger = Buffer.allocUnsafe(Math.max(length * 2, length + by));
    const used = length - this.pos;
    this.#buffer.copy(larger, larger.length - used, this.pos);
    this.#buffer = larger;
    this.pos = larger.length - used;
  }
}
