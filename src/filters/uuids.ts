// Random ids, as `crypto.randomUUID` makes them. That one joins a text of twenty parts for each; here many are encoded
// at a time, and each is a piece of their text.
import { RandomPool } from '../lib/values/random-pool.js';

const UUID_LENGTH = 36;

const ID_BYTES = 16;
/** Few: whoever keeps one keeps the text of all. */
const IDS_PER_BATCH = 16;
const DASH = 0x2d;
const DIGITS = Buffer.from('0123456789abcdef');

export class Uuids {
  readonly #random = new RandomPool();
  readonly #encoded = Buffer.allocUnsafeSlow(IDS_PER_BATCH * UUID_LENGTH);
  #text = '';
  #at = 0;

  // hot: once for each request.
  next(): string {
    if (this.#at === this.#text.length) this.#printMore();
    const at = this.#at;
    this.#at = at + UUID_LENGTH;
    return this.#text.slice(at, at + UUID_LENGTH);
  }

  #printMore(): void {
    const start = this.#random.take(IDS_PER_BATCH * ID_BYTES);
    for (let i = 0; i < IDS_PER_BATCH; i++) {
      encodeId(this.#random.bytes, start + i * ID_BYTES, this.#encoded, i * UUID_LENGTH);
    }
    this.#text = this.#encoded.toString('latin1');
    this.#at = 0;
  }
}

function encodeId(random: Buffer, start: number, out: Buffer, outStart: number): void {
  // RFC 9562: version 4, and the variant.
  random[start + 6] = ((random[start + 6] as number) & 0x0f) | 0x40;
  random[start + 8] = ((random[start + 8] as number) & 0x3f) | 0x80;
  let at = outStart;
  for (let i = 0; i < ID_BYTES; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) out[at++] = DASH;
    const byte = random[start + i] as number;
    out[at++] = DIGITS[byte >> 4] as number;
    out[at++] = DIGITS[byte & 0x0f] as number;
  }
}
