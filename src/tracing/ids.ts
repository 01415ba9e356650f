// Ids of traces and spans.
import { RandomPool } from '../lib/values/random-pool.js';

export interface Ids {
  traceId(): string;
  spanId(): string;
}

export class RandomIds implements Ids {
  readonly #random = new RandomPool();

  traceId(): string {
    return this.#hex(16);
  }

  spanId(): string {
    return this.#hex(8);
  }

  #hex(bytes: number): string {
    const at = this.#random.take(bytes);
    return this.#random.bytes.toString('hex', at, at + bytes);
  }
}
