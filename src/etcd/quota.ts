// How much the store may grow. A write that would exceed the quota is refused, and raises the alarm NOSPACE: from then on only reads
// and deletes are accepted, until somebody has made room and disarms it. That is etcd's way.
import type { Mvcc } from '../kv/embedded/mvcc.js';
import { etcdFault } from './faults.js';

/** etcd's, without `--quota-backend-bytes`. */
const DEFAULT_QUOTA_BYTES = 2 * 1024 ** 3;
/** etcd's estimate of what a write takes beside its key and value. */
const OVERHEAD_BYTES = 512;
/** The engine is not asked for its size before each write: so much may be written in between. */
const STEP_BYTES = 1024 * 1024;

export class Quota {
  readonly #mvcc: Mvcc;
  readonly quotaBytes: number;
  #hasAlarm = false;
  /** What may be written before the engine is asked again. */
  #left = 0;

  /** `quotaBytes`: below 0 there is none, 0 is etcd's default. */
  constructor(mvcc: Mvcc, quotaBytes: number) {
    this.#mvcc = mvcc;
    this.quotaBytes = quotaBytes === 0 ? DEFAULT_QUOTA_BYTES : quotaBytes < 0 ? Infinity : quotaBytes;
  }

  /** Also where the disk is full. */
  get hasAlarm(): boolean {
    return this.#hasAlarm || this.#mvcc.isFull;
  }

  raise(): void {
    this.#hasAlarm = true;
  }

  disarm(): void {
    this.#hasAlarm = false;
    this.#left = 0;
  }

  /** Before a write of so many bytes. */
  // hot: every write
  take(requestBytes: number): void {
    if (this.#hasAlarm) throw etcdFault('noSpace');
    const bytes = requestBytes + OVERHEAD_BYTES;
    if (bytes > this.#left) this.#left = Math.min(STEP_BYTES, this.quotaBytes - this.#mvcc.size().usedBytes);
    if (bytes > this.#left && this.#mvcc.size().usedBytes + bytes > this.quotaBytes) {
      this.raise();
      throw etcdFault('noSpace');
    }
    this.#left -= bytes;
  }
}
