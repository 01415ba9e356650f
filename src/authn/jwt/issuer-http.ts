// What is asked of an issuer over HTTP: small documents, within a time and a size.
import { errorText } from '../../lib/error-text.js';
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

/** The JSON of a document, or why it is none. */
export function parseDocument({
  headers,
  body,
}: IssuerDocument): { readonly json: unknown } | { readonly error: string } {
  try {
    return { json: parseExactJson(body).value };
  } catch (error) {
    const why = errorText(error);
    const type = headers['content-type'] ?? '';
    if (mediaTypeOf(type) === 'application/json') {
      return { error: `got Content-Type = application/json, but could not unmarshal as JSON: ${why}` };
    }
    return { error: `expected Content-Type = application/json, got ${JSON.stringify(type)}: ${why}` };
  }
}

const mediaTypeOf = (contentType: string): string => contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
