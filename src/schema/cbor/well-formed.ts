// The form of a whole document, looked at before anything in it is: what it may not be, in kube-apiserver's words.
import { MAX_INT64 } from '../../lib/values/int64.js';
import { DecodeError } from '../json/walk.js';
import {
  ARRAY,
  argumentAt,
  BREAK,
  BYTES,
  floatOf,
  type Head,
  INDEFINITE,
  MAP,
  PRIMITIVE,
  SORTS,
  TAG,
  TEXT,
} from './cursor.js';

/** Of lists, maps and tags in each other. */
const MAX_DEPTH = 64;

/** Throws a DecodeError. */
export function checkWellFormed(buffer: Buffer, maxElements: number): void {
  if (buffer.length === 0) throw new DecodeError('EOF');
  const checker = new Checker(buffer, maxElements);
  checker.item(0);
  const left = buffer.length - checker.pos;
  if (left > 0) throw refusal(`${left} bytes of extraneous data starting at index ${checker.pos}`);
}

class Checker {
  pos = 0;

  constructor(
    readonly buffer: Buffer,
    readonly maxElements: number,
  ) {}

  item(depth: number): void {
    const head = this.#head();
    const { major, info, argument } = head;
    if (major === BYTES || major === TEXT) {
      if (info === INDEFINITE) this.#chunks(major);
      else this.#pass(argument, `${SORTS[major]} length ${argument} is too large, causing integer overflow`);
    } else if (major === ARRAY || major === MAP) this.#elements(head, deeper(depth));
    else if (major === TAG) this.#tagged(argument, depth);
  }

  #pass(length: number | bigint, tooLarge: string): void {
    if (length > MAX_INT64) throw refusal(tooLarge);
    if (length > this.buffer.length - this.pos) throw endOfInput();
    this.pos += Number(length);
  }

  #chunks(major: number): void {
    const sort = SORTS[major] ?? '';
    for (;;) {
      const first = this.#peek();
      if (first === BREAK) break;
      if (first >> 5 !== major) {
        throw refusal(`wrong element type ${SORTS[first >> 5] ?? ''} for indefinite-length ${sort}`);
      }
      if ((first & 0x1f) === INDEFINITE) throw refusal(`indefinite-length ${sort} chunk is not definite-length`);
      this.item(0);
    }
    this.pos++;
  }

  #elements({ major, info, argument }: Head, depth: number): void {
    const perElement = major === MAP ? 2 : 1;
    if (info === INDEFINITE) {
      let items = 0;
      while (this.#peek() !== BREAK) {
        this.item(depth);
        items++;
        if (items % perElement === 0) this.#checkCount(major, items / perElement);
      }
      this.pos++;
      if (items % perElement !== 0) throw refusal('unexpected "break" code');
      return;
    }
    if (argument > MAX_INT64) {
      throw refusal(`${SORTS[major] ?? ''} length ${argument} is too large, it would cause integer overflow`);
    }
    const count = Number(argument);
    this.#checkCount(major, count);
    for (let i = 0; i < count * perElement; i++) this.item(depth);
  }

  #checkCount(major: number, count: number): void {
    if (count <= this.maxElements) return;
    const what = major === MAP ? 'key-value pairs' : 'elements';
    throw refusal(`exceeded max number of ${what} ${this.maxElements} for CBOR ${SORTS[major] ?? ''}`);
  }

  #tagged(first: number | bigint, depth: number): void {
    let inner = depth;
    for (let tag = first; ; tag = this.#head().argument) {
      const next = this.#peek();
      if (tag === 2 || tag === 3) throw refusal('data item of cbor type tag is not accepted by protocol: bignum');
      if (next >> 5 !== TAG) return this.item(inner);
      inner = deeper(inner);
    }
  }

  #head(): Head {
    const first = this.#peek();
    const [major, info] = [first >> 5, first & 0x1f];
    const at = ++this.pos;
    if (info < 24) return { major, info, argument: info };
    if (info === INDEFINITE && major === PRIMITIVE) throw refusal('unexpected "break" code');
    if (info === INDEFINITE && major >= BYTES && major <= MAP) return { major, info, argument: info };
    if (info > 27) throw refusal(`invalid additional information ${info} for type ${SORTS[major] ?? ''}`);
    const width = 1 << (info - 24);
    if (this.buffer.length - at < width) throw endOfInput();
    const argument = argumentAt(this.buffer, at, width);
    this.pos += width;
    if (major === PRIMITIVE) checkPrimitive(info, argument);
    return { major, info, argument };
  }

  #peek(): number {
    const byte = this.buffer[this.pos];
    if (byte === undefined) throw endOfInput();
    return byte;
  }
}

function deeper(depth: number): number {
  if (depth + 1 > MAX_DEPTH) throw refusal(`exceeded max nested level ${MAX_DEPTH}`);
  return depth + 1;
}

function checkPrimitive(info: number, argument: number | bigint): void {
  if (info === 24) {
    if (argument < 32) throw refusal(`invalid simple value ${argument} for type primitives`);
    return;
  }
  const value = floatOf(info, argument);
  if (Number.isFinite(value)) return;
  const what = Number.isNaN(value) ? 'NaN' : 'infinity';
  throw refusal(`data item of cbor type primitives is not accepted by protocol: floating-point ${what}`);
}

const refusal = (why: string): DecodeError => new DecodeError(`cbor: ${why}`);

const endOfInput = (): DecodeError => new DecodeError('unexpected EOF');
