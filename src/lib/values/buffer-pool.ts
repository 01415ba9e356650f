// Memory outside V8's heap for bytes that leave soon, used again and again. V8 counts such memory as it is allocated, and a
// few megabytes of it are reason enough for it to collect the whole heap.

const SIZES_BYTES = [4 * 1024, 32 * 1024, 160 * 1024] as const;
const MAX_KEPT = [64, 16, 8] as const;
/** The largest size that is kept. */
export const MAX_POOLED_BYTES = SIZES_BYTES[2];

export class BufferPool {
  readonly #free: readonly Buffer[][] = SIZES_BYTES.map(() => []);

  /** What it holds is undefined. */
  // hot: once for each event-loop turn and connection.
  take(atLeast: number): Buffer {
    for (let i = 0; i < SIZES_BYTES.length; i++) {
      const size = SIZES_BYTES[i] as number;
      if (atLeast <= size) return this.#free[i]?.pop() ?? Buffer.allocUnsafeSlow(size);
    }
    return Buffer.allocUnsafeSlow(atLeast);
  }

  /** Nobody uses the buffer any more: the next caller of `take` overwrites it. */
  give(buffer: Buffer): void {
    for (let i = 0; i < SIZES_BYTES.length; i++) {
      const free = this.#free[i] as Buffer[];
      if (buffer.length === SIZES_BYTES[i] && free.length < (MAX_KEPT[i] as number)) return void free.push(buffer);
    }
  }
}
