// HEADERS and the CONTINUATIONs that may follow it, put together: RFC 9113, sections 6.2 and 6.10.
import { ByteWriter } from '../byte-writer.js';
import { ConnectionError, ErrorCode } from './error-code.js';
import { Flag, type FrameHead } from './frames.js';

/** A header block of a little over a mebibyte is refused with a status. A larger block ends the connection. */
const MAX_BLOCK_BYTES = (1 << 20) + 256 * 1024;
/** Clients fill frames of 16 KiB. */
const MAX_CONTINUATIONS = 256;
const PRIORITY_BYTES = 5;

/** Where the block stands inside the payload of HEADERS. */
export function fragmentOf(flags: number, bytes: Buffer, start: number, end: number): { start: number; end: number } {
  let from = start;
  let to = end;
  if (flags & Flag.padded) {
    if (from >= to) throw new ConnectionError(ErrorCode.frameSize, 'padded frame without a Pad Length field');
    to -= bytes[from++] as number;
  }
  if (flags & Flag.priority) from += PRIORITY_BYTES;
  if (from <= to) return { start: from, end: to };
  const short = (flags & Flag.padded) === 0;
  throw new ConnectionError(
    short ? ErrorCode.frameSize : ErrorCode.protocol,
    short ? 'HEADERS frame without its priority fields' : 'padding exceeds the frame payload',
  );
}

/** A block whose end has not come. */
export class HeaderBlock {
  readonly #bytes: ByteWriter;
  #continuations = 0;

  constructor(
    /** Of its HEADERS. */
    readonly head: FrameHead,
    bytes: Buffer,
    start: number,
    end: number,
  ) {
    this.#bytes = new ByteWriter(Buffer.allocUnsafe(Math.max(256, end - start)));
    this.#bytes.put(bytes, start, end);
  }

  get bytes(): Buffer {
    return this.#bytes.bytes;
  }

  get length(): number {
    return this.#bytes.at;
  }

  add(bytes: Buffer, start: number, end: number): void {
    if (++this.#continuations > MAX_CONTINUATIONS || this.length + end - start > MAX_BLOCK_BYTES) {
      throw new ConnectionError(ErrorCode.enhanceYourCalm, 'field block is too large');
    }
    this.#bytes.ensure(end - start);
    this.#bytes.put(bytes, start, end);
  }
}
