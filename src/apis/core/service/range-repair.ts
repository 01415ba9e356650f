// Brings the bitmaps of node ports and addresses back in line with the services that are stored.
import type { Logger } from '../../../lib/telemetry/log.js';
import { type IpAddress, ipText, parseIp } from '../../../lib/values/ip-address.js';
import type { Service } from '../../../schema/generated/core.v1.js';
import type { AddressBitmap } from './address-bitmap.js';
import { type PortRange, portRangeText } from './node-port-allocator.js';
import { Bits, type RangeBitmap } from './range-bitmap.js';
import { addressesOf } from './repair.js';

/** What no service has is released when it was found so in this many rounds. */
const ROUNDS_BEFORE_RELEASE = 3;

export interface RangeRepairParts {
  readonly services: () => Promise<readonly Readonly<Service>[]>;
  readonly log: Logger;
}

/** Returns one round of repair. Leaks it has seen are kept from round to round. */
export const createNodePortRepair = (
  bitmap: RangeBitmap,
  range: PortRange,
  parts: RangeRepairParts,
): (() => Promise<void>) =>
  createRangeRepair(bitmap, parts, {
    what: 'node port',
    range: `the port range ${portRangeText(range)}`,
    of: (service) =>
      portsOf(service).map((port) => ({
        text: String(port),
        offset: port < range.base || port >= range.base + range.size ? undefined : port - range.base,
      })),
    textAt: (offset) => String(range.base + offset),
  });

export const createAddressBitmapRepair = (bitmap: AddressBitmap, parts: RangeRepairParts): (() => Promise<void>) =>
  createRangeRepair(bitmap.bitmap, parts, {
    what: 'cluster IP',
    range: 'the service range',
    of: (service) =>
      addressesOf(service)
        .map(parseIp)
        .filter((address): address is IpAddress => address?.family === bitmap.cidr.family)
        .map((address) => ({ text: ipText(address), offset: bitmap.offsetOf(address) })),
    textAt: (offset) => bitmap.addressAt(offset),
  });

/** What a range is of, and what of it a service has. */
interface RangeUse {
  readonly what: string;
  readonly range: string;
  /** Without an offset where it does not lie in the range. */
  of(service: Readonly<Service>): readonly { readonly text: string; readonly offset: number | undefined }[];
  textAt(offset: number): string;
}

function createRangeRepair(bitmap: RangeBitmap, { services, log }: RangeRepairParts, use: RangeUse) {
  const leaking = new Map<number, number>();
  return async (): Promise<void> => {
    await bitmap.replace(async (before) => rebuilt(before, await services()));
  };

  function rebuilt(before: Bits, list: readonly Readonly<Service>[]): Bits {
    const bits = new Bits(before.size);
    for (const service of list) {
      for (const { text, offset } of use.of(service)) {
        const where = `the ${use.what} ${text} for service ${service.metadata.name ?? ''}/${service.metadata.namespace ?? ''}`;
        if (offset === undefined) {
          log.info(`${where} is not within ${use.range}; please recreate`);
          continue;
        }
        if (bits.has(offset)) log.info(`${where} was assigned to multiple services; please recreate`);
        else if (!before.has(offset)) log.info(`${where} is not allocated; repairing`);
        bits.add(offset);
        leaking.delete(offset);
      }
    }
    for (const offset of before) {
      if (bits.has(offset)) continue;
      const rounds = leaking.get(offset) ?? ROUNDS_BEFORE_RELEASE - 1;
      if (rounds <= 0) {
        log.info(`the ${use.what} ${use.textAt(offset)} appears to have leaked: cleaning up`);
        leaking.delete(offset);
        continue;
      }
      leaking.set(offset, rounds - 1);
      bits.add(offset);
    }
    return bits;
  }
}

/** Two ports of one service may share a node port under different protocols: it counts once. */
function portsOf({ spec }: Readonly<Service>): number[] {
  const seen = new Map<number, Set<string>>();
  const ports: number[] = [];
  const count = (port: number, protocol: string): void => {
    if (port === 0) return;
    const protocols = seen.get(port) ?? new Set();
    if (protocols.size === 0 || protocols.has(protocol)) ports.push(port);
    seen.set(port, protocols.add(protocol));
  };
  for (const { nodePort = 0, protocol = '' } of spec.ports ?? []) count(nodePort, protocol);
  count(spec.healthCheckNodePort ?? 0, 'TCP');
  return ports;
}
