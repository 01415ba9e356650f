// The leases of the embedded store. A lease lives as long as somebody keeps it alive, and when it ends its keys are deleted.
// That it is there, and which keys it has, is on disk (`leases`, `leased`: records.ts). How long it still lives is not: after a
// restart every lease has its whole time again.
import type { Clock } from '../../lib/async/clock.js';
import type { Tables } from './engine.js';
import { decodeChecked, encodeChecked } from './records.js';
import type { RecordWrites } from './table-writes.js';

const ID_BYTES = 8;

interface Lease {
  readonly ttlSeconds: number;
  endsAtMs: number;
}

export class Leases {
  readonly #tables: Pick<Tables, 'leases' | 'leased'>;
  readonly #clock: Clock;
  readonly #leases = new Map<bigint, Lease>();

  constructor(tables: Pick<Tables, 'leases' | 'leased'>, clock: Clock) {
    this.#tables = tables;
    this.#clock = clock;
    for (const { key, value } of tables.leases.getRange({})) {
      const ttlSeconds = decodeChecked(key, value)?.numbers[0];
      if (ttlSeconds === undefined) throw new Error('the record of a lease is not what was written');
      this.#leases.set(key.readBigInt64BE(0), { ttlSeconds, endsAtMs: clock.now() + ttlSeconds * 1000 });
    }
  }

  has(id: bigint): boolean {
    return this.#leases.has(id);
  }

  get ids(): Iterable<bigint> {
    return this.#leases.keys();
  }

  get size(): number {
    return this.#leases.size;
  }

  /** How long it was granted for and still lives; undefined where there is none. */
  find(id: bigint): { readonly ttlSeconds: number; readonly remainingMs: number } | undefined {
    const lease = this.#leases.get(id);
    return lease && { ttlSeconds: lease.ttlSeconds, remainingMs: lease.endsAtMs - this.#clock.now() };
  }

  /** It has its whole time again, how many seconds that is; undefined where there is none. */
  keepAlive(id: bigint): number | undefined {
    const lease = this.#leases.get(id);
    if (lease !== undefined) lease.endsAtMs = this.#clock.now() + lease.ttlSeconds * 1000;
    return lease?.ttlSeconds;
  }

  /** Those whose time is over. */
  due(): bigint[] {
    const nowMs = this.#clock.now();
    return [...this.#leases].filter(([, { endsAtMs }]) => endsAtMs <= nowMs).map(([id]) => id);
  }

  /** The keys that were written with it, encoded; some may have been written since without it. */
  namesOf<T>(id: bigint, each: (name: Buffer) => T): T[] {
    const start = idBytes(id);
    const found: T[] = [];
    const range = id === -1n ? { start } : { start, end: idBytes(id + 1n) };
    for (const key of this.#tables.leased.getKeys(range)) found.push(each(key.subarray(ID_BYTES)));
    return found;
  }

  /** Inside a commit. */
  write(writes: RecordWrites, grants: ReadonlyMap<bigint, number | undefined>): void {
    for (const [id, ttlSeconds] of grants) {
      const key = idBytes(id);
      if (ttlSeconds === undefined) writes.remove('leases', key);
      else writes.put('leases', key, encodeChecked(key, ttlSeconds));
    }
  }

  /** After the commit. */
  apply(grants: ReadonlyMap<bigint, number | undefined>): void {
    for (const [id, ttlSeconds] of grants) {
      if (ttlSeconds === undefined) this.#leases.delete(id);
      else this.#leases.set(id, { ttlSeconds, endsAtMs: this.#clock.now() + ttlSeconds * 1000 });
    }
  }
}

/** The record that says that a key has a lease. */
export const leasedName = (id: bigint, name: Buffer): Buffer => Buffer.concat([idBytes(id), name]);

function idBytes(id: bigint): Buffer {
  const bytes = Buffer.allocUnsafe(ID_BYTES);
  bytes.writeBigInt64BE(BigInt.asIntN(64, id));
  return bytes;
}
