// The head of an answer as frames.
import type { HttpResponse } from '../../lib/http/http.js';
import type { HpackEncoder } from '../hpack/encoder.js';
import { dateText } from '../http-date.js';
import { OF_CONNECTIONS } from './connection-headers.js';
import type { Output } from './output.js';
import { beginBlock, type BlockEnd, closeBlock } from './put-block.js';

export interface ResponseHead extends BlockEnd {
  readonly status: number;
  readonly headers: HttpResponse['headers'];
  /** Undefined without a body, or while its length is unknown. */
  readonly contentLength: number | undefined;
  readonly nowMs: number;
}

// hot: once for each answer.
export function putResponseHead(out: Output, encoder: HpackEncoder, head: ResponseHead): void {
  const { headers, contentLength } = head;
  const at = beginBlock(out);
  encoder.putStatus(out, head.status);
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || OF_CONNECTIONS.has(name)) continue;
    if (typeof value === 'object') for (const one of value) encoder.putField(out, name, one);
    else encoder.putField(out, name, String(value));
  }
  if (headers['date'] === undefined) encoder.putField(out, 'date', dateText(head.nowMs));
  if (contentLength !== undefined && headers['content-length'] === undefined) {
    encoder.putField(out, 'content-length', String(contentLength));
  }
  closeBlock(out, at, head);
}

/** What follows the body, and the end of the stream. */
export function putTrailers(
  out: Output,
  encoder: HpackEncoder,
  { stream, fields, frameBytes }: { stream: number; fields: HttpResponse['headers']; frameBytes: number },
): void {
  const at = beginBlock(out);
  encoder.begin(out);
  for (const name in fields) {
    const value = fields[name] ?? [];
    if (OF_CONNECTIONS.has(name)) continue;
    for (const one of typeof value === 'string' ? [value] : value) encoder.putField(out, name, one);
  }
  closeBlock(out, at, { stream, endStream: true, frameBytes });
}

/** Writes `100 Continue`. */
export function putContinue(out: Output, encoder: HpackEncoder, stream: number, frameBytes: number): void {
  const at = beginBlock(out);
  encoder.putStatus(out, 100);
  closeBlock(out, at, { stream, endStream: false, frameBytes });
}
