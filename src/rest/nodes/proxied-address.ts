// Whom clients may reach through this server: nothing on the server's own machine or link.
import { type IpAddress, parseIp } from '../../lib/values/ip-address.js';
import { badRequest } from '../../machinery/status.js';

const notAllowed = (): Error => badRequest('address not allowed');

export function checkProxiedAddress(text: string): void {
  const ip = parseIp(text);
  if (ip === undefined || !isGlobalUnicast(ip)) throw notAllowed();
}

/** All addresses of the host must be allowed. */
export async function checkProxiedHost(
  host: string,
  resolve: (host: string) => Promise<readonly string[]>,
): Promise<void> {
  if (parseIp(host) !== undefined) return checkProxiedAddress(host);
  let addresses: readonly string[];
  try {
    addresses = await resolve(host);
  } catch {
    throw badRequest(`lookup ${host}: no such host`);
  }
  if (addresses.length === 0) throw badRequest('no addresses for hostname');
  addresses.forEach(checkProxiedAddress);
}

function isGlobalUnicast({ family, value }: IpAddress): boolean {
  if (family === 4) {
    const first = value >> 24n;
    const isMulticast = first >> 4n === 0xen;
    const isLinkLocal = value >> 16n === 0xa9fen;
    return value !== 0n && value !== 0xffff_ffffn && first !== 127n && !isMulticast && !isLinkLocal;
  }
  const isMulticast = value >> 120n === 0xffn;
  const isLinkLocal = value >> 118n === 0xfe80n >> 6n;
  return value > 1n && !isMulticast && !isLinkLocal;
}
