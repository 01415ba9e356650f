// Where an answer in pieces is written to.
import type { Writable } from 'node:stream';
import { drained } from '../../lib/drained.js';
import type { ResponseSink } from '../../lib/http.js';

/** As it is: over a connection that was handed over, or one that ends with the answer. */
export class PlainSink implements ResponseSink {
  constructor(
    protected readonly output: Writable,
    readonly signal: AbortSignal,
  ) {}

  get pendingBytes(): number {
    return this.output.writableLength;
  }

  write(chunk: Buffer | string): boolean {
    return this.output.destroyed ? false : this.output.write(chunk);
  }

  drained(): Promise<void> {
    return drained(this.output);
  }
}

/** Each write a chunk with its size. */
export class ChunkSink extends PlainSink {
  override write(chunk: Buffer | string): boolean {
    const { output } = this;
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    if (output.destroyed || bytes.length === 0) return !output.destroyed;
    output.cork();
    output.write(`${bytes.length.toString(16)}\r\n`);
    output.write(bytes);
    const more = output.write('\r\n');
    output.uncork();
    return more;
  }
}
