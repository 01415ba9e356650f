// Node ports: one bitmap for the whole range.
import { AllocationError, type NodePortAllocator, type NodePortMetrics, RANGE_FULL } from './allocators.js';
import { RangeBitmap, type RangeStore } from './range-bitmap.js';

export interface PortRange {
  readonly base: number;
  readonly size: number;
}

export const portRangeText = ({ base, size }: PortRange): string => `${base}-${base + size - 1}`;

export const nodePortBitmap = (
  store: RangeStore,
  range: PortRange,
  random: (below: number) => number,
  inUse?: (count: number) => void,
): RangeBitmap =>
  new RangeBitmap({
    ...(inUse && { inUse }),
    store,
    key: 'servicenodeports',
    resource: 'servicenodeportallocations',
    range: portRangeText(range),
    size: range.size,
    reserved: reservedForChoice(range),
    random,
  });

export function createNodePortAllocator(
  bitmap: RangeBitmap,
  range: PortRange,
  metrics?: NodePortMetrics,
): NodePortAllocator {
  const inRange = (port: number): boolean => port >= range.base && port < range.base + range.size;
  return {
    async take(port) {
      if (!inRange(port)) {
        metrics?.failed('static');
        throw new AllocationError(
          `provided port is not in the valid range. The range of valid ports is ${portRangeText(range)}`,
        );
      }
      const isFree = await bitmap.take(port - range.base);
      metrics?.[isFree ? 'taken' : 'failed']('static');
      if (!isFree) throw new AllocationError('provided port is already allocated');
    },
    async takeNext() {
      const offset = await bitmap.takeNext();
      metrics?.[offset === undefined ? 'failed' : 'taken']('dynamic');
      if (offset === undefined) throw new AllocationError(RANGE_FULL);
      return range.base + offset;
    },
    isAllocated: async (port) => inRange(port) && bitmap.isAllocated(port - range.base),
    async release(port) {
      if (inRange(port)) await bitmap.release(port - range.base);
    },
  };
}

/** A thirty-second part of the range, at least 16 and at most 128 ports; none of a range that has no more than 16. */
function reservedForChoice({ size }: PortRange): number {
  if (size <= 16) return 0;
  return Math.min(Math.max(16, Math.trunc(size / 32)), 128);
}
