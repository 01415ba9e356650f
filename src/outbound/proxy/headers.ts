// Which headers go on to the server behind a proxy, and which come back.
import { readPeerAddress } from '../../lib/http/peer-address.js';
import type { IncomingHttpHeaders } from 'node:http';
import type { HttpRequest } from '../../lib/http/http.js';
import type { OutboundResponse } from '../messages.js';
import type { Trailers } from '../http1/trailers.js';

export type Headers = Record<string, string | readonly string[]>;

/** What belongs to one connection. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Credentials are for this server, and who the client is only this server says. */
const IDENTITY: ReadonlySet<string> = new Set(['authorization', 'x-remote-user', 'x-remote-uid', 'x-remote-group']);
const IDENTITY_PREFIXES: readonly string[] = ['x-remote-extra-', 'impersonate-'];

const isIdentity = (name: string): boolean =>
  IDENTITY.has(name) || IDENTITY_PREFIXES.some((prefix) => name.startsWith(prefix));

/** The client's own, without those of its connection and its credentials, and with its address. */
export function forwardedHeaders(request: HttpRequest): Headers {
  const named = namedByConnection(request.headers.connection);
  const headers = headersTo(request, (name) => HOP_BY_HOP.has(name) || named.has(name));
  // That trailers are understood holds for every connection on the way: they are handed on.
  return asksForTrailers(request) ? { ...headers, te: 'trailers' } : headers;
}

const asksForTrailers = ({ headers }: HttpRequest): boolean =>
  (headers.te ?? '').split(',').some((word) => word.trim().toLowerCase() === 'trailers');

/** As forwardedHeaders, for an upgrade: its hop-by-hop headers stay. */
export const upgradeHeaders = (request: HttpRequest): Headers => headersTo(request, () => false);

function headersTo(request: HttpRequest, isDropped: (name: string) => boolean): Headers {
  // A request without a host gets the host that it is forwarded to.
  const headers: Headers = request.host === '' ? {} : { host: request.host };
  const repeated = repeatedHeaders(request);
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || name.startsWith(':') || name === 'host') continue;
    if (!isDropped(name) && !isIdentity(name)) headers[name] = repeated.get(name) ?? value;
  }
  const from = [request.headers['x-forwarded-for'] ?? '', readPeerAddress(request.remoteAddress).host];
  headers['x-forwarded-for'] = from.filter((one) => one !== '').join(', ');
  return headers;
}

/**
 * Those that were sent several times, each with its values. They go on as they came: older agents look for the protocol
 * they speak among the values of several headers, and not within one.
 */
function repeatedHeaders({ headers, rawHeaders = [] }: HttpRequest): ReadonlyMap<string, readonly string[]> {
  const sent = new Map<string, string[]>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = String(rawHeaders[i]).toLowerCase();
    const value = String(rawHeaders[i + 1]);
    const values = sent.get(name);
    if (values === undefined) sent.set(name, [value]);
    else values.push(value);
  }
  // What was changed since is another header than was sent.
  return new Map([...sent].filter(([name, values]) => values.length > 1 && values.join(', ') === headers[name]));
}

/** Which origins may read answers is this server's affair. */
const CROSS_ORIGIN: ReadonlySet<string> = new Set([
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
]);

/** What of an answer's headers is the client's. */
export function returnedHeaders({ headers, rawHeaders }: Pick<OutboundResponse, 'headers' | 'rawHeaders'>): Headers {
  const named = namedByConnection(headers.connection);
  const returned: Record<string, string | string[]> = {};
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = String(rawHeaders[i]).toLowerCase();
    const value = String(rawHeaders[i + 1]);
    if (HOP_BY_HOP.has(name) || named.has(name) || CROSS_ORIGIN.has(name)) continue;
    const before = returned[name];
    if (before === undefined) returned[name] = value;
    // Said again, as it must be the same, it would be two to the client.
    else if (name === 'content-length') continue;
    else if (Array.isArray(before)) before.push(value);
    else returned[name] = [before, value];
  }
  // They follow on the client's connection, too.
  if (headers.trailer !== undefined && headers['content-length'] === undefined) {
    returned['trailer'] = headers.trailer.split(',').map(canonicalName).join(', ');
  }
  return returned;
}

const canonicalName = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());

/** What of an answer's trailers is the client's. */
export const returnedTrailers = (trailers: Trailers): Trailers =>
  Object.fromEntries(Object.entries(trailers).filter(([name]) => !HOP_BY_HOP.has(name) && name !== 'content-length'));

const namedByConnection = (connection: IncomingHttpHeaders['connection']): ReadonlySet<string> =>
  new Set((connection ?? '').split(',').map((word) => word.trim().toLowerCase()));
