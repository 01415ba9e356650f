// The body of a request. What nobody wants yet is held, and the client's window stays as small as that leaves it.
import { Readable } from 'node:stream';
import { CollectedBytes } from '../../lib/values/collected-bytes.js';
import type { BodyErrors } from '../body-errors.js';

/** Most bodies fit; so many streams of a connection may hold as much. */
export const UPLOAD_WINDOW_BYTES = 256 * 1024;

export interface UploadOwner {
  /** The handler has consumed so many bytes: the client may send as many more. */
  taken(bytes: number): void;
  /** The client may be waiting to hear that its body is wanted. */
  wanted(): void;
}

export class Upload {
  readonly #collected = new CollectedBytes();
  /** All of it has come. */
  ended = false;
  #received = 0;
  #failed: Error | undefined = undefined;
  #limitBytes = 0;
  #settle: { resolve: (body: Buffer) => void; reject: (error: Error) => void } | undefined = undefined;
  #stream: Readable | undefined = undefined;
  #streamWants = false;

  /** `declared` is what the head said, -1 where it said nothing. */
  constructor(
    private readonly declared: number,
    private readonly owner: UploadOwner,
    private readonly errors: BodyErrors,
  ) {}

  get begun(): boolean {
    return this.#received > 0;
  }

  /** What has come and `more` are not more than was declared. */
  agrees(more: number): boolean {
    return this.declared < 0 || this.#received + more <= this.declared;
  }

  push(piece: Buffer): void {
    this.#received += piece.length;
    if (this.#failed !== undefined) return this.owner.taken(piece.length);
    this.#collected.add(piece);
    if (this.#stream !== undefined) this.#feedStream(this.#stream);
    else if (this.#settle !== undefined) {
      this.owner.taken(piece.length);
      this.#check();
    }
  }

  /** The end of the body. A body that is shorter than declared fails for its reader as one that was cut off. */
  end(): void {
    if (this.#received < this.declared) {
      this.cut(`request declared a Content-Length of ${this.declared} but only wrote ${this.#received} bytes`);
    }
    this.ended = true;
    if (this.#stream !== undefined) this.#feedStream(this.#stream);
    else this.#check();
  }

  /** No more will come. */
  cut(why: string): void {
    if (!this.ended) this.#fail(this.errors.broken(why));
  }

  read(limitBytes: number): Promise<Buffer> {
    if (this.#failed !== undefined) return Promise.reject(this.#failed);
    this.#limitBytes = limitBytes;
    this.owner.wanted();
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.owner.taken(this.#collected.size);
      this.#check();
    });
  }

  stream(): Readable {
    this.owner.wanted();
    const stream = new Readable({
      read: () => {
        this.#streamWants = true;
        this.#feedStream(stream);
      },
      destroy: (error, done) => {
        if (!this.ended || this.#collected.size > 0) this.#fail(this.errors.broken('client disconnected'));
        done(error);
      },
    });
    this.#stream = stream;
    if (this.#failed !== undefined) stream.destroy(this.#failed);
    return stream;
  }

  #feedStream(stream: Readable): void {
    if (this.#streamWants && this.#collected.size > 0) {
      this.owner.taken(this.#collected.size);
      this.#streamWants = stream.push(this.#collected.take());
    }
    if (this.ended && this.#streamWants && this.#collected.size === 0 && this.#failed === undefined) {
      this.#streamWants = false;
      stream.push(null);
    }
  }

  #check(): void {
    if (this.#settle === undefined) return;
    if (this.#collected.size > this.#limitBytes || this.declared > this.#limitBytes) {
      return this.#fail(this.errors.tooLarge(`limit is ${this.#limitBytes}`));
    }
    if (!this.ended) return;
    const { resolve } = this.#settle;
    this.#settle = undefined;
    resolve(this.#collected.take());
  }

  #fail(error: Error): void {
    if (this.#failed !== undefined) return;
    this.#failed = error;
    this.#collected.take();
    this.#settle?.reject(error);
    this.#settle = undefined;
    this.#streamWants = false;
    this.#stream?.destroy(error);
  }
}
