// The parts of a parsed URL, as Go's net/url returns them.
import { append } from '../values/append.js';
import type { GoUrl } from './url.js';

/** The host without its port and without the brackets of an IPv6 address. */
export function hostnameOf({ host }: GoUrl): string {
  const name = portOf({ host }) === '' && !host.endsWith(':') ? host : host.slice(0, host.lastIndexOf(':'));
  return name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
}

export function portOf({ host }: Pick<GoUrl, 'host'>): string {
  const colon = host.lastIndexOf(':');
  const port = host.slice(colon + 1);
  return colon >= 0 && /^[0-9]*$/.test(port) ? port : '';
}

/** The path as written where that is a valid escaping, and escaped anew where not. */
export function escapedPathOf({ path }: GoUrl): string {
  if (path === '*') return '*';
  if (/^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@[\]/]|%[0-9A-Fa-f]{2})*$/.test(path)) return path;
  return escapedBytes(bytesOf(path));
}

/** A decoded path, escaped where it must be. */
export const escapePath = (path: string): string =>
  /^[A-Za-z0-9\-._~$&+,/:;=@]*$/.test(path) ? path : escapedBytes([...Buffer.from(path, 'utf8')]);

const escapedBytes = (bytes: readonly number[]): string =>
  Array.from(bytes, (byte) => {
    const char = String.fromCharCode(byte);
    return /[A-Za-z0-9\-._~$&+,/:;=@]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');

/** Names and values as a query, sorted by name; the values of a name stay in their order. */
export function encodeQuery(pairs: Iterable<readonly [string, string]>): string {
  const sorted = [...pairs].sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
  return sorted.map(([name, value]) => `${escapeQuery(name)}=${escapeQuery(value)}`).join('&');
}

const escapeQuery = (text: string): string =>
  encodeURIComponent(Buffer.from(text).toString()).replace(/[!'()*]|%20/g, (found) =>
    found === '%20' ? '+' : `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** `host:port`, an IPv6 host in brackets. */
export const joinHostPort = (host: string, port: string): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/** The query's values by name, in the order they came; what cannot be read is left out. */
export function queryOf({ rawQuery }: GoUrl): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const pair of rawQuery.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const equals = pair.indexOf('=');
    const name = unescapeQuery(equals < 0 ? pair : pair.slice(0, equals));
    const value = unescapeQuery(equals < 0 ? '' : pair.slice(equals + 1));
    if (name === undefined || value === undefined) continue;
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  return values;
}

/** The URL written anew. */
export function goUrlText(url: GoUrl): string {
  const scheme = url.scheme === '' ? '' : `${url.scheme}:`;
  const query = url.rawQuery === '' ? '' : `?${url.rawQuery}`;
  const fragment = url.fragment === '' ? '' : `#${url.fragment}`;
  if (url.opaque !== '') return `${scheme}${url.opaque}${query}${fragment}`;
  const user = url.user === undefined ? '' : `${url.user}@`;
  const authority = url.host === '' && url.user === undefined ? '' : `//${user}${url.host}`;
  return `${scheme}${authority}${escapedPathOf(url)}${query}${fragment}`;
}

function unescapeQuery(text: string): string | undefined {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return undefined;
  return Buffer.from(bytesOf(text.replaceAll('+', ' '))).toString('utf8');
}

/** The bytes of a text whose escapes are right. */
function bytesOf(text: string): number[] {
  const bytes: number[] = [];
  for (const part of text.match(/%[0-9A-Fa-f]{2}|[^%]+/g) ?? []) {
    if (part.startsWith('%')) bytes.push(Number.parseInt(part.slice(1), 16));
    else append(bytes, Buffer.from(part, 'utf8'));
  }
  return bytes;
}
