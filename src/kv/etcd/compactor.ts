// Compaction, agreed between all servers on one etcd as kube-apiserver's servers agree: the key `compact_rev_key`
// holds the last compacted revision, and its version is the number of compactions. Each interval every server tries
// to write it on the condition that the version is still the one it saw last; who succeeds compacts to the revision
// it saw an interval ago, the others read the key's new value and try again an interval later.
import type { Logger } from '../../lib/telemetry/log.js';
import type { Clock } from '../../lib/async/clock.js';
import type { EtcdTxn, EtcdTxnAnswer } from './messages.js';

const COMPACT_REV_KEY = 'compact_rev_key';

export class Compactor {
  readonly #txn: (txn: EtcdTxn) => Promise<EtcdTxnAnswer>;
  readonly #compact: (revision: number) => Promise<void>;
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #log: Logger | undefined;
  #seenVersion = 0;
  #seenRevision = 0;
  #compacted = 0;
  #cancel: (() => void) | undefined;

  constructor(options: {
    txn: (txn: EtcdTxn) => Promise<EtcdTxnAnswer>;
    compact: (revision: number) => Promise<void>;
    clock: Clock;
    intervalMs: number;
    log?: Logger;
  }) {
    this.#txn = options.txn;
    this.#compact = options.compact;
    this.#clock = options.clock;
    this.#intervalMs = options.intervalMs;
    this.#log = options.log;
    if (this.#intervalMs > 0) this.#schedule();
  }

  get compactedRevision(): number {
    return this.#compacted;
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** One round; true when this server compacted. */
  async round(): Promise<boolean> {
    const target = this.#seenRevision;
    const answer = await this.#txn({
      key: COMPACT_REV_KEY,
      version: this.#seenVersion,
      put: { value: Buffer.from(String(target)) },
    });
    this.#seenRevision = answer.revision;
    if (!answer.succeeded) {
      this.#seenVersion = answer.currentVersion;
      const others = Number(answer.current?.value.toString() ?? '0');
      if (Number.isSafeInteger(others)) this.#compacted = Math.max(this.#compacted, others);
      return false;
    }
    this.#seenVersion++;
    // Nothing is known yet of an interval ago.
    if (target === 0) return false;
    await this.#compact(target);
    this.#compacted = Math.max(this.#compacted, target);
    return true;
  }

  #schedule(): void {
    this.#cancel = this.#clock.after(this.#intervalMs, () => {
      this.round()
        .catch((error: unknown) => this.#log?.info(`compaction of etcd failed: ${String(error)}`))
        .finally(() => {
          if (this.#cancel !== undefined) this.#schedule();
        });
    });
  }
}
