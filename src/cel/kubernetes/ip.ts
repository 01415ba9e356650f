// IP addresses, without zones and never an IPv4 address in the clothes of an IPv6 one.
import { goQuote } from '../../lib/go/quote.js';
import { formatIp } from '../../lib/values/ip-address.js';
import { type Address, isMapped, parseAddress } from './netip.js';
import type { FunctionDeclaration, Library } from '../library.js';
import { BOOL, INT, STRING, opaqueType } from '../type.js';
import { CelError, OpaqueValue, type Value, noSuchOverload, unsupportedConversion } from '../value.js';

export const IP = opaqueType('net.IP');

export class IpValue extends OpaqueValue {
  readonly type = IP;
  override readonly costSize: number;
  constructor(readonly address: Address) {
    super();
    this.costSize = address.bits / 8;
  }
  equal(other: Value): Value {
    if (!(other instanceof IpValue)) return noSuchOverload();
    return this.address.bits === other.address.bits && this.address.value === other.address.value;
  }
  override readAgain(): Value {
    return unsupportedConversion(`(netip.Addr)${addressText(this.address)}`);
  }
}

export const ipLibrary: Library = {
  name: 'kubernetes.net.ip',
  types: [IP],
  functions: [
    { name: 'ip', overloads: [{ id: 'string_to_ip', parameters: [STRING], result: IP, call: ipOf }] },
    {
      name: 'isIP',
      overloads: [
        {
          id: 'is_ip',
          parameters: [STRING],
          result: BOOL,
          call: (text: string) => !(ipOf(text) instanceof CelError),
        },
      ],
    },
    {
      name: 'ip.isCanonical',
      overloads: [
        {
          id: 'ip_is_canonical',
          parameters: [STRING],
          result: BOOL,
          call: (text: string) => {
            const ip = ipOf(text);
            return ip instanceof IpValue ? addressText(ip.address) === text : ip;
          },
        },
      ],
    },
    {
      name: 'family',
      overloads: [
        {
          id: 'ip_family',
          member: true,
          parameters: [IP],
          result: INT,
          call: ({ address }: IpValue) => (address.bits === 32 ? 4n : 6n),
        },
      ],
    },
    predicate('isUnspecified', 'ip_is_unspecified', ({ value }) => value === 0n),
    predicate('isLoopback', 'ip_is_loopback', isLoopback),
    predicate('isLinkLocalMulticast', 'ip_is_link_local_multicast', isLinkLocalMulticast),
    predicate('isLinkLocalUnicast', 'ip_is_link_local_unicast', isLinkLocalUnicast),
    predicate('isGlobalUnicast', 'ip_is_global_unicast', isGlobalUnicast),
    {
      name: 'string',
      overloads: [
        {
          id: 'ip_to_string',
          parameters: [IP],
          result: STRING,
          call: ({ address }: IpValue) => addressText(address),
        },
      ],
    },
  ],
};

export function ipOf(text: string): IpValue | CelError {
  const address = parseAddress(text);
  if ('error' in address) {
    return new CelError(`IP Address ${goQuote(text)} parse error during conversion from string: ${address.error}`);
  }
  if (address.zone !== '') return new CelError(`IP address ${goQuote(text)} with zone value is not allowed`);
  if (isMapped(address)) return new CelError(`IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`);
  return new IpValue(address);
}

export const addressText = ({ bits, value }: Address): string => formatIp(bits === 32 ? 4 : 6, value);

function predicate(name: string, id: string, answer: (address: Address) => boolean): FunctionDeclaration {
  const call = ({ address }: IpValue): boolean => answer(address);
  return { name, overloads: [{ id, member: true, parameters: [IP], result: BOOL, call }] };
}

/** Whether the address begins with these bits. */
const begins = ({ bits, value }: Address, prefix: bigint, length: number): boolean =>
  value >> BigInt(bits - length) === prefix;

function isLoopback(address: Address): boolean {
  return address.bits === 32 ? begins(address, 127n, 8) : address.value === 1n;
}

/** 224.0.0.0/24; of IPv6, multicast of the link's scope. */
function isLinkLocalMulticast(address: Address): boolean {
  if (address.bits === 32) return begins(address, 0xe00000n, 24);
  return begins(address, 0xffn, 8) && ((address.value >> 112n) & 0xfn) === 2n;
}

/** 169.254.0.0/16, fe80::/10. */
function isLinkLocalUnicast(address: Address): boolean {
  return address.bits === 32 ? begins(address, 0xa9fen, 16) : begins(address, 0xfe80n >> 6n, 10);
}

function isMulticast(address: Address): boolean {
  return address.bits === 32 ? begins(address, 0xen, 4) : begins(address, 0xffn, 8);
}

function isGlobalUnicast(address: Address): boolean {
  if (address.bits === 32 && address.value === 0xffffffffn) return false;
  return address.value !== 0n && !isLoopback(address) && !isMulticast(address) && !isLinkLocalUnicast(address);
}
