// What a token's header says, read as strictly as kube-apiserver reads it: what makes no sense there spoils the token, also
// where nobody needs it.
import { base64Fault } from '../../lib/text/base64-fault.js';
import { errorText } from '../../lib/text/error-text.js';
import { cannotUnmarshal } from '../../lib/go/json-kind.js';
import { goQuote } from '../../lib/go/quote.js';
import { exceeds } from '../../lib/json/bounds.js';
import { isPlainObject, ownMember } from '../../lib/values/plain-object.js';
import { CLAIM_BOUNDS, MAX_TOKEN_HEADER_LENGTH } from '../claim-bounds.js';
import { readCertificates, readJsonWebKey } from './json-web-key.js';
import { refuseRepeated } from './repeated-members.js';

export interface TokenHeader {
  readonly algorithm: string;
  /** Empty when the token names no key. */
  readonly keyId: string;
  /** It says that a reader must know more than what a token of this kind is, or that its claims are signed otherwise. */
  readonly isCritical: boolean;
}

/** Of the first part of a compact token. Throws an Error that says what is wrong with it. */
export function readTokenHeader(part: string): TokenHeader {
  if (part.length > MAX_TOKEN_HEADER_LENGTH) throw new Error('the header is too long');
  const at = base64Fault(part, { url: true, padded: false });
  if (at !== undefined) throw new Error(`illegal base64 data at input byte ${at}`);
  const header = parseHeader(Buffer.from(part, 'base64url').toString('utf8'));
  const [keyId, algorithm] = [textOf(header, 'kid', 'key ID'), textOf(header, 'alg', 'algorithm')];
  textOf(header, 'nonce', 'nonce');
  checkMember(header, 'x5c', 'x5c header', readCertificates);
  const embedded = checkMember(header, 'jwk', 'JWK', readJsonWebKey);
  if (embedded !== undefined && embedded.key === undefined) {
    throw new Error('go-jose/go-jose: invalid embedded jwk, must be public key');
  }
  const isCritical = (ownMember(header, 'crit') ?? undefined) !== undefined || ownMember(header, 'b64') === false;
  return { algorithm, keyId, isCritical };
}

type Header = Readonly<Record<string, unknown>>;

function parseHeader(text: string): Header {
  const header = exceeds(text, CLAIM_BOUNDS) ? undefined : parsed(text);
  if (header === undefined) throw new Error('the header is no JSON');
  if (!isPlainObject(header)) throw new Error(cannotUnmarshal(header, 'Go value of type jose.rawHeader'));
  refuseRepeated(text);
  return header;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const textOf = (header: Header, name: string, what: string): string =>
  checkMember(header, name, what, (value) => {
    if (typeof value !== 'string') throw new Error(cannotUnmarshal(value, 'Go value of type string'));
    return value;
  }) ?? '';

/** What is read of a member; undefined where it is missing or null. */
function checkMember<T>(header: Header, name: string, what: string, read: (value: unknown) => T): T | undefined {
  const value = ownMember(header, name) ?? undefined;
  if (value === undefined) return undefined;
  try {
    return read(value);
  } catch (error) {
    const why = `${errorText(error)}: ${goQuote(JSON.stringify(value))}`;
    throw new Error(`failed to unmarshal ${what}: ${why}`, { cause: error });
  }
}
