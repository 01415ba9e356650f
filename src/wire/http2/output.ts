// What a connection writes at the end of this event-loop iteration, in one buffer that is reused afterwards.
import { type BufferPool, MAX_POOLED_BYTES } from '../../lib/values/buffer-pool.js';
import { ByteWriter } from '../byte-writer.js';

const NOTHING = Buffer.alloc(0);

export class Output extends ByteWriter {
  constructor(private readonly pool: BufferPool) {
    super(NOTHING);
  }

  /** Beyond what the pool keeps, buffers double when they grow: what is written in small pieces must not be copied for each. */
  protected override grown(needed: number): Buffer {
    const larger = this.pool.take(needed <= MAX_POOLED_BYTES ? needed : Math.max(needed, this.bytes.length * 2));
    if (this.bytes === NOTHING) return larger;
    this.bytes.copy(larger, 0, 0, this.at);
    this.pool.give(this.bytes);
    return larger;
  }

  /** The buffer and how much of it is written. The caller owns it, and gives it back to the pool. */
  take(): { readonly buffer: Buffer; readonly length: number } {
    const taken = { buffer: this.bytes, length: this.at };
    this.bytes = NOTHING;
    this.at = 0;
    return taken;
  }

  drop(): void {
    this.pool.give(this.take().buffer);
  }
}
