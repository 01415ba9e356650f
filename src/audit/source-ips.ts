// Where a request came from: what proxies say of its way, and the peer itself, which cannot be made up.
import { headerValues, type HttpRequest } from '../lib/http.js';
import { type IpAddress, ipText, parseIp } from '../lib/ip-address.js';
import { remember } from '../lib/remember.js';

export function sourceIps(request: HttpRequest): readonly string[] {
  const { headers } = request;
  if (headers['x-forwarded-for'] === undefined && headers['x-real-ip'] === undefined) return peerOf(request);
  const found: IpAddress[] = [];
  // Of a header that was sent several times, the first counts.
  for (const part of (headerValues(request, 'x-forwarded-for')[0] ?? '').split(',')) {
    const ip = parseIp(part.trim());
    if (ip !== undefined) found.push(ip);
  }
  const real = parseIp(headerValues(request, 'x-real-ip')[0] ?? '');
  if (real !== undefined && !found.some((ip) => same(ip, real))) found.push(real);
  const texts = found.map(ipText);
  const [peer] = peerOf(request);
  return peer === undefined || peer === texts.at(-1) ? texts : [...texts, peer];
}

const same = (a: IpAddress, b: IpAddress): boolean => a.family === b.family && a.value === b.value;

/** Clients keep their connections, and so their addresses. */
const MOST_REMEMBERED = 1024;

const peerAt = remember(MOST_REMEMBERED, (address: string): readonly string[] => {
  const ip = parseIp(hostOf(address));
  return ip === undefined ? [] : [ipText(ip)];
});
const peerOf = ({ remoteAddress }: HttpRequest): readonly string[] => peerAt(remoteAddress);

/** `127.0.0.1:4711` and `[::1]:4711` without their ports; a bare address stays. */
function hostOf(address: string): string {
  if (address.startsWith('[')) return address.slice(1, address.indexOf(']'));
  const colon = address.indexOf(':');
  return colon >= 0 && colon === address.lastIndexOf(':') ? address.slice(0, colon) : address;
}
