// Addresses and prefixes read as strictly as Go's net/netip reads them, with its words for what is wrong. The lenient
// reading that old API fields need is in ip-address.ts.
import { goQuote } from '../../lib/go/quote.js';

export interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
  readonly zone: string;
}

export interface Prefix {
  readonly address: Address;
  readonly length: number;
}

export type Parsed<T> = T | { readonly error: string };

const MAPPED = 0xffffn;

export function parseAddress(text: string): Parsed<Address> {
  const mark = /[.:%]/.exec(text)?.[0];
  try {
    if (mark === '.') return { bits: 32, value: fields(text, text), zone: '' };
    if (mark === ':') return parseV6(text);
    throw new AddressError(text, mark === '%' ? 'missing IPv6 address' : 'unable to parse IP');
  } catch (error) {
    if (error instanceof AddressError) return { error: error.message };
    throw error;
  }
}

export function parsePrefix(text: string): Parsed<Prefix> {
  const wrong = (why: string): { error: string } => ({ error: `netip.ParsePrefix(${goQuote(text)}): ${why}` });
  const slash = text.lastIndexOf('/');
  if (slash < 0) return wrong("no '/'");
  const address = parseAddress(text.slice(0, slash));
  if ('error' in address) return wrong(address.error);
  if (address.zone !== '') return wrong('IPv6 zones cannot be present in a prefix');
  const bits = text.slice(slash + 1);
  if (!/^(?:[0-9]|[1-9][0-9]{1,17})$/.test(bits)) return wrong(`bad bits after slash: ${goQuote(bits)}`);
  if (Number(bits) > address.bits) return wrong('prefix length out of range');
  return { address, length: Number(bits) };
}

/** An IPv4 address in the clothes of an IPv6 one. */
export const isMapped = ({ bits, value }: Address): boolean => bits === 128 && value >> 32n === MAPPED;

/** The first address of the block the prefix stands in. */
export function masked({ address, length }: Prefix): Prefix {
  const free = BigInt(address.bits - length);
  return { address: { ...address, value: (address.value >> free) << free }, length };
}

class AddressError extends Error {
  constructor(text: string, why: string, at = '') {
    super(`ParseAddr(${goQuote(text)}): ${why}${at === '' ? '' : ` (at ${goQuote(at)})`}`);
  }
}

/** Four decimal fields; `text` is the whole address they stand in. */
function fields(part: string, text: string): bigint {
  let value = 0n;
  let field = 0;
  let digits = 0;
  let dots = 0;
  for (const [i, char] of Array.from(part).entries()) {
    const rest = part.slice(i);
    if (/[0-9]/.test(char)) {
      if (digits === 1 && field === 0) throw new AddressError(text, 'IPv4 field has octet with leading zero');
      field = field * 10 + Number(char);
      digits++;
      if (field > 255) throw new AddressError(text, 'IPv4 field has value >255');
    } else if (char === '.') {
      if (i === 0 || i === part.length - 1 || part[i - 1] === '.') {
        throw new AddressError(text, 'IPv4 field must have at least one digit', rest);
      }
      if (dots === 3) throw new AddressError(text, 'IPv4 address too long');
      value = value * 256n + BigInt(field);
      dots++;
      field = 0;
      digits = 0;
    } else throw new AddressError(text, 'unexpected character', rest);
  }
  if (dots < 3) throw new AddressError(text, 'IPv4 address too short');
  return value * 256n + BigInt(field);
}

function parseV6(text: string): Address {
  const percent = text.indexOf('%');
  const zone = percent < 0 ? '' : text.slice(percent + 1);
  if (percent >= 0 && zone === '') throw new AddressError(text, 'zone must be a non-empty string');
  const reader = new GroupReader(text, percent < 0 ? text : text.slice(0, percent));
  return { bits: 128, value: reader.read(), zone };
}

/** Reads groups of up to four hexadecimal digits, with one gap and an IPv4 address at the end where they stand. */
class GroupReader {
  private readonly groups: number[] = [];
  private gap: number | undefined;

  constructor(
    private readonly text: string,
    private rest: string,
  ) {}

  read(): bigint {
    if (this.rest.startsWith('::')) {
      this.gap = 0;
      this.rest = this.rest.slice(2);
    }
    while (this.groups.length < 8 && this.rest !== '') if (!this.group()) break;
    if (this.rest !== '') this.fail('trailing garbage after address', this.rest);
    const missing = 8 - this.groups.length;
    if (missing > 0 && this.gap === undefined) this.fail('address string too short');
    if (missing === 0 && this.gap !== undefined) this.fail('the :: must expand to at least one field of zeros');
    while (this.groups.length < 8) this.groups.splice(this.gap ?? 0, 0, 0);
    return this.groups.reduce((value, group) => (value << 16n) | BigInt(group), 0n);
  }

  /** One group and the colon behind it; false when the address ends here. */
  private group(): boolean {
    const digits = /^[0-9a-fA-F]*/.exec(this.rest)?.[0] ?? '';
    if (digits.length > 4) this.fail('each group must have 4 or less digits', this.rest);
    if (digits === '') this.fail('each colon-separated field must have at least one digit', this.rest);
    if (this.rest[digits.length] === '.') {
      this.embedded();
      return false;
    }
    this.groups.push(Number.parseInt(digits, 16));
    this.rest = this.rest.slice(digits.length);
    if (this.rest === '') return false;
    if (!this.rest.startsWith(':')) this.fail('unexpected character, want colon', this.rest);
    if (this.rest.length === 1) this.fail('colon must be followed by more characters', this.rest);
    this.rest = this.rest.slice(1);
    if (!this.rest.startsWith(':')) return true;
    if (this.gap !== undefined) this.fail('multiple :: in address', this.rest);
    this.gap = this.groups.length;
    this.rest = this.rest.slice(1);
    return this.rest !== '';
  }

  private embedded(): void {
    if (this.gap === undefined && this.groups.length !== 6) {
      this.fail('embedded IPv4 address must replace the final 2 fields of the address', this.rest);
    }
    if (this.groups.length > 6) {
      this.fail('too many hex fields to fit an embedded IPv4 at the end of the address', this.rest);
    }
    const value = fields(this.rest, this.text);
    this.groups.push(Number(value >> 16n), Number(value & 0xffffn));
    this.rest = '';
  }

  private fail(why: string, at = ''): never {
    throw new AddressError(this.text, why, at);
  }
}
