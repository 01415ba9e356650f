// The head of an answer: its status, its headers, and where its body ends.
import { goQuote } from '../../lib/go/quote.js';
import {
  type BadField,
  type Fields,
  hasWord,
  isBadField,
  parseContentLength,
  parseFields,
} from '../../lib/http/http1/fields.js';
import { HeadReader } from '../../lib/http/http1/head-reader.js';
import { OutboundError } from '../outbound-error.js';
import { parseStatusLine, type StatusLine } from './status-line.js';

/** How an answer's body ends; `close`: with the connection. */
export type AnswerFraming =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'close' };

export interface ResponseHead extends StatusLine {
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Alternating names and values, as sent. */
  readonly rawHeaders: readonly string[];
  /** That of the answer to a request that may have one; HEAD has none. */
  readonly framing: AnswerFraming;
  /** The server goes on listening on this connection. */
  readonly keepAlive: boolean;
}

/** For all heads of one answer together. */
export const MAX_HEAD_BYTES = 1024 * 1024;
export const HEADS_TOO_LARGE = new OutboundError('protocol', 'net/http: server response headers exceeded limit');

export const responseHeadReader = (): HeadReader<ResponseHead | OutboundError> => new HeadReader(RULES);

const RULES = { maxBytes: MAX_HEAD_BYTES, tooLarge: HEADS_TOO_LARGE, parse: parseResponseHead, checkFirstLine };

function checkFirstLine(line: string): OutboundError | undefined {
  const read = parseStatusLine(line.endsWith('\r') ? line.slice(0, -1) : line);
  if (read instanceof OutboundError) return read;
  return line.endsWith('\r') ? undefined : refused(`malformed MIME header: a line without CR`);
}

/** `text`: everything before the empty line, a character for each byte. */
export function parseResponseHead(text: string): ResponseHead | OutboundError {
  const lines = text.split('\r\n');
  const line = parseStatusLine(lines[0] ?? '');
  if (line instanceof OutboundError) return line;
  const fields = parseFields(lines);
  if (isBadField(fields)) return refused(`malformed MIME header${faultOf(fields)}`);
  const framing = framingOf(line, fields);
  if (framing instanceof OutboundError) return framing;
  const connection = (fields.headers['connection'] ?? '').toLowerCase();
  return {
    version: line.version,
    status: line.status,
    statusText: line.statusText,
    headers: fields.headers,
    rawHeaders: fields.rawHeaders,
    framing,
    keepAlive: line.version === '1.1' ? !hasWord(connection, 'close') : hasWord(connection, 'keep-alive'),
  };
}

const faultOf = ({ wrong, line }: BadField): string =>
  wrong === 'colon' ? `: missing colon: ${goQuote(line)}` : ` line: ${line}`;

const refused = (why: string): OutboundError => new OutboundError('protocol', why);

const NO_BODY: AnswerFraming = { kind: 'none' };
const CHUNKED: AnswerFraming = { kind: 'chunked' };
const UNTIL_CLOSE: AnswerFraming = { kind: 'close' };

const lengthFault = (length: string): string => {
  const lengths = length.split(', ');
  return lengths.length === 1
    ? `bad Content-Length ${goQuote(length)}`
    : `http: message cannot contain multiple Content-Length headers; got [${lengths.map(goQuote).join(' ')}]`;
};

/** What says where a body ends cannot come after it. */
const framingTrailer = (announced: string): string | undefined => {
  const names = announced.split(',').map((name) => name.trim().toLowerCase());
  return FRAMING_FIELDS.find((name) => names.includes(name.toLowerCase()));
};

const FRAMING_FIELDS = ['Transfer-Encoding', 'Trailer', 'Content-Length'];

/** An answer whose end could be seen in two places is none: the rest would pass for the answer to the next request. */
function framingOf({ version, status }: StatusLine, { headers }: Fields): AnswerFraming | OutboundError {
  const coding = headers['transfer-encoding'];
  const length = headers['content-length'];
  if (coding !== undefined) {
    if (version === '1.0') return refused('a transfer encoding in HTTP/1.0');
    if (coding.toLowerCase() !== 'chunked') return refused(`unsupported transfer encoding: ${goQuote(coding)}`);
    if (length !== undefined) return refused('both a transfer encoding and a Content-Length');
  }
  const bytes = length === undefined ? undefined : parseContentLength(length);
  if (length !== undefined && bytes === undefined) return refused(lengthFault(length));
  const trailer = coding === undefined ? undefined : framingTrailer(headers['trailer'] ?? '');
  if (trailer !== undefined) return refused(`bad trailer key ${goQuote(trailer)}`);
  if (status < 200 || status === 204 || status === 304) return NO_BODY;
  if (coding !== undefined) return CHUNKED;
  if (bytes === undefined) return UNTIL_CLOSE;
  return bytes === 0 ? NO_BODY : { kind: 'length', bytes };
}
