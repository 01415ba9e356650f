// The head of a request: its first line, its headers, and what they say of the body and the connection.
import {
  type BadField,
  type Fields,
  hasWord,
  isBadField,
  parseContentLength,
  parseFields,
} from '../../lib/http/http1/fields.js';
import { BAD_REQUEST, parseRequestLine, type Refusal, type RequestLine, TOO_LARGE } from './request-line.js';

export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' };

export interface RequestHead extends RequestLine {
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Alternating names and values, as sent. */
  readonly rawHeaders: readonly string[];
  readonly host: string;
  readonly framing: Framing;
  /** The client waits for `100 Continue` before it sends its body. */
  readonly expectsContinue: boolean;
  readonly keepAlive: boolean;
  /** The client would speak another protocol from here on. */
  readonly wantsUpgrade: boolean;
}

export const isRefusal = (read: object): read is Refusal => 'status' in read;

/** As many as fit into an HTTP/2 header list, where each field has an overhead of 32 bytes. */
const MAX_FIELDS = 32 * 1024;

/** `text`: everything before the empty line, a character for each byte. */
// hot: once for each request.
export function parseHead(text: string): RequestHead | Refusal {
  const lines = text.split('\r\n');
  const line = parseRequestLine(lines[0] ?? '');
  if (isRefusal(line)) return line;
  if (lines.length > MAX_FIELDS) return TOO_LARGE;
  const fields = parseFields(lines);
  if (isBadField(fields)) return REFUSALS[fields.wrong];
  const { headers, rawHeaders } = fields;
  const host = hostOf(line, rawHeaders);
  if (typeof host !== 'string') return host;
  const framing = framingOf(line, headers);
  if (isRefusal(framing)) return framing;
  const expect = headers['expect']?.toLowerCase();
  if (expect !== undefined && expect !== '100-continue') return { status: 417, text: '' };
  const connection = (headers['connection'] ?? '').toLowerCase();
  return {
    // Members are listed one by one: spreading `line` takes longer than the rest of this function.
    method: line.method,
    path: line.path,
    search: line.search,
    version: line.version,
    authority: line.authority,
    headers,
    rawHeaders,
    host,
    framing,
    expectsContinue: expect !== undefined && line.version === '1.1' && framing.kind !== 'none',
    keepAlive: line.version === '1.1' ? !hasWord(connection, 'close') : hasWord(connection, 'keep-alive'),
    wantsUpgrade: mayUpgrade(line.method, framing, headers['upgrade']) && hasWord(connection, 'upgrade'),
  };
}

/**
 * A request without a body may offer any upgrade, also one without a protocol. A request with a body is an upgrade only to
 * WebSocket, and the body is then the first bytes of that protocol.
 */
const mayUpgrade = (method: string, { kind }: Framing, protocol: string | undefined): boolean =>
  kind === 'none' || (method === 'GET' && protocol?.toLowerCase() === 'websocket');

const INVALID_NAME: Refusal = { status: 400, text: 'invalid header name' };
const INVALID_VALUE: Refusal = { status: 400, text: 'invalid header value' };
const REFUSALS: Readonly<Record<BadField['wrong'], Refusal>> = {
  colon: BAD_REQUEST,
  name: INVALID_NAME,
  value: INVALID_VALUE,
};

const NO_HOST: Refusal = { status: 400, text: 'missing required Host header' };
const BAD_HOST: Refusal = { status: 400, text: 'malformed Host header' };

function hostOf({ method, version, authority }: RequestLine, rawHeaders: readonly string[]): string | Refusal {
  let host: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (!isHost(rawHeaders[i] as string)) continue;
    if (host !== undefined) return BAD_REQUEST;
    host = rawHeaders[i + 1] as string;
  }
  if (host === undefined && version === '1.1' && method !== 'CONNECT') return NO_HOST;
  if (host !== undefined && !/^[A-Za-z0-9!$%&()*+,\-.:;=[\]'_~]*$/.test(host)) return BAD_HOST;
  return authority ?? host ?? '';
}

const isHost = (name: string): boolean =>
  name === 'Host' || name === 'host' || (name.length === 4 && name.toLowerCase() === 'host');

const NO_BODY: Framing = { kind: 'none' };
const CHUNKED: Framing = { kind: 'chunked' };
const UNKNOWN_CODING: Refusal = { status: 501, text: '', body: 'Unsupported transfer encoding' };

/** A body whose end could be seen in two places, or in none, is no request: the rest would pass for the next one. */
function framingOf({ version }: RequestLine, headers: Fields['headers']): Framing | Refusal {
  const coding = headers['transfer-encoding'];
  const length = headers['content-length'];
  if (coding !== undefined) {
    if (length !== undefined || version === '1.0') return BAD_REQUEST;
    return coding.toLowerCase() === 'chunked' ? CHUNKED : UNKNOWN_CODING;
  }
  if (length === undefined) return NO_BODY;
  const bytes = parseContentLength(length);
  if (bytes === undefined) return BAD_REQUEST;
  return bytes === 0 ? NO_BODY : { kind: 'length', bytes };
}
