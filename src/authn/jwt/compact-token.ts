// The parts of a compact JWT, before anything in it is believed.
import { base64Fault } from '../../lib/base64-fault.js';
import { goQuote } from '../../lib/go-quote.js';
import { cannotUnmarshal } from '../../lib/go-json-kind.js';
import { exceeds } from '../../lib/json-bounds.js';
import { isPlainObject, ownMember } from '../../lib/plain-object.js';
import { AuthenticationError } from '../authenticator.js';
import { CLAIM_BOUNDS } from '../claim-bounds.js';
import { foldedMember } from './folded-member.js';

export type Claims = Readonly<Record<string, unknown>>;

export interface CompactToken {
  readonly text: string;
  readonly algorithm: string;
  /** Empty when the token names no key. */
  readonly keyId: string;
  /** It says that a reader must know more than what a token of this kind is. */
  readonly isCritical: boolean;
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
  const header = decodeJson(head);
  if (!isPlainObject(header)) {
    const why = header === undefined ? 'the header is no JSON' : wrongHeader(header);
    throw new AuthenticationError(`oidc: malformed jwt: ${why}`);
  }
  const claims = decodeJson(body);
  if (!isPlainObject(claims)) throw new AuthenticationError('oidc: failed to unmarshal claims: not a JSON object');
  const kid = ownMember(header, 'kid');
  const alg = ownMember(header, 'alg');
  return {
    text,
    algorithm: typeof alg === 'string' ? alg : '',
    keyId: typeof kid === 'string' ? kid : '',
    isCritical: ownMember(header, 'crit') !== undefined,
    claims,
  };
}

const wrongHeader = (value: unknown): string => cannotUnmarshal(value, 'Go value of type jose.rawHeader');

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

/** `["a" "b"]`, as Go prints a list of texts. */
export const goList = (texts: readonly string[]): string => `[${texts.map(goQuote).join(' ')}]`;
