// Random bytes, drawn many at a time: a call for each few costs more than they do.
import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 4096;

export class RandomPool {
  readonly bytes = Buffer.allocUnsafeSlow(POOL_BYTES);
  #used = POOL_BYTES;

  /** The offset of `count` unused bytes in the pool; they may be overwritten by the next take(). */
  take(count: number): number {
    if (this.#used + count > POOL_BYTES) {
      randomFillSync(this.bytes);
      this.#used = 0;
    }
    const at = this.#used;
    this.#used += count;
    return at;
  }
}
