// Ids of traces and spans, out of random bytes that are drawn many at a time.
import crypto from 'node:crypto';

export interface Ids {
  traceId(): string;
  spanId(): string;
}

const POOL_BYTES = 4096;

export class RandomIds implements Ids {
  readonly #pool = Buffer.allocUnsafe(POOL_BYTES);
  #used = POOL_BYTES;

  traceId(): string {
    return this.#take(16);
  }

  spanId(): string {
    return this.#take(8);
  }

  #take(bytes: number): string {
    if (this.#used + bytes > POOL_BYTES) {
      crypto.randomFillSync(this.#pool);
      this.#used = 0;
    }
    const id = this.#pool.toString('hex', this.#used, this.#used + bytes);
    this.#used += bytes;
    return id;
  }
}
