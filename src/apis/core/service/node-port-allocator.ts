// Node ports: one bitmap for the whole range, in one stored object that every change replaces whole.
//
//   range "30000-32767", data (base64 of a big-endian number): bit 0 is port 30000, bit 1 is 30001, …
import { type ResourceStore, StorageError, type StoredObject } from '../../../storage/store.js';
import type { RangeAllocation } from '../../../schema/generated/core.v1.js';
import { AllocationError, type NodePortAllocator, RANGE_FULL } from './allocators.js';

export const NODE_PORTS_KEY = 'servicenodeports';
const MAX_ATTEMPTS = 50;

export interface PortRange {
  readonly base: number;
  readonly size: number;
}

export const portRangeText = ({ base, size }: PortRange): string => `${base}-${base + size - 1}`;

/** Holds RangeAllocation objects; the key is the range's name. */
export type RangeStore = Pick<ResourceStore, 'get' | 'create' | 'update'>;

export interface NodePortAllocatorParts {
  readonly store: RangeStore;
  readonly range: PortRange;
  /** A whole number in [0, below). */
  readonly random: (below: number) => number;
}

interface Change {
  /** Throws what the asker is told. */
  readonly apply: (bits: bigint) => { readonly bits: bigint; readonly settle: () => void };
  readonly reject: (error: unknown) => void;
}

export function createNodePortAllocator({ store, range, random }: NodePortAllocatorParts): NodePortAllocator {
  const inRange = (port: number): boolean => port >= range.base && port < range.base + range.size;

  const waiting: Change[] = [];
  let writing = false;

  /** Changes asked for while a write is under way wait for it and are written together: they never race each other. */
  function change<T>(edit: (bits: bigint) => { bits: bigint; result: T }): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const apply = (bits: bigint): { bits: bigint; settle: () => void } => {
        const { bits: changed, result } = edit(bits);
        return { bits: changed, settle: () => resolve(result) };
      };
      waiting.push({ apply, reject });
      if (!writing) void writeWaiting();
    });
  }

  async function writeWaiting(): Promise<void> {
    writing = true;
    while (waiting.length > 0) {
      const changes = waiting.splice(0);
      try {
        await write(changes);
      } catch (error) {
        for (const { reject } of changes) reject(error);
      }
    }
    writing = false;
  }

  /** Reads the bitmap, changes it and writes it, again when another server came first. */
  async function write(changes: readonly Change[]): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const stored = await store.get(NODE_PORTS_KEY, '');
      const before = bitsOf(stored, range);
      let bits = before;
      const settles: (() => void)[] = [];
      for (const { apply, reject } of changes) {
        try {
          const applied = apply(bits);
          bits = applied.bits;
          settles.push(applied.settle);
        } catch (error) {
          settles.push(() => reject(error));
        }
      }
      if (bits === before || (await writeNodePorts(store, stored, range, bits))) {
        for (const settle of settles) settle();
        return;
      }
    }
    throw new AllocationError('cannot allocate resources of type servicenodeportallocations at this time');
  }

  return {
    async take(port) {
      if (!inRange(port)) {
        throw new AllocationError(
          `provided port is not in the valid range. The range of valid ports is ${portRangeText(range)}`,
        );
      }
      const bit = 1n << BigInt(port - range.base);
      await change((bits) => {
        if ((bits & bit) !== 0n) throw new AllocationError('provided port is already allocated');
        return { bits: bits | bit, result: undefined };
      });
    },
    takeNext: () =>
      change((bits) => {
        const offset = freeOffset(bits, range, random);
        if (offset === undefined) throw new AllocationError(RANGE_FULL);
        return { bits: bits | (1n << BigInt(offset)), result: range.base + offset };
      }),
    async isTaken(port) {
      if (!inRange(port)) return false;
      const bits = bitsOf(await store.get(NODE_PORTS_KEY, ''), range);
      return ((bits >> BigInt(port - range.base)) & 1n) === 1n;
    },
    async release(port) {
      if (!inRange(port)) return;
      const bit = 1n << BigInt(port - range.base);
      await change((bits) => ({ bits: (bits & bit) === 0n ? bits : bits ^ bit, result: undefined }));
    },
  };
}

/** The bitmap as it is stored; empty before the first write and after the range was configured anew. */
export function bitsOf(stored: StoredObject | undefined, range: PortRange): bigint {
  const object = stored?.object() as RangeAllocation | undefined;
  if (object?.range !== portRangeText(range) || !object.data) return 0n;
  return BigInt(`0x0${Buffer.from(object.data, 'base64').toString('hex')}`);
}

/** False when the stored object is no longer the one given. */
export async function writeNodePorts(
  store: RangeStore,
  stored: StoredObject | undefined,
  range: PortRange,
  bits: bigint,
): Promise<boolean> {
  const hex = bits === 0n ? '' : bits.toString(16);
  const data = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex').toString('base64');
  const object: RangeAllocation = {
    kind: 'RangeAllocation',
    apiVersion: 'v1',
    metadata: {},
    range: portRangeText(range),
    data: data === '' ? null : data,
  };
  try {
    if (stored === undefined) await store.create(NODE_PORTS_KEY, object);
    else await store.update(NODE_PORTS_KEY, stored.revision, object);
    return true;
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    if (error.code === 'conflict' || error.code === 'key-exists' || error.code === 'not-found') return false;
    throw error;
  }
}

/** Any free port above the low end, which is left for ports that people choose; from there when all else is taken. */
function freeOffset(bits: bigint, range: PortRange, random: (below: number) => number): number | undefined {
  const reserved = reservedForChoice(range);
  const scan = (from: number, count: number): number | undefined => {
    if (count <= 0) return undefined;
    const start = random(count);
    for (let step = 0; step < count; step++) {
      const offset = from + ((start + step) % count);
      if (((bits >> BigInt(offset)) & 1n) === 0n) return offset;
    }
    return undefined;
  };
  return scan(reserved, range.size - reserved) ?? scan(0, reserved);
}

/** A thirty-second part of the range, at least 16 and at most 128 ports; none of a range that has no more than 16. */
function reservedForChoice({ size }: PortRange): number {
  if (size <= 16) return 0;
  return Math.min(Math.max(16, Math.trunc(size / 32)), 128);
}
