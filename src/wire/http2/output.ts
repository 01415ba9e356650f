// What a connection writes at the end of this turn of the event loop, in one buffer that is reused afterwards.
import { ByteWriter } from '../byte-writer.js';

const SIZES_BYTES = [4 * 1024, 32 * 1024, 160 * 1024] as const;
const MAX_KEPT = [64, 16, 8] as const;
/** Larger ones double when they grow: what is written in small pieces must not be copied for each. */
const MAX_POOLED_BYTES = SIZES_BYTES[2];
const NOTHING = Buffer.alloc(0);

/** Buffers that all connections share. */
export class BufferPool {
  readonly #free: readonly Buffer[][] = SIZES_BYTES.map(() => []);

  take(atLeast: number): Buffer {
    for (const [i, size] of SIZES_BYTES.entries()) {
      if (atLeast <= size) return this.#free[i]?.pop() ?? Buffer.allocUnsafeSlow(size);
    }
    return Buffer.allocUnsafeSlow(atLeast);
  }

  give(buffer: Buffer): void {
    for (const [i, size] of SIZES_BYTES.entries()) {
      const free = this.#free[i] as Buffer[];
      if (buffer.length === size && free.length < (MAX_KEPT[i] as number)) return void free.push(buffer);
    }
  }
}

export class Output extends ByteWriter {
  constructor(private readonly pool: BufferPool) {
    super(NOTHING);
  }

  protected override grown(needed: number): Buffer {
    const larger = this.pool.take(needed <= MAX_POOLED_BYTES ? needed : Math.max(needed, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.at);
    this.pool.give(this.bytes);
    return larger;
  }

  /** The buffer and how much of it is written. It is the taker's, who gives it back to the pool. */
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
