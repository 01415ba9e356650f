// Cluster addresses as older releases keep them: a bitmap for each of --service-cluster-ip-range.
//
// Without the gate MultiCIDRServiceAllocator that is all there is. With it, and as long as DisableAllocatorDualWrite is off,
// it is written beside the IPAddress objects, so that a server without the gate may take the place of this one.
import {
  type Cidr,
  cidrContains,
  cidrText,
  formatIp,
  type IpAddress,
  parseIp,
} from '../../../lib/values/ip-address.js';
import { notInRange, reservedForChoice, usable } from './address-range.js';
import { type AddressAllocator, AllocationError, RANGE_FULL } from './allocators.js';
import { RangeBitmap, type RangeStore } from './range-bitmap.js';
import type { IpFamily } from './service-rules.js';

/** A bitmap of a whole IPv6 block would have no end. */
const MAX_IPV6_ADDRESSES = 65_536n;
const KEYS = ['serviceips', 'secondaryserviceips'];

export interface AddressBitmap {
  readonly cidr: Cidr;
  readonly bitmap: RangeBitmap;
  /** Undefined for an address that no service may have. */
  readonly offsetOf: (address: IpAddress) => number | undefined;
  readonly addressAt: (offset: number) => string;
}

/** The first of the ranges is the default one. */
export const addressBitmaps = (
  ranges: readonly Cidr[],
  store: RangeStore,
  random: (below: number) => number,
): AddressBitmap[] => ranges.map((cidr, i) => addressBitmap(cidr, KEYS[i] ?? '', store, random));

function addressBitmap(cidr: Cidr, key: string, store: RangeStore, random: (below: number) => number): AddressBitmap {
  const { first, last } = usable(cidr);
  const addresses = last - first + 1n;
  const most = cidr.family === 6 && addresses >= MAX_IPV6_ADDRESSES ? MAX_IPV6_ADDRESSES - 1n : addresses;
  const size = most > 0n ? Number(most) : 0;
  return {
    cidr,
    bitmap: new RangeBitmap({
      store,
      key,
      resource: 'serviceipallocations',
      range: cidrText(cidr),
      size,
      reserved: Math.min(size, Number(reservedForChoice(cidr))),
      random,
    }),
    offsetOf(address) {
      if (!cidrContains(cidr, address)) return undefined;
      const offset = Number(address.value - first);
      return offset >= 0 && offset < size ? offset : undefined;
    },
    addressAt: (offset) => formatIp(cidr.family, first + BigInt(offset)),
  };
}

export function createBitmapAllocator(bitmaps: readonly AddressBitmap[]): AddressAllocator {
  const bitmapOf = (family: IpFamily): AddressBitmap => {
    const bits = family === 'IPv4' ? 4 : 6;
    const found = bitmaps.find(({ cidr }) => cidr.family === bits);
    if (found === undefined) throw new AllocationError('allocator not ready');
    return found;
  };
  return {
    async take(family, ip, _service, dryRun) {
      const address = parseIp(ip);
      if (address === undefined) throw new AllocationError(`failed to parse service IP ${ip}`);
      const { cidr, bitmap, offsetOf } = bitmapOf(family);
      const offset = offsetOf(address);
      if (offset === undefined) throw notInRange(address, cidr);
      if (dryRun) return;
      if (!(await bitmap.take(offset))) throw new AllocationError('provided IP is already allocated');
    },
    async takeNext(family, _service, dryRun) {
      const { cidr, bitmap, addressAt } = bitmapOf(family);
      if (dryRun) return formatIp(cidr.family, cidr.network);
      const offset = await bitmap.takeNext();
      if (offset === undefined) throw new AllocationError(RANGE_FULL);
      return addressAt(offset);
    },
    async release(ip) {
      const address = parseIp(ip);
      if (address === undefined) return;
      for (const { bitmap, offsetOf } of bitmaps) {
        const offset = offsetOf(address);
        if (offset !== undefined) await bitmap.release(offset);
      }
    },
  };
}

/** Allocates and releases in both. Only the objects have what lies beyond the bitmaps. */
export function takenInBoth(bitmaps: readonly AddressBitmap[], objects: AddressAllocator): AddressAllocator {
  const old = createBitmapAllocator(bitmaps);
  const isOld = (ip: string): boolean => {
    const address = parseIp(ip);
    return address !== undefined && bitmaps.some(({ cidr }) => cidrContains(cidr, address));
  };
  const alsoAsObject: AddressAllocator['take'] = async (family, ip, service, dryRun) => {
    try {
      await objects.take(family, ip, service, dryRun);
    } catch (error) {
      await old.release(ip);
      throw error;
    }
  };
  return {
    async take(family, ip, service, dryRun) {
      if (dryRun || !isOld(ip)) return objects.take(family, ip, service, dryRun);
      await old.take(family, ip, service, dryRun);
      await alsoAsObject(family, ip, service, dryRun);
    },
    async takeNext(family, service, dryRun) {
      if (dryRun) return objects.takeNext(family, service, dryRun);
      let ip: string;
      try {
        ip = await old.takeNext(family, service, dryRun);
      } catch (error) {
        if (!(error instanceof AllocationError)) throw error;
        return objects.takeNext(family, service, dryRun);
      }
      await alsoAsObject(family, ip, service, dryRun);
      return ip;
    },
    async release(ip) {
      await old.release(ip);
      await objects.release(ip);
    },
  };
}
