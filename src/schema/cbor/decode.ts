// `application/cbor` into a tree, within the reference's limits. What a tag says of bytes decides how they read as text.
import { bufferOf } from '../../lib/buffer-of.js';
import { trimEnd } from '../../lib/trim-end.js';
import { setMember } from '../../lib/plain-object.js';
import { type Decoded, type DecodeOptions, decodeTree } from '../json/decode.js';
import { FloatLiteral } from '../json/parse.js';
import { plain } from '../json/scalar.js';
import { DecodeError } from '../json/walk.js';
import type { StructType, Type } from '../type.js';

export function decodeCbor(type: StructType, bytes: Uint8Array, options: DecodeOptions): Decoded {
  const decoded = decodeTree(type, new CborReader(bytes).document(), options);
  if (decoded.strictErrors.length === 0) return decoded;
  // The tree has become the object, without what is not known: it is read again for that.
  const index = unknownIndex(type, new CborReader(bytes).document());
  return { ...decoded, strictErrors: [`cbor: found unknown field at map element index ${index}`] };
}

/** Without a type: custom resources and patches. */
export const decodeCborTree = (bytes: Uint8Array): unknown => plain(new CborReader(bytes).document());

/** Of what a store holds: it was a request once, and its lists are as long as that allowed in any form. */
export const decodeStoredCbor = (bytes: Uint8Array): unknown => plain(new CborReader(bytes, Infinity).document());

/**
 * Where the first member stands that its type does not know, among those of its own map. The reference tells nothing more,
 * and of an outer map before what its members have.
 */
function unknownIndex(type: Type, value: unknown): number | undefined {
  if (type.kind === 'list') return firstIndex(Array.isArray(value) ? value : [], () => type.element);
  if (typeof value !== 'object' || value === null || type.kind === 'scalar') return undefined;
  const entries = Object.entries(value);
  if (type.kind === 'map') return firstIndex(Object.values(value), () => type.value);
  const own = entries.findIndex(([key]) => !type.byJson.has(key) && !(type.isKind === true && HEAD.has(key)));
  return own === -1 ? firstIndex(Object.values(value), (i) => type.byJson.get(entries[i]?.[0] ?? '')?.type) : own;
}

const HEAD = new Set(['kind', 'apiVersion']);

function firstIndex(values: readonly unknown[], typeAt: (index: number) => Type | undefined): number | undefined {
  for (const [index, value] of values.entries()) {
    const type = typeAt(index);
    const found = type && unknownIndex(type, value);
    if (found !== undefined) return found;
  }
  return undefined;
}

const maxDepth = 64;
const maxElementsOfRequest = 1024;

const breakItem = Symbol('break');
type Item = unknown;

class CborReader {
  readonly #buffer: Buffer;
  #pos = 0;

  constructor(
    bytes: Uint8Array,
    readonly maxElements = maxElementsOfRequest,
  ) {
    this.#buffer = bufferOf(bytes);
  }

  document(): unknown {
    const value = this.#item(0);
    if (this.#pos < this.#buffer.length) {
      throw new DecodeError(
        `cbor: ${this.#buffer.length - this.#pos} bytes of extraneous data starting at index ${this.#pos}`,
      );
    }
    return value;
  }

  #item(depth: number): unknown {
    const item = this.#itemOrBreak(depth);
    if (item === breakItem) throw new DecodeError('cbor: unexpected "break" code');
    return item;
  }

  #itemOrBreak(depth: number): Item {
    if (depth > maxDepth) throw new DecodeError(`cbor: exceeded max nested level ${maxDepth}`);
    const first = this.#byte();
    const major = first >> 5;
    const info = first & 0x1f;
    switch (major) {
      case 0:
        return safe(this.#argument(info));
      case 1:
        return safe(-1n - BigInt(this.#argument(info)));
      case 2:
        return this.#utf8(this.#chunks(info, 2));
      case 3:
        return this.#utf8(this.#chunks(info, 3));
      case 4:
        return this.#array(info, depth);
      case 5:
        return this.#map(info, depth);
      case 6:
        return this.#tagged(Number(this.#argument(info)), depth);
      default:
        return this.#simple(info);
    }
  }

  #array(info: number, depth: number): unknown[] {
    const items: unknown[] = [];
    this.#each(info, () => {
      const item = this.#itemOrBreak(depth + 1);
      if (item === breakItem) return false;
      items.push(item);
      if (items.length > this.maxElements)
        throw new DecodeError(`cbor: exceeded max number of elements ${this.maxElements} for CBOR array`);
      return true;
    });
    return items;
  }

  #map(info: number, depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    let pairs = 0;
    this.#each(info, () => {
      const key = this.#itemOrBreak(depth + 1);
      if (key === breakItem) return false;
      if (typeof key !== 'string') throw new DecodeError('cbor: cannot unmarshal into Go value of type string');
      if (Object.hasOwn(object, key)) {
        throw new DecodeError(`cbor: found duplicate map key "${key}" at map element index ${pairs}`);
      }
      setMember(object, key, this.#item(depth + 1));
      if (++pairs > this.maxElements)
        throw new DecodeError(`cbor: exceeded max number of key-value pairs ${this.maxElements} for CBOR map`);
      return true;
    });
    return object;
  }

  /** Runs for each element of a list or map, until its length or its break. */
  #each(info: number, read: () => boolean): void {
    if (info === 31) {
      while (read());
      return;
    }
    const length = Number(this.#argument(info));
    for (let i = 0; i < length; i++) if (!read()) throw new DecodeError('cbor: unexpected "break" code');
  }

  #tagged(tag: number, depth: number): unknown {
    switch (tag) {
      case 2:
      case 3:
        throw new DecodeError('cbor: bignum is not allowed');
      case 21:
        return this.#bytesOf(tag).toString('base64url');
      case 22:
        return this.#bytesOf(tag).toString('base64');
      case 23:
        return this.#bytesOf(tag).toString('hex').toUpperCase();
      case 1: {
        const seconds = this.#item(depth + 1);
        const value = seconds instanceof FloatLiteral ? seconds.value : Number(seconds);
        const date = new Date(value * 1000);
        if (Number.isNaN(date.getTime())) throw new DecodeError('cbor: time is out of range');
        return `${trimEnd(trimEnd(date.toISOString().slice(0, -1), '0'), '.')}Z`;
      }
      default:
        return this.#item(depth + 1);
    }
  }

  #bytesOf(tag: number): Buffer {
    const first = this.#byte();
    if (first >> 5 !== 2) throw new DecodeError(`cbor: invalid content for tag ${tag}`);
    return this.#chunks(first & 0x1f, 2);
  }

  #simple(info: number): Item {
    switch (info) {
      case 20:
        return false;
      case 21:
        return true;
      case 22:
        return null;
      case 25:
        return this.#float(fromHalf(this.#take(2).readUInt16BE(0)));
      case 26:
        return this.#float(this.#take(4).readFloatBE(0));
      case 27:
        return this.#float(this.#take(8).readDoubleBE(0));
      case 31:
        return breakItem;
      default:
        throw new DecodeError(`cbor: simple value ${info} is not recognized`);
    }
  }

  #float(value: number): FloatLiteral {
    if (!Number.isFinite(value)) throw new DecodeError('cbor: floating-point NaN or infinity is not allowed');
    return new FloatLiteral(value, String(value));
  }

  /** The bytes of a string, whole or in chunks of the same sort. */
  #chunks(info: number, major: number): Buffer {
    if (info !== 31) return this.#take(Number(this.#argument(info)));
    const parts: Buffer[] = [];
    for (let first = this.#byte(); first !== 0xff; first = this.#byte()) {
      if (first >> 5 !== major || (first & 0x1f) === 31)
        throw new DecodeError('cbor: wrong element type for indefinite-length string');
      parts.push(this.#take(Number(this.#argument(first & 0x1f))));
    }
    return Buffer.concat(parts);
  }

  #utf8(bytes: Buffer): string {
    try {
      return utf8.decode(bytes);
    } catch {
      throw new DecodeError('cbor: invalid UTF-8 string');
    }
  }

  #argument(info: number): number | bigint {
    if (info < 24) return info;
    switch (info) {
      case 24:
        return this.#byte();
      case 25:
        return this.#take(2).readUInt16BE(0);
      case 26:
        return this.#take(4).readUInt32BE(0);
      case 27:
        return this.#take(8).readBigUInt64BE(0);
      default:
        throw new DecodeError(`cbor: invalid additional information ${info}`);
    }
  }

  #take(length: number): Buffer {
    if (length > this.#buffer.length - this.#pos) throw new DecodeError('unexpected EOF');
    const bytes = this.#buffer.subarray(this.#pos, this.#pos + length);
    this.#pos += length;
    return bytes;
  }

  #byte(): number {
    const byte = this.#buffer[this.#pos++];
    if (byte === undefined) throw new DecodeError('unexpected EOF');
    return byte;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function safe(value: number | bigint): number | bigint {
  const small = Number(value);
  if (Number.isSafeInteger(small)) return small;
  const large = BigInt(value);
  if (large !== BigInt.asIntN(64, large))
    throw new DecodeError(`cbor: cannot unmarshal ${large} into Go value of type int64`);
  return large;
}

function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
