// The parts of a compact JWT, before anything in it is believed.
import { goQuote } from '../../lib/go-quote.js';
import { goJsonKind } from '../../lib/go-json-kind.js';
import { exceeds } from '../../lib/json-bounds.js';
import { isPlainObject, ownMember } from '../../lib/plain-object.js';
import { AuthenticationError } from '../authenticator.js';
import { CLAIM_BOUNDS } from '../claim-bounds.js';

export type Claims = Readonly<Record<string, unknown>>;

export interface CompactToken {
  readonly text: string;
  readonly algorithm: string;
  /** Empty when the token names no key. */
  readonly keyId: string;
  readonly claims: Claims;
}

const GOOGLE = 'accounts.google.com';

/** The issuer a token says it is from, to find who may judge it; an error when it is no JWT. Trust nothing in it. */
export function readIssuer(
  token: string,
): { readonly issuer: string; readonly error?: undefined } | { readonly issuer?: undefined; readonly error: string } {
  if (token.trimStart().startsWith('{')) return { error: 'token is not compact JWT' };
  const parts = token.split('.', 4);
  if (parts.length !== 3) return { error: 'malformed token' };
  const claims = decodeObject(parts[1] ?? '');
  if (claims === undefined) return { error: 'error decoding token' };
  const issuer = ownMember(claims, 'iss') ?? '';
  if (typeof issuer !== 'string') return { error: `while unmarshaling token: ${wrongType(issuer, 'iss')}` };
  // Google's own tokens may name it without the scheme.
  return { issuer: issuer === GOOGLE ? `https://${GOOGLE}` : issuer };
}

export function parseCompactToken(text: string): CompactToken {
  const [head = '', body = '', signature = ''] = text.split('.', 3);
  const header = decodeObject(head);
  if (header === undefined) throw new AuthenticationError('oidc: malformed jwt: the header is no JSON object');
  if (!isBase64Url(signature)) throw new AuthenticationError('oidc: malformed jwt: illegal base64 data');
  // It says that a reader must know what none of ours does.
  if (ownMember(header, 'crit') !== undefined) throw new AuthenticationError('oidc: malformed jwt: critical headers');
  const claims = decodeObject(body);
  if (claims === undefined) throw new AuthenticationError('oidc: failed to unmarshal claims: not a JSON object');
  const kid = ownMember(header, 'kid');
  const alg = ownMember(header, 'alg');
  return {
    text,
    algorithm: typeof alg === 'string' ? alg : '',
    keyId: typeof kid === 'string' ? kid : '',
    claims,
  };
}

const wrongType = (value: unknown, field: string): string =>
  `json: cannot unmarshal ${goJsonKind(value)} into Go struct field .${field} of type string`;

function decodeObject(base64url: string): Record<string, unknown> | undefined {
  if (!isBase64Url(base64url)) return undefined;
  const text = Buffer.from(base64url, 'base64url').toString('utf8');
  if (exceeds(text, CLAIM_BOUNDS)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isBase64Url = (text: string): boolean => text.length % 4 !== 1 && /^[A-Za-z0-9_-]*$/.test(text);

/** `["a" "b"]`, as Go prints a list of texts. */
export const goList = (texts: readonly string[]): string => `[${texts.map(goQuote).join(' ')}]`;
