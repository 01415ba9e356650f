// Where an answer in pieces is written to.
import type { Writable } from 'node:stream';
import { drained } from '../../lib/async/drained.js';
import type { HttpResponse, ResponseSink } from '../../lib/http/http.js';
import { GatheredWrites } from '../../lib/scheduling/write-scheduler.js';
import { headerLines } from './response-head.js';

/** As it is: over a connection that was handed over, or one that ends with the answer. */
export class PlainSink implements ResponseSink {
  protected readonly writes: GatheredWrites;

  constructor(
    protected readonly output: Writable,
    readonly signal: AbortSignal,
  ) {
    this.writes = new GatheredWrites(output);
  }

  get pendingBytes(): number {
    return this.output.writableLength;
  }

  write(chunk: Buffer | string): boolean {
    if (this.output.destroyed) return false;
    this.writes.gather();
    return this.output.write(chunk);
  }

  drained(): Promise<void> {
    return drained(this.output);
  }
}

/** Each write a chunk with its size. */
export class ChunkSink extends PlainSink {
  #trailers: HttpResponse['headers'] = {};

  trail(fields: HttpResponse['headers']): void {
    this.#trailers = fields;
  }

  /** After the last chunk. */
  finish(): void {
    this.output.write(`0\r\n${headerLines(this.#trailers)}\r\n`);
  }

  override write(chunk: Buffer | string): boolean {
    const { output } = this;
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    if (output.destroyed || bytes.length === 0) return !output.destroyed;
    this.writes.gather();
    output.write(`${bytes.length.toString(16)}\r\n`);
    output.write(bytes);
    return output.write('\r\n');
  }
}
