// Blocks of IP addresses.
import { goQuote } from '../../lib/go/quote.js';
import { type Address, type Prefix, isMapped, masked, parsePrefix } from './netip.js';
import type { Library } from '../library.js';
import { BOOL, INT, STRING, opaqueType } from '../type.js';
import { CelError, OpaqueValue, type Value, noSuchOverload, unsupportedConversion } from '../value.js';
import { IP, IpValue, addressText, ipOf } from './ip.js';

const CIDR = opaqueType('net.CIDR');

const prefixText = ({ address, length }: Prefix): string => `${addressText(address)}/${length}`;

class CidrValue extends OpaqueValue {
  readonly type = CIDR;
  override readonly costSize: number;
  constructor(readonly prefix: Prefix) {
    super();
    this.costSize = Math.ceil(prefix.length / 8);
  }
  equal(other: Value): Value {
    if (!(other instanceof CidrValue)) return noSuchOverload();
    const { address, length } = this.prefix;
    const { prefix } = other;
    return address.bits === prefix.address.bits && address.value === prefix.address.value && length === prefix.length;
  }
  override readAgain(): Value {
    return unsupportedConversion(`(netip.Prefix)${prefixText(this.prefix)}`);
  }
}

const member = { member: true } as const;

export const cidrLibrary: Library = {
  name: 'kubernetes.net.cidr',
  types: [CIDR],
  functions: [
    { name: 'cidr', overloads: [{ id: 'string_to_cidr', parameters: [STRING], result: CIDR, call: cidrOf }] },
    {
      name: 'isCIDR',
      overloads: [
        {
          id: 'is_cidr',
          parameters: [STRING],
          result: BOOL,
          call: (text: string) => !(cidrOf(text) instanceof CelError),
        },
      ],
    },
    {
      name: 'containsIP',
      overloads: [
        {
          ...member,
          id: 'cidr_contains_ip_string',
          parameters: [CIDR, STRING],
          result: BOOL,
          call: ({ prefix }: CidrValue, text: string) => {
            const ip = ipOf(text);
            return ip instanceof IpValue ? contains(prefix, ip.address) : noSuchOverload();
          },
        },
        {
          ...member,
          id: 'cidr_contains_ip_ip',
          parameters: [CIDR, IP],
          result: BOOL,
          call: ({ prefix }: CidrValue, { address }: IpValue) => contains(prefix, address),
        },
      ],
    },
    {
      name: 'containsCIDR',
      overloads: [
        {
          ...member,
          id: 'cidr_contains_cidr_string',
          parameters: [CIDR, STRING],
          result: BOOL,
          call: ({ prefix }: CidrValue, text: string) => {
            const inner = cidrOf(text);
            return inner instanceof CidrValue ? containsBlock(prefix, inner.prefix) : inner;
          },
        },
        {
          ...member,
          id: 'cidr_contains_cidr',
          parameters: [CIDR, CIDR],
          result: BOOL,
          call: ({ prefix }: CidrValue, inner: CidrValue) => containsBlock(prefix, inner.prefix),
        },
      ],
    },
    {
      name: 'ip',
      overloads: [
        {
          ...member,
          id: 'cidr_ip',
          parameters: [CIDR],
          result: IP,
          call: ({ prefix }: CidrValue) => new IpValue(prefix.address),
        },
      ],
    },
    {
      name: 'prefixLength',
      overloads: [
        {
          ...member,
          id: 'cidr_prefix_length',
          parameters: [CIDR],
          result: INT,
          call: ({ prefix }: CidrValue) => BigInt(prefix.length),
        },
      ],
    },
    {
      name: 'masked',
      overloads: [
        {
          ...member,
          id: 'cidr_masked',
          parameters: [CIDR],
          result: CIDR,
          call: ({ prefix }: CidrValue) => new CidrValue(masked(prefix)),
        },
      ],
    },
    {
      name: 'string',
      overloads: [
        {
          id: 'cidr_to_string',
          parameters: [CIDR],
          result: STRING,
          call: ({ prefix }: CidrValue) => prefixText(prefix),
        },
      ],
    },
  ],
};

function cidrOf(text: string): CidrValue | CelError {
  const prefix = parsePrefix(text);
  const wrong = 'network address parse error during conversion from string: ';
  if ('error' in prefix) return new CelError(`${wrong}${wrong}${prefix.error}`);
  if (isMapped(prefix.address)) {
    return new CelError(`${wrong}IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`);
  }
  return new CidrValue(prefix);
}

function contains({ address, length }: Prefix, other: Address): boolean {
  const free = BigInt(address.bits - length);
  return address.bits === other.bits && address.value >> free === other.value >> free;
}

/** Inside, and no larger. */
const containsBlock = (outer: Prefix, inner: Prefix): boolean =>
  outer.length <= inner.length && contains(outer, inner.address);
