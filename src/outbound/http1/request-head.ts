// The head of a request as it is sent.
import { goQuote } from '../../lib/go/quote.js';
import { TOKEN } from '../../lib/http/http1/fields.js';
import type { OutboundRequest } from '../messages.js';
import { OutboundError } from '../outbound-error.js';

/** `statedBytes`: what the head says of a body that comes as a stream; undefined when it is sent in chunks. */
export interface WrittenHead {
  readonly text: string;
  readonly statedBytes: number | undefined;
}

/** Throws an OutboundError for a request whose head would be ambiguous in HTTP/1.1. */
// hot: once for each request.
export function requestHead(request: OutboundRequest): WrittenHead {
  const { url, method, headers = {}, body } = request;
  const target = request.target ?? url.pathname + url.search;
  if (!TOKEN.test(method)) throw invalid(`net/http: invalid method ${goQuote(method)}`);
  if (target === '' || NOT_IN_TARGETS.test(target)) throw invalid('net/http: invalid request target');
  const agent = request.sendUserAgent === true ? AGENT : undefined;
  let text = `${method} ${target} HTTP/1.1\r\n${fields('host', headers['host'] ?? url.host)}`;
  text += fields('user-agent', headers['user-agent'] ?? agent);
  const statedBytes = lengthOf(body, headers['content-length']);
  if (statedBytes === undefined) text += 'transfer-encoding: chunked\r\n';
  else if (statedBytes > 0 || (method !== 'GET' && method !== 'HEAD')) text += `content-length: ${statedBytes}\r\n`;
  for (const name of Object.keys(headers).toSorted()) {
    if (!IN_FRONT.has(name)) text += fields(name, headers[name]);
  }
  if (request.acceptGzip === true && headers['accept-encoding'] === undefined) text += 'accept-encoding: gzip\r\n';
  return { text: `${text}\r\n`, statedBytes };
}

function fields(name: string, value: string | readonly string[] | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? field(name, value) : value.map((one) => field(name, one)).join('');
}

const AGENT = 'Go-http-client/1.1';

export const isWhole = (body: NonNullable<OutboundRequest['body']>): body is Buffer | string =>
  typeof body === 'string' || Buffer.isBuffer(body);

/**
 * As kube-apiserver's client has it: these come before all others, which follow by name. Where a body ends is said by the
 * bytes that are there, not by what somebody said of them.
 */
const IN_FRONT: ReadonlySet<string> = new Set(['host', 'user-agent', 'content-length', 'transfer-encoding']);

function lengthOf(body: OutboundRequest['body'], stated: string | readonly string[] | undefined): number | undefined {
  if (body === undefined) return 0;
  if (isWhole(body)) return Buffer.byteLength(body);
  return typeof stated === 'string' && /^\d{1,15}$/.test(stated) ? Number(stated) : undefined;
}

/** A line end within a value would begin a header, or a request, of its own. */
function field(name: string, value: string): string {
  if (!TOKEN.test(name)) throw invalid(`net/http: invalid header field name ${goQuote(name)}`);
  if (NOT_IN_VALUES.test(value)) throw invalid(`net/http: invalid header field value for ${goQuote(name)}`);
  return `${name}: ${value}\r\n`;
}

const NOT_IN_VALUES = /[^\t\x20-\x7e\x80-\xff]/;
const NOT_IN_TARGETS = /[^\x21-\x7e\x80-\xff]/;

const invalid = (why: string): OutboundError => new OutboundError('protocol', why);
