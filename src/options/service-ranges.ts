// The address ranges of services, from --service-cluster-ip-range.
import { cidrLast, formatIp, parseCidr, type Cidr } from '../lib/values/ip-address.js';

export interface ServiceRanges {
  readonly primary: Cidr;
  readonly secondary?: Cidr;
  /** The first usable address of the primary range: this API's own service. */
  readonly apiServiceIp: string;
  /** How many ranges were written, valid or not. */
  readonly count: number;
}

const DEFAULT_RANGE = parseCidr('10.0.0.0/24') as Cidr;
const MIN_ADDRESSES = 8n;

export type ServiceRangesRead =
  | { readonly ok: true; readonly ranges: ServiceRanges; readonly warning?: string }
  | { readonly ok: false; readonly error: string };

export function readServiceRanges(text: string): ServiceRangesRead {
  if (text === '') {
    const warning =
      'No CIDR for service cluster IPs specified. Default value which was 10.0.0.0/24 is deprecated and will be removed in future releases. Please specify it using --service-cluster-ip-range on kube-apiserver.';
    return {
      ok: true,
      ranges: { primary: DEFAULT_RANGE, apiServiceIp: firstAddress(DEFAULT_RANGE), count: 0 },
      warning,
    };
  }
  const [first = '', second, ...more] = text.split(',');
  const primary = parseCidr(first);
  if (primary === undefined) return { ok: false, error: 'service-cluster-ip-range[0] is not a valid cidr' };
  // kube-apiserver cannot count the addresses of half of everything, and counts none.
  if (primary.prefixLength <= 1 || cidrLast(primary) - primary.network + 1n < MIN_ADDRESSES) {
    const why = `the service cluster IP range must be at least ${MIN_ADDRESSES} IP addresses`;
    return { ok: false, error: `error determining service IP ranges for primary service cidr: ${why}` };
  }
  const ranges = { primary, apiServiceIp: firstAddress(primary), count: 1 };
  if (second === undefined) return { ok: true, ranges };
  const secondary = parseCidr(second);
  if (secondary === undefined) return { ok: false, error: 'service-cluster-ip-range[1] is not an ip net' };
  return { ok: true, ranges: { ...ranges, secondary, count: 2 + more.length } };
}

const firstAddress = (range: Cidr): string => formatIp(range.family, range.network + 1n);
