// Objects in other forms than the stored one (protobuf, metadata alone, another version), and in lists that are asked for
// again in JSON: the bytes of those read last, and of nothing that is not read for minutes.
//
// A buffer for each would cost as much again in bookkeeping, and the collector counts every one, so bytes lie in slabs:
//
//   entry a ─▶ cell ─┐   entry b ─▶ cell ─┐
//              slab  ┌▼────────┬──────────▼┬────┐    slab ┌───┐    the oldest slab goes first,
//                    │ a as PB │ b as PB   │ …  │         │ … │    and its cells are empty from then on
//                    └─────────┴───────────┴────┘         └───┘
//
// Objects change at different times, so that after a while each slab has some bytes that are wanted and many that are not.
// When half of all memory is such waste, the slab with the fewest wanted bytes goes: its objects are encoded anew when they
// are read again.

/** Of all resources and forms together. */
const MAX_BYTES = 64 * 1024 * 1024;
const SLAB_BYTES = 256 * 1024;
/** Beside as much as is wanted. */
const MAX_WASTED_BYTES = 2 * 1024 * 1024;
/** A larger encoding is not kept but made for each read: it would nearly fill a slab. */
const MAX_KEPT_BYTES = SLAB_BYTES / 4;

interface Slab {
  /** Absent once the slab is freed. */
  bytes: Buffer | undefined;
  used: number;
  /** Bytes that some cell still wants. */
  live: number;
  /** Or written, since unread slabs were last released. */
  isRead: boolean;
}

/** The bytes of one object in one form, and the next form that is kept of it. */
export interface EncodedCell {
  readonly form: object;
  readonly slab: Slab;
  readonly start: number;
  readonly end: number;
  readonly next: EncodedCell | undefined;
}

export class EncodedBytes {
  /** Oldest first; the last is being filled. */
  #slabs: Slab[] = [];
  /** Of all slabs. */
  #live = 0;

  constructor(private readonly maxBytes: number = MAX_BYTES) {}

  /** The memory of all slabs, in bytes. */
  get heldBytes(): number {
    return this.#slabs.length * SLAB_BYTES;
  }

  /** The chain with the bytes in front, copied; the chain as it was where they are too large. */
  keep(form: object, bytes: Buffer, next: EncodedCell | undefined): EncodedCell | undefined {
    const cell = this.reserve(form, bytes.length, next);
    if (cell === undefined) return next;
    bytes.copy(cell.slab.bytes as Buffer, cell.start);
    return cell;
  }

  /** As `keep`, for the caller to write the bytes; undefined where they are too large. */
  reserve(form: object, length: number, next: EncodedCell | undefined): EncodedCell | undefined {
    if (length > MAX_KEPT_BYTES || this.maxBytes < SLAB_BYTES) return undefined;
    const slab = this.#slabFor(length);
    const start = slab.used;
    slab.used += length;
    slab.live += length;
    slab.isRead = true;
    this.#live += length;
    return { form, slab, start, end: slab.used, next };
  }

  // hot: every item of a list in protobuf
  /** The bytes kept under a form; they are shared and never changed. */
  find(chain: EncodedCell | undefined, form: object): Buffer | undefined {
    const cell = cellOf(chain, form);
    if (cell === undefined) return undefined;
    cell.slab.isRead = true;
    return cell.slab.bytes?.subarray(cell.start, cell.end);
  }

  // hot: every item of a list in JSON
  /** Copies the bytes kept under a form, from an offset on; answers how many, none where nothing is kept. */
  copy(
    chain: EncodedCell | undefined,
    form: object,
    { target, at, from }: { readonly target: Buffer; readonly at: number; readonly from: number },
  ): number {
    const cell = cellOf(chain, form);
    if (cell === undefined) return 0;
    cell.slab.isRead = true;
    return cell.slab.bytes?.copy(target, at, cell.start + from, cell.end) ?? 0;
  }

  /** Gives up the slabs of which nothing was read since the last call: informers list once, and then they watch. */
  releaseUnread(): void {
    for (const slab of this.#slabs.filter(({ isRead }) => !isRead)) this.#giveUp(slab);
    for (const slab of this.#slabs) slab.isRead = false;
  }

  /** Releases encodings that no reader needs any more. */
  drop(chain: EncodedCell | undefined): void {
    for (let cell = chain; cell !== undefined; cell = cell.next) {
      const { slab, start, end } = cell;
      if (slab.bytes === undefined) continue;
      slab.live -= end - start;
      this.#live -= end - start;
      if (slab.live === 0) this.#giveUp(slab);
    }
  }

  /** The rest of a chain without what is gone, and without the form. */
  without(chain: EncodedCell | undefined, form: object): EncodedCell | undefined {
    if (chain === undefined) return undefined;
    const next = this.without(chain.next, form);
    if (chain.form === form || chain.slab.bytes === undefined) return next;
    return next === chain.next ? chain : { ...chain, next };
  }

  #slabFor(bytes: number): Slab {
    const last = this.#slabs[this.#slabs.length - 1];
    if (last !== undefined && last.used + bytes <= SLAB_BYTES) return last;
    if (this.heldBytes + SLAB_BYTES > this.maxBytes) this.#giveUp(this.#slabs[0]);
    while (this.heldBytes > 2 * this.#live + MAX_WASTED_BYTES) this.#giveUp(emptiest(this.#slabs));
    const slab: Slab = { bytes: Buffer.allocUnsafeSlow(SLAB_BYTES), used: 0, live: 0, isRead: true };
    this.#slabs.push(slab);
    return slab;
  }

  #giveUp(slab: Slab | undefined): void {
    if (slab === undefined) return;
    this.#slabs.splice(this.#slabs.indexOf(slab), 1);
    this.#live -= slab.live;
    slab.bytes = undefined;
  }
}

function cellOf(chain: EncodedCell | undefined, form: object): EncodedCell | undefined {
  for (let cell = chain; cell !== undefined; cell = cell.next) if (cell.form === form) return cell;
  return undefined;
}

const emptiest = (slabs: readonly Slab[]): Slab | undefined =>
  slabs.reduce<Slab | undefined>(
    (least, slab) => (least === undefined || slab.live < least.live ? slab : least),
    undefined,
  );
