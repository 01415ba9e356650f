// Which addresses of a block services may have.
import { bitsOf, type Cidr, cidrLast, cidrText, type IpAddress, ipText } from '../../../lib/values/ip-address.js';
import { AllocationError } from './allocators.js';

export interface Span {
  readonly first: bigint;
  readonly last: bigint;
}

/** Without the network's own address and, in IPv4, its broadcast address. */
export function usable(cidr: Cidr): Span {
  return { first: cidr.network + 1n, last: cidrLast(cidr) - (cidr.family === 4 ? 1n : 0n) };
}

export function isUsable(cidr: Cidr, { family, value }: IpAddress): boolean {
  const { first, last } = usable(cidr);
  return family === cidr.family && value >= first && value <= last;
}

/** A sixteenth of the block, at least 16 and at most 256 addresses; none of a block that has no more than 16. */
export function reservedForChoice(cidr: Cidr): bigint {
  const size = 1n << BigInt(bitsOf(cidr.family) - cidr.prefixLength);
  if (size <= 16n) return 0n;
  const part = size / 16n;
  if (part < 16n) return 16n;
  return part > 256n ? 256n : part;
}

export const notInRange = (address: IpAddress, cidr: Cidr): AllocationError =>
  new AllocationError(
    `the provided IP (${ipText(address)}) is not in the valid range. The range of valid IPs is ${cidrText(cidr)}`,
  );
