import crypto from 'node:crypto';

/** Random bytes from the system's source, injected so that tests know them. */
export type RandomBytes = (size: number) => Buffer;

const POOL_BYTES = 4096;

/** Reads many random bytes at a time, since a system call costs most for the few bytes of a nonce; none is used twice. */
// hot: every write
export function pooledRandom(): RandomBytes {
  let pool: Buffer = Buffer.alloc(0);
  let used = 0;
  return (size) => {
    if (used + size > pool.length) {
      // A new buffer each time: callers keep their slices of the old one.
      pool = crypto.randomFillSync(Buffer.allocUnsafeSlow(Math.max(POOL_BYTES, size)));
      used = 0;
    }
    used += size;
    return pool.subarray(used - size, used);
  };
}
