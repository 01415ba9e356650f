// The head of an answer as frames.
import type { HttpResponse } from '../../lib/http.js';
import type { HpackEncoder } from '../hpack/encoder.js';
import { dateText } from '../http-date.js';
import { OF_CONNECTIONS } from './connection-headers.js';
import { Flag, FRAME_HEAD_BYTES, FrameType, putFrameHead, writeFrameHead } from './frames.js';
import type { Output } from './output.js';

export interface ResponseHead {
  readonly stream: number;
  readonly status: number;
  readonly headers: HttpResponse['headers'];
  /** Undefined where there is none, or nobody knows it yet. */
  readonly contentLength: number | undefined;
  readonly endStream: boolean;
  /** The largest frame the client takes. */
  readonly frameBytes: number;
  readonly nowMs: number;
}

// hot: once for each answer.
export function putResponseHead(out: Output, encoder: HpackEncoder, head: ResponseHead): void {
  const { headers, contentLength } = head;
  out.ensure(FRAME_HEAD_BYTES);
  const at = out.at;
  out.at += FRAME_HEAD_BYTES;
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
  out.ensure(FRAME_HEAD_BYTES);
  const at = out.at;
  out.at += FRAME_HEAD_BYTES;
  for (const name in fields) {
    const value = fields[name] ?? [];
    if (OF_CONNECTIONS.has(name)) continue;
    for (const one of typeof value === 'string' ? [value] : value) encoder.putField(out, name, one);
  }
  closeBlock(out, at, { stream, endStream: true, frameBytes });
}

/** Tells the client that its body is wanted. */
export function putContinue(out: Output, encoder: HpackEncoder, stream: number, frameBytes: number): void {
  out.ensure(FRAME_HEAD_BYTES);
  const at = out.at;
  out.at += FRAME_HEAD_BYTES;
  encoder.putStatus(out, 100);
  closeBlock(out, at, { stream, endStream: false, frameBytes });
}

/** The block stands after the place of its frame's head, which is written now that its length is known. */
function closeBlock(
  out: Output,
  at: number,
  { stream, endStream, frameBytes }: Pick<ResponseHead, 'stream' | 'endStream' | 'frameBytes'>,
): void {
  const flags = endStream ? Flag.endStream : 0;
  const length = out.at - at - FRAME_HEAD_BYTES;
  if (length <= frameBytes) {
    return writeFrameHead(out.bytes, at, length, FrameType.headers, flags | Flag.endHeaders, stream);
  }
  const block = Buffer.from(out.bytes.subarray(at + FRAME_HEAD_BYTES, out.at));
  out.at = at;
  out.ensure(block.length + FRAME_HEAD_BYTES * Math.ceil(block.length / frameBytes));
  for (let start = 0; start < block.length; start += frameBytes) {
    const end = Math.min(block.length, start + frameBytes);
    const type = start === 0 ? FrameType.headers : FrameType.continuation;
    const here = (start === 0 ? flags : 0) | (end === block.length ? Flag.endHeaders : 0);
    putFrameHead(out, end - start, type, here, stream);
    out.put(block, start, end);
  }
}
