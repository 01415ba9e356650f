// Fetches documents of an issuer over HTTP: small ones, within a time and a size.
import { errorText } from '../../lib/text/error-text.js';
import { cannotUnmarshal } from '../../lib/go/json-kind.js';
import { parseExactJson } from '../../schema/json/parse.js';

/** Fetches a document. Throws when there is no answer, with a text that says why. */
export type FetchDocument = (url: string, headers?: Readonly<Record<string, string>>) => Promise<IssuerDocument>;

export interface IssuerDocument {
  readonly status: number;
  /** `404 Not Found` */
  readonly statusLine: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** The largest document that is read from an issuer. */
export const MAX_DOCUMENT_BYTES = 1024 * 1024;
export const ISSUER_TIMEOUT_MS = 30_000;

/** What `read` makes of a document's JSON, or why it is none; `read` throws what it has against it. */
export function readDocument<T>(
  { headers, body }: IssuerDocument,
  read: (json: unknown) => T,
): { readonly value: T } | { readonly error: string } {
  try {
    return { value: read(parseExactJson(body).value) };
  } catch (error) {
    const why = errorText(error);
    const type = headers['content-type'] ?? '';
    if (mediaTypeOf(type) === 'application/json') {
      return { error: `got Content-Type = application/json, but could not unmarshal as JSON: ${why}` };
    }
    return { error: `expected Content-Type = application/json, got ${JSON.stringify(type)}: ${why}` };
  }
}

/** What a document holds where something else belongs, as `read` may throw it. */
export const wrongType = (value: unknown, type: string): Error => new Error(cannotUnmarshal(value, `Go ${type}`));

const mediaTypeOf = (contentType: string): string => contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
