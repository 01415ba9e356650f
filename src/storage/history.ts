// What happened lately to one resource: the changes that resumed watches and past reads need.
import type { Entry } from './entry.js';
import type { WatchEvent } from './store.js';

/** At least this many changes are kept, however old. */
const MIN_CHANGES = 100;
const MAX_CHANGES = 100 * 1024;
/** Changes younger than this are kept, within the other limits. */
const FRESH_MS = 75_000;
/** Of changes and of versions that are no longer current. */
const MAX_BYTES = 64 * 1024 * 1024;
/** A smaller limit where the store itself has older history. */
export const MAX_BYTES_BESIDE_STORE = 32 * 1024 * 1024;
/** The estimated memory of a change beside the bytes of the version it replaced. */
const CHANGE_BYTES = 400;

interface ChangeParts {
  readonly key: string;
  readonly revision: number;
  /** Absent when the object was deleted. */
  readonly entry: Entry | undefined;
  /** Absent when the object was created. */
  readonly previous: Entry | undefined;
  /** When this process learned of it. */
  readonly atMs: number;
}

/**
 * One change of one object. Its events are made once and shared by all watchers it is dispatched to, so that
 * encodings can be too; they are forgotten afterwards, for history would keep the encodings alive.
 */
export class Change {
  #modified: WatchEvent | undefined;
  #deleted: WatchEvent | undefined;
  #tombstone: Entry | undefined;

  readonly key: string;
  readonly revision: number;
  readonly entry: Entry | undefined;
  readonly previous: Entry | undefined;
  readonly atMs: number;

  constructor({ key, revision, entry, previous, atMs }: ChangeParts) {
    this.key = key;
    this.revision = revision;
    this.entry = entry;
    this.previous = previous;
    this.atMs = atMs;
  }

  get added(): WatchEvent | undefined {
    return this.entry?.added;
  }

  get modified(): WatchEvent | undefined {
    return (
      this.entry &&
      (this.#modified ??= { type: 'MODIFIED', object: this.entry, previous: this.previous, frames: undefined })
    );
  }

  /** Also for an object that left a selection: its previous content, at this change's revision. */
  get deleted(): WatchEvent | undefined {
    const object = this.tombstone;
    return object && (this.#deleted ??= { type: 'DELETED', object, previous: undefined, frames: undefined });
  }

  get tombstone(): Entry | undefined {
    return (this.#tombstone ??= this.previous?.deletedAt(this.revision));
  }

  forgetEvents(): void {
    this.#modified = undefined;
    this.#deleted = undefined;
    this.#tombstone = undefined;
  }

  /** The event for a watch without a selector. */
  get plain(): WatchEvent | undefined {
    if (this.entry === undefined) return this.deleted;
    return this.previous === undefined ? this.added : this.modified;
  }
}

export class History {
  /** Those before `#first` have been dropped, and their places are empty. */
  #changes: (Change | undefined)[] = [];
  #first = 0;
  #bytes = 0;
  #floor: number;

  /** The history holds every change after revision `floor`. */
  constructor(
    floor: number,
    private readonly maxBytes: number = MAX_BYTES,
  ) {
    this.#floor = floor;
  }

  /** Every change after this revision is here. */
  get floor(): number {
    return this.#floor;
  }

  /** The revision of the last change; no less than the floor. */
  get newest(): number {
    return this.#changes[this.#changes.length - 1]?.revision ?? this.#floor;
  }

  push(change: Change): void {
    this.#changes.push(change);
    this.#bytes += bytesOf(change);
    this.trim(change.atMs);
  }

  /** Drops what need not be kept any longer; answers when to look again, absent when nothing will have to go. */
  trim(nowMs: number): number | undefined {
    while (
      this.#size > MAX_CHANGES ||
      (this.#size > MIN_CHANGES && (this.#bytes > this.maxBytes || this.#isOld(nowMs)))
    ) {
      this.#drop();
    }
    return this.#size > MIN_CHANGES ? FRESH_MS : undefined;
  }

  /** The changes after a revision that is not below the floor, oldest first. */
  after(revision: number): readonly Change[] {
    return this.#changes.slice(this.#indexAfter(revision)) as readonly Change[];
  }

  /** Those of them that are sent at once: so many at most, and no more once there are so many bytes. */
  someAfter(revision: number, maxChanges: number, maxBytes: number): readonly Change[] {
    const from = this.#indexAfter(revision);
    let to = from;
    for (let bytes = 0; to < this.#changes.length && to - from < maxChanges && bytes < maxBytes; to++) {
      bytes += this.#changes[to]?.entry?.size ?? 0;
    }
    return this.#changes.slice(from, to) as readonly Change[];
  }

  #indexAfter(revision: number): number {
    let low = this.#first;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#changes[middle]?.revision ?? Infinity) > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  get #size(): number {
    return this.#changes.length - this.#first;
  }

  #isOld(nowMs: number): boolean {
    const oldest = this.#changes[this.#first];
    // A clock that was set back says of what is older that it is yet to come.
    return oldest !== undefined && Math.abs(nowMs - oldest.atMs) > FRESH_MS;
  }

  #drop(): void {
    const dropped = this.#changes[this.#first];
    if (dropped === undefined) return;
    // What it replaced would otherwise stay until the array is shifted.
    this.#changes[this.#first++] = undefined;
    this.#floor = dropped.revision;
    this.#bytes -= bytesOf(dropped);
    // Shifting the array is paid once per many drops.
    if (this.#first > 1024 && this.#first * 2 > this.#changes.length) {
      this.#changes = this.#changes.slice(this.#first);
      this.#first = 0;
    }
  }
}

const bytesOf = ({ previous }: Change): number => CHANGE_BYTES + (previous?.size ?? 0);

/** Changes are kept for long; of their objects the bytes are enough, if the store does not have them. */
export function settle(changes: readonly Change[]): void {
  for (const { entry, previous } of changes) {
    entry?.settle(previous !== undefined);
    previous?.settle();
    previous?.forgetObject();
  }
}
