// The fields that both ends know from the start, RFC 7541, appendix A. Index 1 is the first.

const FIELDS = `:authority
:method GET
:method POST
:path /
:path /index.html
:scheme http
:scheme https
:status 200
:status 204
:status 206
:status 304
:status 400
:status 404
:status 500
accept-charset
accept-encoding gzip, deflate
accept-language
accept-ranges
accept
access-control-allow-origin
age
allow
authorization
cache-control
content-disposition
content-encoding
content-language
content-length
content-location
content-range
content-type
cookie
date
etag
expect
expires
from
host
if-match
if-modified-since
if-none-match
if-range
if-unmodified-since
last-modified
link
location
max-forwards
proxy-authenticate
proxy-authorization
range
referer
refresh
retry-after
server
set-cookie
strict-transport-security
transfer-encoding
user-agent
vary
via
www-authenticate`
  .split('\n')
  .map((line) => {
    const space = line.indexOf(' ');
    return space < 0 ? ([line, ''] as const) : ([line.slice(0, space), line.slice(space + 1)] as const);
  });

export const STATIC_COUNT = FIELDS.length;
/** By index; nothing at 0. */
export const STATIC_NAMES: readonly string[] = ['', ...FIELDS.map(([name]) => name)];
export const STATIC_VALUES: readonly string[] = ['', ...FIELDS.map(([, value]) => value)];

/** The first field of a name. */
export const STATIC_INDEX_OF_NAME: ReadonlyMap<string, number> = new Map(
  FIELDS.map(([name], i) => [name, i + 1] as const).toReversed(),
);

/** Statuses that need no more than an index. */
export const STATIC_INDEX_OF_STATUS: ReadonlyMap<number, number> = new Map(
  FIELDS.flatMap(([name, value], i) => (name === ':status' ? [[Number(value), i + 1] as const] : [])),
);
