import { type IpAddress, parseIp } from '../../../lib/values/ip-address.js';
import { type FieldErrors, type FieldPath, invalid } from '../../../machinery/field-error.js';

/** What a port may speak, in the order errors list it. */
export const PROTOCOLS: readonly string[] = ['SCTP', 'TCP', 'UDP'];

/** Addresses traffic is sent to: endpoints, slices and the external addresses of services. */
export function validateEndpointIp(text: string, path: FieldPath): FieldErrors {
  const ip = parseIp(text);
  if (ip === undefined) return [invalid(path, text, 'must be a valid IP address')];
  const { family, value } = ip;
  const errors: FieldErrors = [];
  if (value === 0n) errors.push(invalid(path, text, `may not be unspecified (${text})`));
  if (family === 4 ? isUnder(ip, 127n, 8) : value === 1n) {
    errors.push(invalid(path, text, 'may not be in the loopback range (127.0.0.0/8, ::1/128)'));
  }
  if (family === 4 ? isUnder(ip, 0xa9fen, 16) : isUnder(ip, 0xfe80n >> 6n, 10)) {
    errors.push(invalid(path, text, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'));
  }
  // The low nibble of the second byte is the scope of an IPv6 multicast address; 2 is the link.
  const linkMulticast =
    family === 4 ? isUnder(ip, 0xe00000n, 24) : isUnder(ip, 0xffn, 8) && ((value >> 112n) & 0xfn) === 2n;
  if (linkMulticast) {
    errors.push(invalid(path, text, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'));
  }
  return errors;
}

const isUnder = ({ family, value }: IpAddress, prefix: bigint, bits: number): boolean =>
  value >> BigInt((family === 4 ? 32 : 128) - bits) === prefix;
