// The body of an answer: a stream with back pressure, or all of the bytes at once when they came with the head.
import { Readable } from 'node:stream';
import { ChunkedDecoder, MalformedChunks } from '../../lib/http/http1/chunked.js';
import { OutboundError } from '../outbound-error.js';
import type { AnswerFraming } from './response-head.js';
import { readTrailers, type Trailers } from './trailers.js';

/** A body that is complete; a caller that wants only the bytes need not read the stream. */
export class WholeBody extends Readable {
  constructor(readonly bytes: Buffer) {
    super();
  }

  override _read(): void {
    if (this.bytes.length > 0) this.push(this.bytes);
    this.push(null);
  }
}

export interface AnswerSource {
  /** More is wanted. */
  resume(): void;
  /** Nobody reads the rest. */
  abandon(): void;
}

export class AnswerBody extends Readable {
  #source: AnswerSource | undefined;

  constructor(source: AnswerSource) {
    super();
    this.#source = source;
    // Readers have their own listeners. Without this one an error in an abandoned answer would end the process.
    this.on('error', () => undefined);
  }

  /** All of it has come: the connection is another's from here on. */
  finish(): void {
    this.#source = undefined;
    this.push(null);
  }

  fail(error: Error): void {
    this.#source = undefined;
    this.destroy(error);
  }

  override _read(): void {
    this.#source?.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#source?.abandon();
    this.#source = undefined;
    done(error);
  }
}

/** Where a body ends among the bytes that come. */
export class BodyReader {
  #left: number;
  readonly #chunks: ChunkedDecoder | undefined;

  constructor(private readonly framing: AnswerFraming) {
    this.#left = framing.kind === 'length' ? framing.bytes : 0;
    this.#chunks = framing.kind === 'chunked' ? new ChunkedDecoder(true) : undefined;
  }

  get ended(): boolean {
    if (this.#chunks !== undefined) return this.#chunks.done;
    return this.framing.kind !== 'close' && this.#left === 0;
  }

  /** What came after the body, once it has ended. */
  readonly trailers = (): Trailers => readTrailers(this.#chunks?.trailerLines ?? []);

  /** Hands on the data in `bytes`; answers how many bytes belonged to this body. Throws an OutboundError. */
  feed(bytes: Buffer, receive: (piece: Buffer) => void): number {
    if (this.#chunks !== undefined) return feedChunks(this.#chunks, bytes, receive);
    if (this.framing.kind === 'close') {
      receive(bytes);
      return bytes.length;
    }
    const piece = bytes.length <= this.#left ? bytes : bytes.subarray(0, this.#left);
    this.#left -= piece.length;
    if (piece.length > 0) receive(piece);
    return piece.length;
  }
}

function feedChunks(chunks: ChunkedDecoder, bytes: Buffer, receive: (piece: Buffer) => void): number {
  try {
    return chunks.feed(bytes, receive);
  } catch (error) {
    if (!(error instanceof MalformedChunks)) throw error;
    throw new OutboundError('protocol', 'malformed chunked encoding', error);
  }
}
