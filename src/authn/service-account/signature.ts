// Opens a compact JWT: whose is it said to be, and is it signed by one of our keys?
import { compactVerify, errors } from 'jose';
import { exceeds } from '../../lib/json-bounds.js';
import { JsonSyntaxError, parseExactJson } from '../../schema/json/parse.js';
import { AuthenticationError } from '../authenticator.js';
import { CLAIM_BOUNDS } from '../claim-bounds.js';
import type { VerifyingKey, VerifyingKeys } from './keys.js';

type Json = Readonly<Record<string, unknown>>;

/** The unverified issuer, to tell whose token this is; undefined when it is no JWT. Trust nothing else in it. */
export function claimedIssuer(token: string): string | undefined {
  const parts = token.split('.');
  if (parts.length !== 3 || token.trimStart().startsWith('{')) return undefined;
  const issuer = decodeJson(parts[1] ?? '')?.['iss'];
  return typeof issuer === 'string' ? issuer : undefined;
}

/** The payload, verified by the key that the token names, or by any key when it names none. */
export async function verifiedPayload(token: string, keys: VerifyingKeys): Promise<Json | undefined> {
  const header = decodeJson(token.split('.')[0] ?? '');
  if (header === undefined) return undefined;
  const kid = header['kid'];
  const candidates = await keys(typeof kid === 'string' ? kid : '');
  if (candidates.length === 0) throw new AuthenticationError('invalid signature, no keys found');
  for (const { key, algorithm } of candidates) {
    try {
      const { payload } = await compactVerify(token, key, { algorithms: ALGORITHMS[algorithm] });
      const text = Buffer.from(payload).toString('utf8');
      const claims = parseObject(text);
      if (claims === undefined) throw new AuthenticationError('token payload is not a JSON object');
      refuseRepeated(text);
      return claims;
    } catch (error) {
      // Everything jose refuses is a refused token; a key it cannot use at all throws a TypeError.
      // Claims nested too deeply are none.
      const refused = error instanceof errors.JOSEError || error instanceof JsonSyntaxError;
      if (!refused && !(error instanceof TypeError)) throw error;
    }
  }
  throw new AuthenticationError('go-jose/go-jose: error in cryptographic primitive');
}

/** Which of two claims of one name is believed would depend on who reads them. */
function refuseRepeated(text: string): void {
  for (const members of parseExactJson(text).repeated.values()) {
    const seen = new Set<string>();
    for (const [key] of members) {
      if (seen.has(key)) throw new AuthenticationError(`json: duplicate key '${key}' in object`);
      seen.add(key);
    }
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
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}
