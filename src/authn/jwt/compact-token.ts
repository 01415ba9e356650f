// The parts of a compact JWT, before anything in it is believed.
import { base64Fault } from '../../lib/text/base64-fault.js';
import { errorText } from '../../lib/text/error-text.js';
import { goQuote } from '../../lib/go/quote.js';
import { cannotUnmarshal } from '../../lib/go/json-kind.js';
import { exceeds } from '../../lib/json/bounds.js';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { AuthenticationError } from '../authenticator.js';
import { CLAIM_BOUNDS, MAX_TOKEN_LENGTH } from '../claim-bounds.js';
import { foldedMember } from './folded-member.js';
import { readTokenHeader, type TokenHeader } from './token-header.js';

export type Claims = Readonly<Record<string, unknown>>;

export interface CompactToken extends TokenHeader {
  readonly text: string;
  readonly claims: Claims;
}

const GOOGLE = 'accounts.google.com';

/** The issuer a token says it is from, to find who may judge it; an error when it is no JWT. Trust nothing in it. */
export function readIssuer(
  token: string,
): { readonly issuer: string; readonly error?: undefined } | { readonly issuer?: undefined; readonly error: string } {
  if (token.length > MAX_TOKEN_LENGTH) return { error: 'malformed token' };
  if (token.trimStart().startsWith('{')) return { error: 'token is not compact JWT' };
  const parts = token.split('.', 4);
  if (parts.length !== 3) return { error: 'malformed token' };
  const [, body = ''] = parts;
  const claims = base64Fault(body, { url: true, padded: false }) === undefined ? decodeJson(body) : undefined;
  if (!isPlainObject(claims)) return { error: 'error decoding token' };
  const issuer = foldedMember(claims, 'iss') ?? '';
  if (typeof issuer !== 'string') return { error: `while unmarshaling token: ${wrongType(issuer, 'iss')}` };
  // Google's own tokens may name it without the scheme.
  return { issuer: issuer === GOOGLE ? `https://${GOOGLE}` : issuer };
}

export function parseCompactToken(text: string): CompactToken {
  const [head = '', body = '', signature = ''] = text.split('.', 3);
  for (const part of [head, body, signature]) {
    const at = base64Fault(part, { url: true, padded: false });
    if (at !== undefined) throw new AuthenticationError(`oidc: malformed jwt: illegal base64 data at input byte ${at}`);
  }
  const header = headerOf(head);
  const claims = decodeJson(body);
  if (!isPlainObject(claims)) throw new AuthenticationError('oidc: failed to unmarshal claims: not a JSON object');
  return { ...header, text, claims };
}

function headerOf(part: string): TokenHeader {
  try {
    return readTokenHeader(part);
  } catch (error) {
    throw new AuthenticationError(`oidc: malformed jwt: ${errorText(error)}`);
  }
}

const wrongType = (value: unknown, field: string): string =>
  cannotUnmarshal(value, `Go struct field .${field} of type string`);

/** Undefined for what is no JSON, or more of it than a token has. */
function decodeJson(base64url: string): unknown {
  const text = Buffer.from(base64url, 'base64url').toString('utf8');
  if (exceeds(text, CLAIM_BOUNDS)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** `["a" "b"]`, as Go formats a list of texts. */
export const goList = (texts: readonly string[]): string => `[${texts.map(goQuote).join(' ')}]`;
