// The alarm NOSPACE. A write that there is no room for, on the disk or within the quota, raises it: from then on only reads and
// deletes are accepted, until somebody has made room and disarms it. That is etcd's way. How much room there is the store knows.
import type { Mvcc } from '../kv/embedded/mvcc.js';
import { KvError } from '../kv/kv.js';
import { etcdFault } from './faults.js';

export class SpaceAlarm {
  readonly #mvcc: Mvcc;
  readonly #stays: boolean;
  #isRaised = false;

  /** `stays`: until it is disarmed, also where there is room again. */
  constructor(mvcc: Mvcc, { stays }: { readonly stays: boolean }) {
    this.#mvcc = mvcc;
    this.#stays = stays;
  }

  get isRaised(): boolean {
    return this.#isRaised || this.#mvcc.isFull;
  }

  raise(): void {
    this.#isRaised = true;
  }

  disarm(): void {
    this.#isRaised = false;
  }

  /** Refuses a write that adds something, while the alarm is raised. */
  // hot: every write
  check(): void {
    if (this.#isRaised) throw etcdFault('noSpace');
  }

  /** A write that adds something failed: the alarm is raised where that was for want of room. */
  failed(error: unknown): void {
    if (this.#stays && error instanceof KvError && error.code === 'disk-full') this.raise();
  }
}
