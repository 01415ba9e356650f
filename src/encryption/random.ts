import crypto from 'node:crypto';

/** Random bytes from the system's source, injected so that tests know them. */
export type RandomBytes = (size: number) => Buffer;

const POOL_BYTES = 4096;

/** Asks the system for many at a time, which for the few bytes of a nonce takes most of the time; none is given twice. */
// hot: every write
export function pooledRandom(): RandomBytes {
  let pool: Buffer = Buffer.alloc(0);
  let used = 0;
  return (size) => {
    if (used + size > pool.length) {
      // A new one each time: what was given out stays its owner's.
      pool = crypto.randomFillSync(Buffer.allocUnsafeSlow(Math.max(POOL_BYTES, size)));
      used = 0;
    }
    used += size;
    return pool.subarray(used - size, used);
  };
}
