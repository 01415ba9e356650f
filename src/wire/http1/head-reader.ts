// Finds the end of a request's head in bytes that come in any pieces, looking at each byte once.
import { BAD_REQUEST, parseRequestLine, type Refusal } from './request-line.js';
import { isRefusal, parseHead, type RequestHead } from './request-head.js';

/** One mebibyte, as the reference allows, and what its reader may have taken beyond. */
export const MAX_HEAD_BYTES = (1 << 20) + 4096;
const TOO_LARGE: Refusal = { status: 431, text: '' };
const END = '\r\n\r\n';
const LF = 0x0a;
const NOTHING = Buffer.alloc(0);

export class HeadReader {
  #pieces: Buffer[] = [];
  #size = 0;
  /** The last bytes of the pieces so far: the end may lie across two. */
  #tail: Buffer = NOTHING;
  #firstLineSeen = false;

  /** Some of a head has come. */
  get begun(): boolean {
    return this.#size > 0;
  }

  /** The head once it is whole, with the bytes after it; undefined while more must come. */
  take(bytes: Buffer): { readonly head: RequestHead | Refusal; readonly rest: Buffer } | undefined {
    const window = this.#tail.length === 0 ? bytes : Buffer.concat([this.#tail, bytes]);
    const at = window.indexOf(END, 0, 'latin1');
    if (at < 0) return this.#keep(bytes, window);
    const end = at + END.length - this.#tail.length;
    if (this.#size + end > MAX_HEAD_BYTES) return { head: TOO_LARGE, rest: NOTHING };
    const all = this.#size === 0 ? bytes : Buffer.concat([...this.#pieces, bytes.subarray(0, end)]);
    const text = all.toString('latin1', 0, this.#size + end - END.length);
    this.#pieces = [];
    this.#size = 0;
    this.#tail = NOTHING;
    this.#firstLineSeen = false;
    return { head: parseHead(text), rest: bytes.subarray(end) };
  }

  #keep(bytes: Buffer, window: Buffer): { readonly head: Refusal; readonly rest: Buffer } | undefined {
    this.#pieces.push(bytes);
    this.#size += bytes.length;
    this.#tail = Buffer.from(window.subarray(-(END.length - 1)));
    if (this.#size > MAX_HEAD_BYTES) return { head: TOO_LARGE, rest: NOTHING };
    // Whoever speaks something else is told so at its first line.
    if (!this.#firstLineSeen && bytes.includes(LF)) {
      this.#firstLineSeen = true;
      const start = Buffer.concat(this.#pieces);
      const line = start.toString('latin1', 0, start.indexOf(LF));
      const read = line.endsWith('\r') ? parseRequestLine(line.slice(0, -1)) : BAD_REQUEST;
      if (isRefusal(read)) return { head: read, rest: NOTHING };
    }
    return undefined;
  }
}
