// The heads and trailers of the answers on one connection. Servers answer in the same few words, and then send the same
// few bytes.
import { CompressionError } from '../hpack/compression-error.js';
import { HpackDecoder } from '../hpack/decoder.js';
import { ConnectionError, ErrorCode } from './error-code.js';

/** The fields of one block, `:status` among them; the values of a repeated name are joined. Immutable: equal bytes give
 * the same object, so that callers can cache by its identity. */
export type HeaderFields = Readonly<Record<string, string | undefined>>;

export const MAX_HEADER_LIST_BYTES = 1 << 20;
const MAX_MEMOIZED = 16;
const MAX_MEMOIZED_BYTES = 256;

export class ResponseHeads {
  readonly #decoder = new HpackDecoder();
  /** By the bytes sent; they mean the same as long as the table's version is `#version`. */
  readonly #known = new Map<string, HeaderFields>();
  #version = 0;

  /** Undefined when the fields exceed the announced SETTINGS_MAX_HEADER_LIST_SIZE. */
  // hot: twice for each answer.
  read(bytes: Buffer, start: number, end: number): HeaderFields | undefined {
    const memoized = end - start <= MAX_MEMOIZED_BYTES;
    const key = memoized ? bytes.toString('latin1', start, end) : '';
    if (this.#version !== this.#decoder.version) {
      this.#known.clear();
      this.#version = this.#decoder.version;
    }
    const known = memoized ? this.#known.get(key) : undefined;
    if (known !== undefined) return known;
    const { fields, tooLarge } = this.#decode(bytes, start, end);
    if (tooLarge) return undefined;
    const head = joined(fields);
    if (!memoized || this.#decoder.version !== this.#version) return head;
    if (this.#known.size >= MAX_MEMOIZED) this.#known.clear();
    this.#known.set(key, head);
    return head;
  }

  #decode(bytes: Buffer, start: number, end: number): ReturnType<HpackDecoder['decode']> {
    try {
      return this.#decoder.decode(bytes, MAX_HEADER_LIST_BYTES, start, end);
    } catch (error) {
      if (!(error instanceof CompressionError)) throw error;
      throw new ConnectionError(ErrorCode.compression, error.message);
    }
  }
}

function joined(fields: readonly string[]): HeaderFields {
  const byName = new Map<string, string>();
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [name = '', value = ''] = [fields[i], fields[i + 1]];
    const before = byName.get(name);
    byName.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.freeze(Object.assign(Object.create(null) as Record<string, string>, Object.fromEntries(byName)));
}
