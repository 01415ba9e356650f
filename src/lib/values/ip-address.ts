// IP addresses and CIDR blocks, read as leniently as the oldest API fields need and encoded canonically. What was
// unusual about the text is kept beside the value, so that strict callers decide on flags instead of parsing again.

export interface IpAddress {
  /** 4 also for IPv4 addresses written as `::ffff:1.2.3.4`. */
  readonly family: 4 | 6;
  readonly value: bigint;
  /** The text was an IPv4 address in IPv6 clothing. */
  readonly mapped: boolean;
  /** The text had digits no strict reader accepts: `010.1.1.1`, `00001::`. */
  readonly leadingZeros: boolean;
}

export interface Cidr {
  /** The address as written, bits beyond the prefix included. */
  readonly address: IpAddress;
  readonly family: 4 | 6;
  /** The first address of the block. */
  readonly network: bigint;
  readonly prefixLength: number;
  readonly leadingZeros: boolean;
}

const MAPPED_PREFIX = 0xffffn << 32n;

export const bitsOf = (family: 4 | 6): number => (family === 4 ? 32 : 128);

export function parseIp(text: string): IpAddress | undefined {
  if (text.includes(':')) return parseIpv6(text);
  const v4 = parseIpv4(text);
  return v4 === undefined ? undefined : { family: 4, value: BigInt(v4.value), mapped: false, leadingZeros: v4.zeros };
}

export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/');
  if (slash < 0) return undefined;
  const address = parseIp(text.slice(0, slash));
  const lengthText = text.slice(slash + 1);
  if (address === undefined || !/^[0-9]{1,8}$/.test(lengthText)) return undefined;
  const length = Number(lengthText);
  const leadingZeros = address.leadingZeros || (lengthText.length > 1 && lengthText.startsWith('0'));
  if (address.family === 4 && !address.mapped) {
    if (length > 32) return undefined;
    const network = maskBits(address.value, 32, length);
    return { address, family: 4, network, prefixLength: length, leadingZeros };
  }
  if (length > 128) return undefined;
  // A mapped address counts its prefix in 128 bits; while those leave the mapping mark whole, the block is an IPv4 one.
  if (address.mapped && length >= 96) {
    const network = maskBits(address.value, 32, length - 96);
    return { address, family: 4, network, prefixLength: length - 96, leadingZeros };
  }
  const whole = address.mapped ? address.value | MAPPED_PREFIX : address.value;
  return { address, family: 6, network: maskBits(whole, 128, length), prefixLength: length, leadingZeros };
}

/** The canonical text (RFC 5952 for IPv6). */
export function formatIp(family: 4 | 6, value: bigint): string {
  if (family === 4) return formatIpv4(Number(value));
  const groups: number[] = [];
  for (let shift = 112n; shift >= 0n; shift -= 16n) groups.push(Number((value >> shift) & 0xffffn));
  const gap = longestZeroRun(groups);
  if (gap === undefined) return groups.map(hex).join(':');
  const head = groups.slice(0, gap.start).map(hex).join(':');
  const tail = groups.slice(gap.end).map(hex).join(':');
  return `${head}::${tail}`;
}

export const ipText = (ip: IpAddress): string => formatIp(ip.family, ip.value);

export const cidrText = (cidr: Cidr): string => `${formatIp(cidr.family, cidr.network)}/${cidr.prefixLength}`;

export const cidrContains = (cidr: Cidr, ip: Pick<IpAddress, 'family' | 'value'>): boolean =>
  cidr.family === ip.family && maskBits(ip.value, bitsOf(cidr.family), cidr.prefixLength) === cidr.network;

/** The last address of the block. */
export const cidrLast = (cidr: Cidr): bigint =>
  cidr.network + (1n << BigInt(bitsOf(cidr.family) - cidr.prefixLength)) - 1n;

function maskBits(value: bigint, bits: number, prefixLength: number): bigint {
  const free = BigInt(bits - prefixLength);
  return (value >> free) << free;
}

// hot: large services, slices and policies have a hundred thousand, and each rule about them reads them again.
function parseIpv4(text: string): { value: number; zeros: boolean } | undefined {
  let [value, octet, digits, dots, zeros] = [0, 0, 0, 0, false];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === DOT) {
      if (digits === 0 || ++dots > 3) return undefined;
      value = value * 256 + octet;
      [octet, digits] = [0, 0];
      continue;
    }
    if (code < ZERO || code > NINE) return undefined;
    if (digits > 0 && octet === 0) zeros = true;
    digits++;
    octet = octet * 10 + code - ZERO;
    if (octet > 255) return undefined;
  }
  return dots === 3 && digits > 0 ? { value: value * 256 + octet, zeros } : undefined;
}

const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

function parseIpv6(text: string): IpAddress | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const head = parseGroups(halves[0] ?? '', halves.length === 1);
  const tail = halves.length === 2 ? parseGroups(halves[1] ?? '', true) : { groups: [], zeros: false };
  if (head === undefined || tail === undefined) return undefined;
  const count = head.groups.length + tail.groups.length;
  if (halves.length === 1 ? count !== 8 : count > 7) return undefined;
  const groups = [...head.groups, ...Array.from({ length: 8 - count }, () => 0), ...tail.groups];
  const value = groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n);
  const leadingZeros = head.zeros || tail.zeros;
  if (value >> 32n === 0xffffn) return { family: 4, value: value & 0xffffffffn, mapped: true, leadingZeros };
  return { family: 6, value, mapped: false, leadingZeros };
}

/** The 16-bit groups between two colons; the last may be an IPv4 address, where the address ends. */
function parseGroups(text: string, endsAddress: boolean): { groups: number[]; zeros: boolean } | undefined {
  const groups: number[] = [];
  if (text === '') return { groups, zeros: false };
  const parts = text.split(':');
  let zeros = false;
  for (const [position, part] of parts.entries()) {
    if (endsAddress && position === parts.length - 1 && part.includes('.')) {
      const v4 = parseIpv4(part);
      if (v4 === undefined) return undefined;
      groups.push(v4.value >>> 16, v4.value & 0xffff);
      return { groups, zeros: zeros || v4.zeros };
    }
    if (!/^0*[0-9a-fA-F]{1,4}$/.test(part)) return undefined;
    if (part.length > 4) zeros = true;
    groups.push(Number.parseInt(part, 16));
  }
  return { groups, zeros };
}

const hex = (group: number): string => group.toString(16);

const formatIpv4 = (value: number): string =>
  `${(value >>> 24) & 255}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;

/** The first longest run of at least two zero groups. */
function longestZeroRun(groups: readonly number[]): { start: number; end: number } | undefined {
  let best: { start: number; end: number } | undefined;
  let start = -1;
  for (let position = 0; position <= groups.length; position++) {
    if (position < groups.length && groups[position] === 0) {
      if (start < 0) start = position;
      continue;
    }
    if (start >= 0) {
      const length = position - start;
      if (length > 1 && (best === undefined || length > best.end - best.start)) best = { start, end: position };
    }
    start = -1;
  }
  return best;
}
