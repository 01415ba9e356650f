// Where a request came from: what proxies say of its way, and the peer itself, which cannot be made up.
import { headerValues, type HttpRequest } from '../lib/http/http.js';
import { type IpAddress, ipText, parseIp } from '../lib/values/ip-address.js';
import { readPeerAddress } from '../lib/http/peer-address.js';
import { boundedMemo } from '../lib/values/bounded-memo.js';

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
const MAX_MEMOIZED = 1024;

const peerAt = boundedMemo(MAX_MEMOIZED, (address: string): readonly string[] => {
  const ip = parseIp(readPeerAddress(address).host);
  return ip === undefined ? [] : [ipText(ip)];
});
const peerOf = ({ remoteAddress }: HttpRequest): readonly string[] => peerAt(remoteAddress);
