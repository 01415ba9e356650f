// Rules for fields that hold IP addresses and CIDR blocks. Fields older than strict parsing accept more spellings
// (`ForLegacyField`) and warn about them; new fields accept the canonical one only.
import {
  cidrText,
  type Cidr,
  formatIp,
  type IpAddress,
  ipText,
  bitsOf,
  parseCidr,
  parseIp,
} from '../../lib/values/ip-address.js';
import { goQuote } from '../../lib/go/quote.js';
import { type FieldErrors, type FieldPath, invalid } from '../field-error.js';
import { invalidEach } from './fields.js';

const NOT_AN_IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const NOT_A_CIDR = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

export interface LegacyAddressOptions {
  /** The StrictIPCIDRValidation gate. */
  readonly strict?: boolean;
  /** Values of the old object, valid because they were there. */
  readonly old?: ReadonlySet<string>;
}

export const isValidIp = (path: FieldPath, value: string): FieldErrors => invalidEach(path, value, ipFaults(value));

/** Why a text is not an IP address in canonical form. */
export function ipFaults(value: string): string[] {
  const ip = parseIp(value);
  if (ip === undefined) return [NOT_AN_IP];
  const faults = strictIpFaults(ip);
  if (faults.length > 0) return faults;
  const canonical = ipText(ip);
  return value === canonical ? [] : [`must be in canonical form (${goQuote(canonical)})`];
}

export function isValidIpForLegacyField(
  path: FieldPath,
  value: string,
  options: LegacyAddressOptions = {},
): FieldErrors {
  if (options.old?.has(value)) return [];
  const ip = parseIp(value);
  if (ip === undefined) return [invalid(path, value, NOT_AN_IP)];
  return options.strict ? invalidEach(path, value, strictIpFaults(ip)) : [];
}

export function isValidCidr(path: FieldPath, value: string): FieldErrors {
  const cidr = parseCidr(value);
  if (cidr === undefined) return [invalid(path, value, NOT_A_CIDR)];
  const errors = strictCidrErrors(path, value, cidr);
  if (errors.length > 0) return errors;
  const canonical = cidrText(cidr);
  return value === canonical ? [] : [invalid(path, value, `must be in canonical form (${goQuote(canonical)})`)];
}

export function isValidCidrForLegacyField(
  path: FieldPath,
  value: string,
  options: LegacyAddressOptions = {},
): FieldErrors {
  if (options.old?.has(value)) return [];
  const cidr = parseCidr(value);
  if (cidr === undefined) return [invalid(path, value, NOT_A_CIDR)];
  return options.strict ? strictCidrErrors(path, value, cidr) : [];
}

/** An address with the length of its network: `192.168.1.5/24`. */
export function isValidInterfaceAddress(path: FieldPath, value: string): FieldErrors {
  const cidr = parseCidr(value);
  if (cidr === undefined) {
    return [invalid(path, value, 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)')];
  }
  const canonical = `${ipText(cidr.address)}/${cidr.prefixLength}`;
  return value === canonical ? [] : [invalid(path, value, `must be in canonical form (${goQuote(canonical)})`)];
}

export function warningsForIp(path: FieldPath, value: string): string[] {
  const ip = parseIp(value);
  if (ip === undefined) return [];
  const canonical = ipText(ip);
  if (ip.leadingZeros || ip.mapped) {
    return [
      `${path.toString()}: non-standard IP address ${goQuote(value)} will be considered invalid in a future Kubernetes release: use ${goQuote(canonical)}`,
    ];
  }
  if (ip.family === 6 && canonical !== value) {
    return [
      `${path.toString()}: IPv6 address ${goQuote(value)} should be in RFC 5952 canonical format (${goQuote(canonical)})`,
    ];
  }
  return [];
}

export function warningsForCidr(path: FieldPath, value: string): string[] {
  const cidr = parseCidr(value);
  if (cidr === undefined) return [];
  const warnings: string[] = [];
  const canonical = cidrText(cidr);
  if (hasHostBits(cidr)) {
    const single = `${ipText(cidr.address)}/${cidr.address.mapped ? 128 : bitsOf(cidr.family)}`;
    warnings.push(
      `${path.toString()}: CIDR value ${goQuote(value)} is ambiguous in this context (should be ${goQuote(canonical)} or ${goQuote(single)}?)`,
    );
  }
  if (cidr.leadingZeros || cidr.address.mapped) {
    warnings.push(
      `${path.toString()}: non-standard CIDR value ${goQuote(value)} will be considered invalid in a future Kubernetes release: use ${goQuote(canonical)}`,
    );
  }
  if (warnings.length === 0 && cidr.family === 6 && canonical !== value) {
    warnings.push(
      `${path.toString()}: IPv6 CIDR value ${goQuote(value)} should be in RFC 5952 canonical format (${goQuote(canonical)})`,
    );
  }
  return warnings;
}

function strictIpFaults(ip: IpAddress): string[] {
  if (ip.leadingZeros) return ['must not have leading 0s'];
  return ip.mapped ? ['must not be an IPv4-mapped IPv6 address'] : [];
}

function strictCidrErrors(path: FieldPath, value: string, cidr: Cidr): FieldErrors {
  if (cidr.leadingZeros) return [invalid(path, value, 'must not have leading 0s in IP or prefix length')];
  if (cidr.address.mapped) return [invalid(path, value, 'must not have an IPv4-mapped IPv6 address')];
  return hasHostBits(cidr) ? [invalid(path, value, 'must not have bits set beyond the prefix length')] : [];
}

const hasHostBits = (cidr: Cidr): boolean => ipText(cidr.address) !== formatIp(cidr.family, cidr.network);
