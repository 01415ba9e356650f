// The head of an answer, as bytes.
import type { HttpResponse } from '../../lib/http/http.js';
import { statusText } from '../../lib/http/http1/status-text.js';
import { boundedMemo } from '../../lib/values/bounded-memo.js';
import { dateText } from '../http-date.js';
import type { Refusal } from './request-line.js';

export interface ResponseHead {
  readonly version: '1.0' | '1.1';
  readonly status: number;
  readonly headers: HttpResponse['headers'];
  /** Undefined for a chunked or absent body. */
  readonly contentLength: number | undefined;
  readonly chunked: boolean;
  /** The value of the `Connection` header, if there is one. */
  readonly connection: 'close' | 'keep-alive' | undefined;
  readonly nowMs: number;
}

// hot: once for each answer.
export function responseHead(head: ResponseHead): string {
  const { headers, contentLength, connection } = head;
  let text = `HTTP/${head.version} ${head.status} ${statusText(head.status)}\r\n`;
  text += headerLines(headers);
  if (headers['date'] === undefined) text += `Date: ${dateText(head.nowMs)}\r\n`;
  if (contentLength !== undefined && headers['content-length'] === undefined)
    text += `Content-Length: ${contentLength}\r\n`;
  if (head.chunked) text += 'Transfer-Encoding: chunked\r\n';
  if (connection !== undefined) text += `Connection: ${connection}\r\n`;
  return `${text}\r\n`;
}

export function headerLines(headers: HttpResponse['headers']): string {
  let text = '';
  for (const name in headers) {
    if (name === 'connection') continue;
    const value = headers[name] as string | readonly string[];
    if (typeof value === 'object') for (const one of value) text += `${canonicalName(name)}: ${oneLine(one)}\r\n`;
    else text += `${canonicalName(name)}: ${oneLine(String(value))}\r\n`;
  }
  return text;
}

/** The whole answer to what is no request. The connection ends with it. */
export function refusalText({ status, text, body }: Refusal): string {
  const line = `${status} ${statusText(status)}${text === '' ? '' : `: ${text}`}`;
  return `HTTP/1.1 ${line}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${body ?? line}`;
}

const MAX_MEMOIZED = 1000;

/** `audit-id` as `Audit-Id`: people read these, and a few clients compare them with case. */
const canonicalName = boundedMemo(MAX_MEMOIZED, (name: string) =>
  name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase()),
);

/** A header that would end its line begins no other. */
const oneLine = (value: string): string => (/[\r\n]/.test(value) ? value.replace(/[\r\n]/g, ' ') : value);
