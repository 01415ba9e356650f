// A range of numbers of which some are allocated: one bitmap in one stored object, which every change replaces whole and on
// which all servers of a store agree.
//
//   range "30000-32767", data (base64 of a big-endian number): bit 0 is port 30000, bit 1 is 30001, …
import type { RangeAllocation } from '../../../schema/generated/core.v1.js';
import { type ResourceStore, StorageError, type StoredObject } from '../../../storage/store.js';
import { AllocationError } from './allocators.js';

const MAX_ATTEMPTS = 50;

/** Holds RangeAllocation objects; the key is the range's name. */
export type RangeStore = Pick<ResourceStore, 'get' | 'create' | 'update'>;

export interface RangeBitmapParts {
  readonly store: RangeStore;
  readonly key: string;
  /** The resource in the error when others' changes never end. */
  readonly resource: string;
  /** The range in words; when it is configured anew, the bitmap begins anew. */
  readonly range: string;
  readonly size: number;
  /** So many at the low end are left for numbers that people choose, as long as the rest has room. */
  readonly reserved: number;
  /** A whole number in [0, below). */
  readonly random: (below: number) => number;
  /** Receives the number of allocated offsets after each write. */
  readonly inUse?: (count: number) => void;
}

/** Offsets from the range's first number. */
export class RangeBitmap {
  private readonly waiting: Change[] = [];
  private writing = false;

  constructor(private readonly parts: RangeBitmapParts) {}

  /** False when the offset is allocated already. */
  take(offset: number): Promise<boolean> {
    return this.change((bits) => {
      const free = !bits.has(offset);
      bits.add(offset);
      return free;
    });
  }

  /** Undefined when all are allocated. */
  takeNext(): Promise<number | undefined> {
    return this.change((bits) => {
      const offset = this.free(bits);
      if (offset !== undefined) bits.add(offset);
      return offset;
    });
  }

  async isAllocated(offset: number): Promise<boolean> {
    return this.read(await this.stored()).has(offset);
  }

  release(offset: number): Promise<void> {
    return this.change((bits) => bits.remove(offset));
  }

  /** Puts another bitmap in the place of this one, made of it. Written even when equal: the object must be there. */
  async replace(make: (before: Bits) => Promise<Bits>): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const stored = await this.stored();
      if (await this.write(stored, await make(this.read(stored)))) return;
    }
    throw this.tooBusy();
  }

  /** Changes requested during a write wait for it and are written together: they never race each other. */
  private change<T>(edit: (bits: Bits) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const apply = (bits: Bits): (() => void) => {
        const result = edit(bits);
        return () => resolve(result);
      };
      this.waiting.push({ apply, reject });
      if (!this.writing) void this.writeWaiting();
    });
  }

  private async writeWaiting(): Promise<void> {
    this.writing = true;
    while (this.waiting.length > 0) {
      const changes = this.waiting.splice(0);
      try {
        await this.carryOut(changes);
      } catch (error) {
        for (const { reject } of changes) reject(error);
      }
    }
    this.writing = false;
  }

  /** Reads the bitmap, changes it and writes it, again when another server came first. */
  private async carryOut(changes: readonly Change[]): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const stored = await this.stored();
      const bits = this.read(stored);
      const settles = changes.map(({ apply }) => apply(bits));
      if (bits.changed && !(await this.write(stored, bits))) continue;
      for (const settle of settles) settle();
      return;
    }
    throw this.tooBusy();
  }

  private stored(): Promise<StoredObject | undefined> {
    return this.parts.store.get(this.parts.key, '');
  }

  private read(stored: StoredObject | undefined): Bits {
    const object = stored?.object() as RangeAllocation | undefined;
    const data = object?.range === this.parts.range ? object.data : undefined;
    return new Bits(this.parts.size, Buffer.from(data ?? '', 'base64'));
  }

  /** False when the stored object is no longer the one given. */
  private async write(stored: StoredObject | undefined, bits: Bits): Promise<boolean> {
    const { store, key, range } = this.parts;
    const data = bits.bigEndian().toString('base64');
    const object: RangeAllocation = {
      kind: 'RangeAllocation',
      apiVersion: 'v1',
      metadata: {},
      range,
      data: data === '' ? null : data,
    };
    try {
      if (stored === undefined) await store.create(key, object);
      else await store.update(key, stored.revision, object);
      this.parts.inUse?.(bits.count());
      return true;
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      if (error.code === 'conflict' || error.code === 'key-exists' || error.code === 'not-found') return false;
      throw error;
    }
  }

  private free(bits: Bits): number | undefined {
    const { size, reserved, random } = this.parts;
    const scan = (from: number, count: number): number | undefined => {
      if (count <= 0) return undefined;
      const start = random(count);
      for (let step = 0; step < count; step++) {
        const offset = from + ((start + step) % count);
        if (!bits.has(offset)) return offset;
      }
      return undefined;
    };
    return scan(reserved, size - reserved) ?? scan(0, reserved);
  }

  private tooBusy(): AllocationError {
    return new AllocationError(`cannot allocate resources of type ${this.parts.resource} at this time`);
  }
}

interface Change {
  /** Returns what resolves the caller's promise, once the change is written. */
  readonly apply: (bits: Bits) => () => void;
  readonly reject: (error: unknown) => void;
}

export class Bits implements Iterable<number> {
  changed = false;
  /** Offset 0 is the lowest bit of the first byte. */
  private readonly bytes: Uint8Array;

  /** What lies beyond the size is left out. */
  constructor(
    readonly size: number,
    bigEndian: Uint8Array = new Uint8Array(0),
  ) {
    this.bytes = new Uint8Array(Math.ceil(size / 8));
    const last = this.bytes.length - 1;
    this.bytes.set(Buffer.from(bigEndian.subarray(Math.max(0, bigEndian.length - this.bytes.length))).reverse());
    if (size % 8 !== 0) this.bytes[last] = (this.bytes[last] ?? 0) & ((1 << (size % 8)) - 1);
  }

  has(offset: number): boolean {
    return ((this.bytes[offset >> 3] ?? 0) & (1 << (offset & 7))) !== 0;
  }

  add(offset: number): void {
    if (offset < 0 || offset >= this.size || this.has(offset)) return;
    this.flip(offset);
  }

  remove(offset: number): void {
    if (!this.has(offset)) return;
    this.flip(offset);
  }

  private flip(offset: number): void {
    this.bytes[offset >> 3] = (this.bytes[offset >> 3] ?? 0) ^ (1 << (offset & 7));
    this.changed = true;
  }

  count(): number {
    let count = 0;
    for (const _ of this) count++;
    return count;
  }

  /** The allocated offsets, ascending. */
  *[Symbol.iterator](): Iterator<number> {
    for (const [i, byte] of this.bytes.entries()) {
      for (let bit = 0; byte >> bit > 0; bit++) if ((byte & (1 << bit)) !== 0) yield i * 8 + bit;
    }
  }

  /** Without zeros in front. */
  bigEndian(): Buffer {
    let length = this.bytes.length;
    while (length > 0 && this.bytes[length - 1] === 0) length--;
    return Buffer.from(this.bytes.subarray(0, length)).reverse();
  }
}
