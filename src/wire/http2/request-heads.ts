// The heads of one connection's requests. Clients repeat requests, and then send the same few bytes.
import { CompressionError } from '../hpack/compression-error.js';
import { HpackDecoder } from '../hpack/decoder.js';
import { ConnectionError, ErrorCode } from './error-code.js';
import { areTrailers, parseRequestHead, type RequestHead, type SentHeaders } from './request-head.js';

/** One mebibyte, as kube-apiserver allows, and the overhead of ten fields. */
export const MAX_HEADER_LIST_BYTES = (1 << 20) + 320;

const MAX_MEMOIZED = 8;
const MAX_MEMOIZED_BYTES = 256;
const MAX_MEMOIZED_CHARACTERS = 4 * 1024;
/** Gets, and each kind of body, have headers of their own. */
const MAX_RECENT = 4;

export type ReadHead = RequestHead | 'malformed' | 'too large';

export class RequestHeads {
  readonly #decoder = new HpackDecoder();
  /** By the bytes sent; they mean the same as long as the table's version is `#version`. */
  #known: Map<string, RequestHead> | undefined = undefined;
  #version = 0;
  /** Each with other headers. */
  #recent: SentHeaders[] | undefined = undefined;

  // hot: once for each request.
  read(bytes: Buffer, start: number, end: number): ReadHead {
    const memoized = end - start <= MAX_MEMOIZED_BYTES;
    const key = memoized ? bytes.toString('latin1', start, end) : '';
    if (memoized && this.#version === this.#decoder.version) {
      const known = this.#known?.get(key);
      if (known !== undefined) return known;
    }
    const before = this.#decoder.version;
    const { fields, tooLarge } = this.#decode(bytes, start, end);
    if (tooLarge) return 'too large';
    const head = parseRequestHead(fields, this.#recent);
    if (head === undefined) return 'malformed';
    // An idle connection holds little, whatever it has sent.
    if (charactersOf(fields) > MAX_MEMOIZED_CHARACTERS) return head;
    this.#keep(head);
    if (memoized && this.#decoder.version === before) this.#memoize(key, head);
    return head;
  }

  /** They must be read whatever becomes of them: the next block builds on them. */
  readTrailers(bytes: Buffer, start: number, end: number): boolean {
    const { fields, tooLarge } = this.#decode(bytes, start, end);
    return !tooLarge && areTrailers(fields);
  }

  #decode(bytes: Buffer, start: number, end: number): ReturnType<HpackDecoder['decode']> {
    try {
      return this.#decoder.decode(bytes, MAX_HEADER_LIST_BYTES, start, end);
    } catch (error) {
      if (!(error instanceof CompressionError)) throw error;
      throw new ConnectionError(ErrorCode.compression, error.message);
    }
  }

  #keep({ headers, rawHeaders }: RequestHead): void {
    const recent = (this.#recent ??= []);
    if (recent.some((sent) => sent.headers === headers)) return;
    if (recent.length === MAX_RECENT) recent.shift();
    recent.push({ headers, rawHeaders });
  }

  #memoize(key: string, head: RequestHead): void {
    if (this.#version !== this.#decoder.version || (this.#known?.size ?? 0) >= MAX_MEMOIZED) this.#known = undefined;
    this.#version = this.#decoder.version;
    (this.#known ??= new Map()).set(key, head);
  }
}

function charactersOf(fields: readonly string[]): number {
  let characters = 0;
  for (const field of fields) characters += field.length;
  return characters;
}
