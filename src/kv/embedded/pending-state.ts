// The state that the transactions of one commit see: the tables, and over them what the transactions before have changed. Each
// transaction that changes something makes one revision, however many keys it changes.
import { sortSteps } from '../../lib/scheduling/sort-steps.js';
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import { changeBytes, furtherChangeBytes, MAX_FEW_CHANGES } from './allocation.js';
import type { Change } from './change.js';
import { byteKeyIn, nameOf, textOf } from './byte-key.js';
import { damagedRecords } from './damage.js';
import { spaceExceeded } from './folder.js';
import type { Leases } from './leases.js';
import type { Tables } from './engine.js';
import type { LastWritten } from './last-written.js';
import { currentOf } from './past.js';
import { pagesSteps } from './range.js';
import { encodeVersion, type StoredVersion, type Version } from './records.js';
import type { Room } from './room.js';
import { changeTotals, type Totals } from './state.js';

/** A change with what is written for it. */
export interface PendingChange extends Change {
  /** The key, encoded. */
  readonly name: Buffer;
  readonly next: StoredVersion | undefined;
  /** Of `next`, encoded; empty where there is none. */
  readonly record: Buffer;
  readonly place: number;
  /** Of its revision. */
  isLast: boolean;
}

export interface PutOptions {
  /** 0: never. */
  readonly expiresAtMs: number;
  /** 0: none. */
  readonly lease: bigint;
}

const NO_BYTES = Buffer.alloc(0);

export interface PendingParts {
  readonly tables: Tables;
  readonly lastWritten: LastWritten;
  readonly room: Room;
  readonly leases: Leases;
  readonly atMs: number;
  readonly revision: number;
  readonly totals: Totals;
}

export class PendingState {
  readonly changes: PendingChange[] = [];
  /** Leases that were granted (how many seconds each has), or revoked. */
  readonly grants = new Map<bigint, number | undefined>();
  readonly atMs: number;
  /** The newest, with the transaction under way where that has changed something. */
  revision: number;
  totals: Totals;
  /** There is no room for what deletes replace: history is dropped with them. */
  isTight = false;
  readonly #tables: Tables;
  readonly #lastWritten: LastWritten;
  readonly #room: Room;
  readonly #leases: Leases;
  readonly #changed = new Map<string, StoredVersion | undefined>();
  /** What the tables have of the key that was read last: a write reads again what its condition has read. */
  #read: { readonly key: string; readonly version: StoredVersion | undefined } | undefined;
  /** Where the transaction under way began. */
  #first = 0;
  #totalsBefore: Totals;
  #puts = 0;
  #isRetried = false;

  constructor({ tables, lastWritten, room, leases, atMs, revision, totals }: PendingParts) {
    this.#tables = tables;
    this.#lastWritten = lastWritten;
    this.#room = room;
    this.#leases = leases;
    this.atMs = atMs;
    this.revision = revision;
    this.totals = totals;
    this.#totalsBefore = totals;
  }

  /** One that is retried found no room before: nothing is asked of the room again, and history is dropped with it. */
  begin(isRetried = false): void {
    this.#isRetried = isRetried;
    this.#first = this.changes.length;
    this.#totalsBefore = this.totals;
    this.#puts = 0;
  }

  /** Whether the transaction under way has changed something. */
  get hasChanged(): boolean {
    return this.changes.length > this.#first;
  }

  /** It wants room for nothing new. */
  get onlyDeletes(): boolean {
    return this.#puts === 0;
  }

  end(): void {
    const last = this.changes[this.changes.length - 1];
    if (this.hasChanged && last !== undefined) last.isLast = true;
  }

  /** As if the transaction under way had not been. */
  rollBack(): void {
    if (this.hasChanged) this.revision--;
    const undone = new Set(this.changes.splice(this.#first).map(({ key }) => key));
    for (const key of undone) this.#changed.delete(key);
    // A key that an earlier transaction of this commit changed, too, is as that one left it.
    if (undone.size > 0) for (const { key, next } of this.changes) if (undone.has(key)) this.#changed.set(key, next);
    this.totals = this.#totalsBefore;
  }

  /** A damaged record is answered as such: it can be replaced, and deleted. */
  // hot: every write
  stored(key: string): StoredVersion | undefined {
    if (this.#changed.has(key)) return this.#changed.get(key);
    if (this.#read?.key !== key) {
      this.#read = { key, version: this.#lastWritten.get(key) ?? currentOf(this.#tables, key) };
    }
    return this.#read.version;
  }

  /** Fails where the record is damaged. */
  get(key: string): Version | undefined {
    const version = this.stored(key);
    if (version?.isDamaged) throw damagedRecords([{ key: textOf(key), revision: version.modRevision }]);
    return version;
  }

  /** In key order. */
  *rangeSteps(
    start: string,
    end: string | undefined,
  ): StepGenerator<readonly (readonly [key: string, version: Version])[]> {
    const make = (key: string, version: Version): readonly [string, Version] => [key, version];
    const gather = (page: readonly (readonly [string, Version])[]): typeof page => page;
    const { pages } = yield* pagesSteps(this.#tables, { start, end, limit: 0, countOnly: false, make, gather });
    const found = pages.length === 1 ? (pages[0] ?? []) : pages.flat();
    const changed = [...this.#changed].filter(([key]) => key >= start && (end === undefined || key < end));
    if (changed.length === 0) return found;
    const state = new Map(found);
    for (const [key, version] of changed) {
      if (version === undefined) state.delete(key);
      else state.set(key, version);
    }
    return yield* sortSteps([...state], ([a], [b]) => (a < b ? -1 : 1));
  }

  // hot: every write
  put(key: string, value: Buffer, { expiresAtMs, lease }: PutOptions): Version {
    const current = this.stored(key);
    const previous = current?.isDamaged === true ? undefined : current;
    this.#puts++;
    const bytes = this.#bytesOf(value.length + (previous?.value.length ?? 0), key);
    if (!this.#room.take(bytes)) throw spaceExceeded();
    const modRevision = this.hasChanged ? this.revision : ++this.revision;
    const createRevision = current?.createRevision ?? modRevision;
    const version = (previous?.version ?? 0) + 1;
    const name = nameOf(key);
    const next = {
      modRevision,
      createRevision,
      expiresAtMs,
      version,
      lease,
      value,
      checksum: 0,
      isUnchecked: false,
      isDamaged: false,
    };
    const { bytes: record, checksum } = encodeVersion(name, next);
    next.checksum = checksum;
    this.#add(key, name, { next, record, previous, current });
    return next;
  }

  /** What it deleted, if that was sound; nothing happens where nothing is. */
  delete(key: string): Version | undefined {
    const current = this.stored(key);
    if (current === undefined) return undefined;
    const previous = current.isDamaged ? undefined : current;
    const bytes = this.#bytesOf(previous?.value.length ?? 0, key);
    if (this.#isRetried || !this.#room.takeForDelete(bytes)) this.isTight = true;
    if (!this.hasChanged) this.revision++;
    this.#add(key, nameOf(key), { next: undefined, record: NO_BYTES, previous, current });
    return previous;
  }

  hasLease(id: bigint): boolean {
    return this.grants.has(id) ? this.grants.get(id) !== undefined : this.#leases.has(id);
  }

  /** The keys that were written with a lease, in their order; some may have been written since without it. */
  writtenWith(lease: bigint): string[] {
    const keys = new Set(this.#leases.namesOf(lease, (name) => byteKeyIn(name)));
    for (const [key, version] of this.#changed) if (version?.lease === lease) keys.add(key);
    return [...keys].sort();
  }

  /** What a change can need. */
  #bytesOf(valueBytes: number, key: string): number {
    const isFurther = this.changes.length >= MAX_FEW_CHANGES;
    return isFurther ? furtherChangeBytes(valueBytes, key.length) : changeBytes(valueBytes);
  }

  /** `current` is what the table has, `previous` the same where it is sound. */
  #add(
    key: string,
    name: Buffer,
    {
      next,
      record,
      previous,
      current,
    }: Pick<PendingChange, 'next' | 'record' | 'previous'> & { current: StoredVersion | undefined },
  ): void {
    const place = this.changes.length - this.#first;
    this.totals = changeTotals(this.totals, name, current, next);
    this.#changed.set(key, next);
    this.changes.push({ key, name, next, record, previous, revision: this.revision, place, isLast: false });
  }
}
