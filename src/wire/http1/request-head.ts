// The head of a request: its first line, its headers, and what they say of the body and the connection.
import { remember } from '../../lib/remember.js';
import { BAD_REQUEST, parseRequestLine, type Refusal, type RequestLine, TOKEN } from './request-line.js';

export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' };

export interface RequestHead extends RequestLine {
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Names and values by turns, as sent. */
  readonly rawHeaders: readonly string[];
  readonly host: string;
  readonly framing: Framing;
  /** The client waits to be told that its body is wanted. */
  readonly expectsContinue: boolean;
  readonly keepAlive: boolean;
  /** The client would speak another protocol from here on. */
  readonly wantsUpgrade: boolean;
}

export const isRefusal = (read: object): read is Refusal => 'status' in read;

/** `text`: everything before the empty line, a character for each byte. */
// hot: once for each request.
export function parseHead(text: string): RequestHead | Refusal {
  const lines = text.split('\r\n');
  const line = parseRequestLine(lines[0] ?? '');
  if (isRefusal(line)) return line;
  const fields = parseFields(lines);
  if (isRefusal(fields)) return fields;
  const { headers, hosts } = fields;
  const host = hostOf(line, hosts);
  if (typeof host !== 'string') return host;
  const framing = framingOf(line, headers);
  if (isRefusal(framing)) return framing;
  const expect = headers['expect']?.toLowerCase();
  if (expect !== undefined && expect !== '100-continue') return { status: 417, text: '' };
  const connection = (headers['connection'] ?? '').toLowerCase();
  return {
    // Written out: copying members takes longer than all the rest of this.
    method: line.method,
    path: line.path,
    search: line.search,
    version: line.version,
    authority: line.authority,
    headers,
    rawHeaders: fields.rawHeaders,
    host,
    framing,
    expectsContinue: expect !== undefined && line.version === '1.1' && framing.kind !== 'none',
    keepAlive: line.version === '1.1' ? !hasWord(connection, 'close') : hasWord(connection, 'keep-alive'),
    // An ordinary request may say that it could be upgraded; one with a body is never.
    wantsUpgrade: framing.kind === 'none' && headers['upgrade'] !== undefined && hasWord(connection, 'upgrade'),
  };
}

const hasWord = (list: string, word: string): boolean =>
  list === word || (list !== '' && list.split(',').some((one) => one.trim() === word));

interface Fields {
  readonly headers: Record<string, string | undefined>;
  readonly rawHeaders: string[];
  readonly hosts: readonly string[];
}

const INVALID_NAME: Refusal = { status: 400, text: 'invalid header name' };
const INVALID_VALUE: Refusal = { status: 400, text: 'invalid header value' };
// eslint-disable-next-line no-control-regex
const NOT_IN_VALUES = /[\x00-\x08\x0a-\x1f\x7f]/;

function parseFields(lines: readonly string[]): Fields | Refusal {
  // Names are the client's: none of them must reach a prototype.
  const headers = Object.create(null) as Record<string, string | undefined>;
  const rawHeaders: string[] = [];
  const hosts: string[] = [];
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i] as string;
    const colon = line.indexOf(':');
    if (colon < 0) return BAD_REQUEST;
    const name = line.slice(0, colon);
    const lower = fieldName(name);
    if (lower === '') return INVALID_NAME;
    const value = line.slice(colon + 1).trim();
    if (NOT_IN_VALUES.test(value)) return INVALID_VALUE;
    rawHeaders.push(name, value);
    if (lower === 'host') hosts.push(value);
    const earlier = headers[lower];
    if (earlier === undefined) headers[lower] = value;
    else if (lower === 'cookie') headers[lower] = `${earlier}; ${value}`;
    else if (!ONLY_ONE.has(lower)) headers[lower] = `${earlier}, ${value}`;
  }
  return { headers, rawHeaders, hosts };
}

const MOST_NAMES = 1000;
/** In lower case; empty when it is no name. */
const fieldName = remember(MOST_NAMES, (name: string) => (TOKEN.test(name) ? name.toLowerCase() : ''));

/** Of these the first counts. */
const ONLY_ONE: ReadonlySet<string> = new Set(['authorization', 'content-type', 'host', 'user-agent']);

const NO_HOST: Refusal = { status: 400, text: 'missing required Host header' };
const BAD_HOST: Refusal = { status: 400, text: 'malformed Host header' };

function hostOf({ method, version, authority }: RequestLine, hosts: readonly string[]): string | Refusal {
  const [host, ...more] = hosts;
  if (more.length > 0) return BAD_REQUEST;
  if (host === undefined && version === '1.1' && method !== 'CONNECT') return NO_HOST;
  if (host !== undefined && !/^[A-Za-z0-9!$%&()*+,\-.:;=[\]'_~]*$/.test(host)) return BAD_HOST;
  return authority ?? host ?? '';
}

const NO_BODY: Framing = { kind: 'none' };
const CHUNKED: Framing = { kind: 'chunked' };
const UNKNOWN_CODING: Refusal = { status: 501, text: 'Unsupported transfer encoding' };

/** A body whose end could be seen in two places, or in none, is no request: the rest would pass for the next one. */
function framingOf({ version }: RequestLine, headers: Fields['headers']): Framing | Refusal {
  const coding = headers['transfer-encoding'];
  const length = headers['content-length'];
  if (coding !== undefined) {
    if (length !== undefined || version === '1.0') return BAD_REQUEST;
    return coding.toLowerCase() === 'chunked' ? CHUNKED : UNKNOWN_CODING;
  }
  if (length === undefined) return NO_BODY;
  const [first = '', ...others] = length.split(', ');
  if (!/^\d{1,15}$/.test(first) || others.some((other) => other !== first)) return BAD_REQUEST;
  return first === '0' ? NO_BODY : { kind: 'length', bytes: Number(first) };
}
