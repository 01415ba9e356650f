// Answers that are not API objects, and the JSON form of a Status for where nothing was negotiated.
import { goQuote } from '../lib/go/quote.js';
import type { HttpResponse } from '../lib/http/http.js';
import type { StatusError } from '../machinery/status.js';

/** A refusal in plain words; the text ends with a line break on the wire. */
export const plainError = (status: number, text: string, headers: Record<string, string> = {}): HttpResponse => ({
  status,
  headers: { ...headers, 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  body: `${text}\n`,
});

/** The refusal of a request the server itself could not make sense of; it must not look like HTML. */
export function internalServerError(uri: string, why: string): HttpResponse {
  return plainError(500, escapeHtml(`Internal Server Error: ${goQuote(uri)}: ${why}`));
}

export const escapeHtml = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

export function statusAsJson(error: StatusError): HttpResponse {
  const retryAfter = error.details?.retryAfterSeconds;
  return {
    status: error.code,
    headers: {
      'content-type': 'application/json',
      ...(retryAfter ? { 'retry-after': String(retryAfter) } : {}),
    },
    body: `${JSON.stringify(error.status)}\n`,
  };
}
