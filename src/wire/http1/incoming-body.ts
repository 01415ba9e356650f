// The body of one request, as it comes off the connection: held back until somebody wants it.
import { Readable } from 'node:stream';
import { CollectedBytes } from '../../lib/values/collected-bytes.js';
import { ChunkedDecoder, MalformedChunks } from '../../lib/http/http1/chunked.js';
import type { BodyErrors } from '../body-errors.js';
import type { Framing } from './request-head.js';

/** The most bytes of an unread body that are discarded to keep the connection alive. */
const MAX_DISCARDED_BYTES = 256 * 1024;

export class IncomingBody {
  #left: number;
  readonly #chunks: ChunkedDecoder | undefined;
  readonly #collected = new CollectedBytes();
  /** Of what has come, also beyond the limit. */
  #size = 0;
  #limitBytes = 0;
  #settle: { resolve: (body: Buffer) => void; reject: (error: Error) => void } | undefined = undefined;
  /** Nothing of it is read any more: too long, malformed, or cut off. */
  #failed: Error | undefined = undefined;
  /** The stream of a body that is read piece by piece; it has room for more while `#streamWants`. */
  #stream: Readable | undefined = undefined;
  #streamWants = false;

  constructor(
    framing: Framing,
    private readonly errors: BodyErrors,
  ) {
    this.#left = framing.kind === 'length' ? framing.bytes : 0;
    this.#chunks = framing.kind === 'chunked' ? new ChunkedDecoder() : undefined;
  }

  get ended(): boolean {
    return this.#chunks === undefined ? this.#left === 0 : this.#chunks.done;
  }

  /** Somebody waits for bytes. */
  get wanted(): boolean {
    return this.#settle !== undefined || this.#streamWants;
  }

  read(limitBytes: number): Promise<Buffer> {
    if (this.#failed !== undefined) return Promise.reject(this.#failed);
    this.#limitBytes = limitBytes;
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#check();
    });
  }

  /** The body as a stream; calls `onWanted` whenever the stream has room for more. */
  stream(onWanted: () => void): Readable {
    const stream = new Readable({
      read: () => {
        this.#streamWants = true;
        onWanted();
      },
      destroy: (error, done) => {
        this.#streamWants = false;
        done(error);
      },
    });
    this.#stream = stream;
    if (this.#failed !== undefined) stream.destroy(this.#failed);
    else if (this.ended) stream.push(null);
    return stream;
  }

  /** Answers how many of the bytes were the body's. */
  feed(bytes: Buffer): number {
    if (this.#stream !== undefined) return this.#feedStream(bytes, this.#stream);
    const taken = this.#take(bytes, this.#receive);
    this.#check();
    return taken;
  }

  readonly #receive = (piece: Buffer): void => {
    this.#size += piece.length;
    if (this.#size > this.#limitBytes) return;
    this.#collected.add(piece);
  };

  /** Passes over what has come already; answers how many bytes were the body's. */
  discard(bytes: Buffer): number {
    if (this.#failed !== undefined || (this.#chunks === undefined && this.#left > MAX_DISCARDED_BYTES)) return 0;
    return this.#take(bytes, () => undefined);
  }

  /** No more will come. */
  cut(why = 'unexpected EOF'): void {
    this.#fail(this.errors.broken(why));
  }

  #feedStream(bytes: Buffer, stream: Readable): number {
    const taken = this.#take(bytes, (piece) => {
      this.#streamWants = stream.push(piece) && this.#streamWants;
    });
    if (this.ended && this.#failed === undefined) {
      this.#streamWants = false;
      stream.push(null);
    }
    return taken;
  }

  #take(bytes: Buffer, receive: (piece: Buffer) => void): number {
    if (this.#failed !== undefined) return 0;
    if (this.#chunks === undefined) {
      const piece = bytes.length <= this.#left ? bytes : bytes.subarray(0, this.#left);
      this.#left -= piece.length;
      receive(piece);
      return piece.length;
    }
    try {
      return this.#chunks.feed(bytes, receive);
    } catch (error) {
      if (!(error instanceof MalformedChunks)) throw error;
      this.#fail(this.errors.broken(error.message));
      return bytes.length;
    }
  }

  #check(): void {
    if (this.#settle === undefined) return;
    if (this.#size + this.#left > this.#limitBytes) {
      return this.#fail(this.errors.tooLarge(`limit is ${this.#limitBytes}`));
    }
    if (!this.ended) return;
    const { resolve } = this.#settle;
    this.#settle = undefined;
    resolve(this.#collected.take());
  }

  #fail(error: Error): void {
    this.#failed ??= error;
    this.#collected.take();
    this.#settle?.reject(error);
    this.#settle = undefined;
    this.#streamWants = false;
    if (!this.ended) this.#stream?.destroy(error);
  }
}
