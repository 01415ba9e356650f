// What the embedded store does on its own: dropping old history, little by little, and keys whose time is over.
import { afterPeriod, type Clock } from '../../lib/async/clock.js';
import { byteKeyIn } from './byte-key.js';
import type { Commits } from './commits.js';
import type { Leases } from './leases.js';
import type { Tables } from './engine.js';
import { currentOf } from './past.js';
import { encodeNumbers, logTimeMs, numberAt } from './records.js';
import type { Room } from './room.js';
import { revokeLease } from './revoke-lease.js';
import { compactedRecord } from './state.js';
import type { RecordWrites } from './table-writes.js';
import { writeKey } from './write-key.js';

const TRIM_PERIOD_MS = 5_000;
/** Log records one commit drops; when there are more to drop, the next follows soon. */
const TRIM_BATCH = 2_000;
const TRIM_SOON_MS = 50;
/** However young, no more changes than this are kept, unless history is kept until somebody compacts. */
const MAX_HISTORY_CHANGES = 1_000_000;
const EXPIRY_PERIOD_MS = 500;
const EXPIRY_BATCH = 500;
const COMPACT_REV_KEY = 'compact_rev_key';

export class Housekeeping {
  /** Revisions before this one can no longer be read. */
  compacted: number;
  readonly #tables: Tables;
  readonly #commits: Commits;
  readonly #clock: Clock;
  readonly #leases: Leases;
  readonly #historyMs: number;
  readonly #maxChanges: number;
  readonly #room: Room;
  readonly #failed: (error: unknown) => void;
  /** Records from a time that is yet to come were there at this time, up to this revision: the clock was set back. */
  #fromTheFuture: { readonly atMs: number; readonly revision: number } | undefined;
  #cancelTrim: (() => void) | undefined;
  #cancelExpiry: (() => void) | undefined;
  #stopped = false;

  constructor(options: {
    tables: Tables;
    commits: Commits;
    clock: Clock;
    compacted: number;
    leases: Leases;
    /** 0: until somebody compacts. */
    historyMs: number;
    room: Room;
    /** The file could not be read. */
    failed: (error: unknown) => void;
  }) {
    this.#tables = options.tables;
    this.#commits = options.commits;
    this.#clock = options.clock;
    this.#leases = options.leases;
    this.#historyMs = options.historyMs;
    this.#maxChanges = options.historyMs === 0 ? Infinity : MAX_HISTORY_CHANGES;
    this.#room = options.room;
    this.#failed = options.failed;
    this.compacted = options.compacted;
    this.#scheduleTrim(TRIM_PERIOD_MS);
    this.#scheduleExpiry();
  }

  async compact(revision: number): Promise<void> {
    await this.#commits.chore((writes) => this.drop(writes, revision));
    this.#scheduleTrim(TRIM_SOON_MS);
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelTrim?.();
    this.#cancelExpiry?.();
  }

  #scheduleTrim(afterMs: number): void {
    if (this.#stopped) return;
    this.#cancelTrim?.();
    this.#cancelTrim = this.#clock.after(afterMs, () => {
      this.#cancelTrim = undefined;
      this.#trim().catch((error: unknown) => {
        this.#failed(error);
        this.#scheduleTrim(TRIM_PERIOD_MS);
      });
    });
  }

  async #trim(): Promise<void> {
    if (this.#stopped) return;
    void this.#room.maintain();
    // Pages that a reader of another process looked at, a backup that was killed, would stay in use.
    this.#tables.env.readerCheck();
    this.#tables.env.resetReadTxn();
    let last = 0;
    let count = 0;
    const nowMs = this.#clock.now();
    const maxLast = this.#commits.revision - this.#maxChanges;
    for (const { key, value } of this.#tables.log.getRange({ limit: TRIM_BATCH })) {
      const revision = numberAt(key, 0);
      if (revision > this.compacted && revision > maxLast && !this.#isOld(revision, logTimeMs(value), nowMs)) break;
      last = revision;
      count++;
    }
    if (last > 0) {
      await this.#commits.chore((writes) => this.drop(writes, Math.max(last, this.compacted), last));
      if (last >= this.#commits.revision && this.#historyMs > 0) await this.#moveOn(last);
    }
    this.#scheduleTrim(count === TRIM_BATCH ? TRIM_SOON_MS : TRIM_PERIOD_MS);
  }

  /** A record that the clock says is yet to come is as old as it has been known here. */
  #isOld(revision: number, writtenMs: number, nowMs: number): boolean {
    if (this.#historyMs === 0) return false;
    if (writtenMs <= nowMs) return nowMs - writtenMs >= this.#historyMs;
    const known = this.#fromTheFuture;
    if (known !== undefined && revision <= known.revision && known.atMs <= nowMs) {
      return nowMs - known.atMs >= this.#historyMs;
    }
    this.#fromTheFuture = { atMs: nowMs, revision: this.#commits.revision };
    return false;
  }

  /**
   * Nothing was written for as long as history lasts: the newest revision is the only one that can be read, and would
   * be forever. A change of a key nobody looks at (the one that etcd's compactions are agreed by) lets it grow old too.
   */
  async #moveOn(revision: number): Promise<void> {
    if (this.#stopped) return;
    const expected = currentOf(this.#tables, COMPACT_REV_KEY)?.modRevision ?? 0;
    const value = Buffer.from(String(revision));
    // One that fails (a full disk) is tried again when there is something to drop.
    const write = writeKey({ key: COMPACT_REV_KEY, expected, value, ttlSeconds: 0 });
    await this.#commits.transact(write).catch(() => undefined);
  }

  /** Inside a commit: forgets revisions before `revision`, and removes log records up to `upTo` (a batch at most). */
  drop(writes: RecordWrites, revision: number, upTo: number = revision): void {
    if (revision > this.compacted) {
      this.compacted = revision;
      writes.put('meta', ...compactedRecord(revision));
    }
    for (const key of this.#tables.log.getKeys({ end: encodeNumbers(upTo + 1), limit: TRIM_BATCH })) {
      writes.remove('log', key);
    }
  }

  #scheduleExpiry(): void {
    if (this.#stopped) return;
    this.#cancelExpiry = afterPeriod(this.#clock, EXPIRY_PERIOD_MS, () => {
      this.#expire()
        .catch(this.#failed)
        .then(() => this.#scheduleExpiry(), this.#failed);
    });
  }

  async #expire(): Promise<void> {
    if (this.#stopped) return;
    this.#tables.env.resetReadTxn();
    const due = [
      ...this.#tables.expiries.getRange({ end: encodeNumbers(this.#clock.now() + 1, 0), limit: EXPIRY_BATCH }),
    ];
    // One that fails (a full disk) is tried again in the next round.
    await Promise.allSettled(
      due.map(({ key, value }) =>
        this.#commits.transact(
          writeKey({ key: byteKeyIn(value), expected: numberAt(key, 1), value: undefined, ttlSeconds: 0 }),
        ),
      ),
    );
    await Promise.allSettled(this.#leases.due().map((id) => this.#commits.transactInSteps(revokeLease(id))));
  }
}
