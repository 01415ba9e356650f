// Where a reader of CBOR stands. Everything but the check of a document's form trusts that the form is good.

export const UNSIGNED = 0;
export const NEGATIVE = 1;
export const BYTES = 2;
export const TEXT = 3;
export const ARRAY = 4;
export const MAP = 5;
export const TAG = 6;
export const PRIMITIVE = 7;

/** How kube-apiserver calls each sort of item. */
export const SORTS = [
  'positive integer',
  'negative integer',
  'byte string',
  'UTF-8 text string',
  'array',
  'map',
  'tag',
  'primitives',
] as const;

export const FALSE = 0xf4;
export const TRUE = 0xf5;
export const NULL = 0xf6;
const UNDEFINED = 0xf7;
export const BREAK = 0xff;

/** What stands for the argument of an item whose end is a break. */
export const INDEFINITE = 31;

export const SELF_DESCRIBED = 55799;

export interface Head {
  readonly major: number;
  /** The lower five bits: how the argument lies, or that there is none. */
  readonly info: number;
  /** A bigint only where a number would not be exact. */
  readonly argument: number | bigint;
}

export class Cursor {
  constructor(
    readonly buffer: Buffer,
    public pos = 0,
  ) {}

  get major(): number {
    return this.first >> 5;
  }

  get first(): number {
    return this.buffer[this.pos] ?? 0;
  }

  get isNull(): boolean {
    return this.first === NULL || this.first === UNDEFINED;
  }

  head(): Head {
    const first = this.first;
    const info = first & 0x1f;
    const at = ++this.pos;
    const width = info < 24 || info === INDEFINITE ? 0 : 1 << (info - 24);
    this.pos += width;
    return { major: first >> 5, info, argument: width === 0 ? info : argumentAt(this.buffer, at, width) };
  }

  /** How many elements a list or a map has; undefined where a break ends it. */
  count(): number | undefined {
    const { info, argument } = this.head();
    return info === INDEFINITE ? undefined : Number(argument);
  }

  /** Runs for each element of a list or pair of a map. */
  each(run: (index: number) => void): void {
    const count = this.count();
    for (let i = 0; count === undefined ? !this.isBreak() : i < count; i++) run(i);
  }

  /** Passes over a break, if there is one. */
  isBreak(): boolean {
    if (this.first !== BREAK) return false;
    this.pos++;
    return true;
  }

  /** The bytes of a string, whole or in chunks. */
  chunks(): Buffer[] {
    const { info, argument } = this.head();
    if (info !== INDEFINITE) return [this.#slice(argument)];
    const parts: Buffer[] = [];
    while (!this.isBreak()) parts.push(this.#slice(this.head().argument));
    return parts;
  }

  #slice(length: number | bigint): Buffer {
    const start = this.pos;
    this.pos += Number(length);
    return this.buffer.subarray(start, this.pos);
  }

  /** Without recursion: what is passed over may be as deep as it likes to be. */
  skip(): void {
    // How many items are to come in each that is open; undefined for those that end with a break.
    const open: (number | undefined)[] = [1];
    while (open.length > 0) {
      const left = open.pop();
      if (left === undefined ? this.isBreak() : left === 0) continue;
      open.push(left === undefined ? undefined : left - 1);
      const { major, info, argument } = this.head();
      if (major === TAG) open.push(1);
      else if (major < BYTES || major === PRIMITIVE) continue;
      else if (info === INDEFINITE) open.push(undefined);
      else if (major <= TEXT) this.pos += Number(argument);
      else open.push(Number(argument) * (major === MAP ? 2 : 1));
    }
  }
}

export function argumentAt(buffer: Buffer, at: number, width: number): number | bigint {
  if (width < 8) return buffer.readUIntBE(at, width);
  const argument = buffer.readBigUInt64BE(at);
  return argument <= Number.MAX_SAFE_INTEGER ? Number(argument) : argument;
}

/** The value of a float whose bits are those of an item's argument. */
export function floatOf(info: number, argument: number | bigint): number {
  if (info === 25) return fromHalf(Number(argument));
  const bits = new DataView(new ArrayBuffer(8));
  if (info === 26) {
    bits.setUint32(0, Number(argument));
    return bits.getFloat32(0);
  }
  bits.setBigUint64(0, BigInt(argument));
  return bits.getFloat64(0);
}

function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
