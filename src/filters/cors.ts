// `--cors-allowed-origins`: the patterns are the operator's and are searched for in the whole Origin header.
import { RE2JS } from 're2js';
import type { Filter } from './exchange.js';

const METHODS = 'POST, GET, OPTIONS, PUT, DELETE, PATCH';
const HEADERS =
  'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since';

/** No row without patterns. Throws on a pattern that does not compile; the options were checked before. */
export function cors(allowedOrigins: readonly string[]): Filter | undefined {
  if (allowedOrigins.length === 0) return undefined;
  const patterns = allowedOrigins.map((pattern) => RE2JS.compile(pattern));
  return (exchange, next) => {
    const origin = exchange.request.headers.origin;
    if (origin === undefined || origin === '' || !patterns.some((pattern) => pattern.test(origin))) {
      return next(exchange);
    }
    const headers = exchange.responseHeaders;
    headers['access-control-allow-origin'] = origin;
    headers['access-control-allow-methods'] = METHODS;
    headers['access-control-allow-headers'] = HEADERS;
    headers['access-control-expose-headers'] = 'Date';
    headers['access-control-allow-credentials'] = 'true';
    // A preflight is answered here: it carries no credentials that later filters could check.
    if (exchange.request.method === 'OPTIONS') return { status: 204, headers: {}, body: undefined };
    return next(exchange);
  };
}
