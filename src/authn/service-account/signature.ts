// Opens a compact JWT: whose is it said to be, and is it signed by one of our keys?
import { compactVerify, errors } from 'jose';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { errorText } from '../../lib/text/error-text.js';
import { exceeds } from '../../lib/json/bounds.js';
import { AuthenticationError } from '../authenticator.js';
import { CLAIM_BOUNDS, MAX_TOKEN_LENGTH } from '../claim-bounds.js';
import { refuseRepeated } from '../jwt/repeated-members.js';
import { readTokenHeader, type TokenHeader } from '../jwt/token-header.js';
import type { VerifyingKey, VerifyingKeys } from './keys.js';

type Json = Readonly<Record<string, unknown>>;

/** The unverified issuer, to select the authenticator; undefined when it is no JWT. Trust nothing else in it. */
export function claimedIssuer(token: string): string | undefined {
  if (token.length > MAX_TOKEN_LENGTH) return undefined;
  const parts = token.split('.', 4);
  if (parts.length !== 3 || token.trimStart().startsWith('{')) return undefined;
  const issuer = decodeJson(parts[1] ?? '')?.['iss'];
  return typeof issuer === 'string' ? issuer : undefined;
}

/** The payload, verified by the key that the token names, or by any key when it names none. */
export async function verifiedPayload(token: string, keys: VerifyingKeys): Promise<Json | undefined> {
  const header = headerOf(token.split('.')[0] ?? '');
  if (header === undefined) return undefined;
  const candidates = await keys(header.keyId);
  if (candidates.length === 0) throw new AuthenticationError('invalid signature, no keys found');
  for (const { key, algorithm } of header.isCritical ? [] : candidates) {
    try {
      const { payload } = await compactVerify(token, key, { algorithms: ALGORITHMS[algorithm] });
      const text = Buffer.from(payload).toString('utf8');
      const claims = parseObject(text);
      if (claims === undefined) throw new AuthenticationError('token payload is not a JSON object');
      refuseRepeatedClaims(text);
      return claims;
    } catch (error) {
      // Everything jose refuses is a refused token; a key it cannot use at all throws a TypeError.
      if (!(error instanceof errors.JOSEError) && !(error instanceof TypeError)) throw error;
    }
  }
  throw new AuthenticationError('go-jose/go-jose: error in cryptographic primitive');
}

/** Undefined where it makes no sense: then it is nobody's token. */
function headerOf(part: string): TokenHeader | undefined {
  try {
    return readTokenHeader(part);
  } catch {
    return undefined;
  }
}

function refuseRepeatedClaims(text: string): void {
  try {
    refuseRepeated(text);
  } catch (error) {
    throw new AuthenticationError(errorText(error));
  }
}

const RSA_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
const ALGORITHMS: Readonly<Record<VerifyingKey['algorithm'], string[]>> = {
  RS256: RSA_ALGORITHMS,
  ES256: ['ES256'],
  ES384: ['ES384'],
  ES512: ['ES512'],
};

function decodeJson(base64url: string): Json | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(base64url)) return undefined;
  return parseObject(Buffer.from(base64url, 'base64url').toString('utf8'));
}

function parseObject(text: string): Json | undefined {
  if (exceeds(text, CLAIM_BOUNDS)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
