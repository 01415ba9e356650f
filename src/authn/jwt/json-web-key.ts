// A key of an issuer's set. One that makes no sense spoils its whole set, in kube-apiserver's words: who publishes such a
// set is reported, and no key of it is trusted.
import { createHash, createPublicKey, type JsonWebKey, type KeyObject, X509Certificate } from 'node:crypto';
import { base64Fault } from '../../lib/text/base64-fault.js';
import { parseCertificate } from '../../lib/x509/certificate.js';
import { errorText } from '../../lib/text/error-text.js';
import { isPlainObject, ownMember } from '../../lib/values/plain-object.js';
import { wrongType } from './issuer-http.js';

export interface IssuerKey {
  /** Empty for a key without one. */
  readonly id: string;
  /** Undefined for keys that no token can be signed by: secrets, private ones, those of other sorts. */
  readonly key: KeyObject | undefined;
}

/** Throws an Error that says what is wrong with it. */
export function readJsonWebKey(value: unknown): IssuerKey {
  if (value !== null && !isPlainObject(value)) throw notA(value, 'jose.rawJSONWebKey');
  const jwk = value ?? {};
  const [kty, kid, x5t, x5t256] = ['kty', 'kid', 'x5t', 'x5t#S256'].map((name) => textOf(jwk, name));
  for (const name of ['use', 'alg', 'crv']) textOf(jwk, name);
  const numbers = new Map(NUMBERS.map((name) => [name, numberOf(jwk, name)]));
  const location = ownMember(jwk, 'x5u') ?? {};
  if (!isPlainObject(location)) throw notA(location, 'url.URL');
  const chain = readChain(ownMember(jwk, 'x5c') ?? []);
  if (kty === 'oct' && chain.length > 0) throw invalid("found 'oct' (symmetric) key with cert chain");
  const key = keyOf(kty ?? '', textOf(jwk, 'crv'), numbers);
  const [leaf] = chain;
  if (leaf !== undefined && key !== undefined && !isKeyOf(leaf, key)) {
    throw invalid('public keys in key and x5c fields to not match');
  }
  checkThumbprint('x5t', 'sha1', x5t ?? '', leaf);
  checkThumbprint('x5t#S256', 'sha256', x5t256 ?? '', leaf);
  return { id: kid ?? '', key: numbers.get('d') === undefined ? key : undefined };
}

const NUMBERS = ['k', 'x', 'y', 'n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi'] as const;

type Numbers = ReadonlyMap<(typeof NUMBERS)[number], Buffer | undefined>;

const notA = (value: unknown, type: string): Error => wrongType(value, `value of type ${type}`);
const fault = (why: string): Error => new Error(`go-jose/go-jose: ${why}`);
const invalid = (why: string): Error => fault(`invalid JWK, ${why}`);

function textOf(jwk: Readonly<Record<string, unknown>>, name: string): string {
  const value = ownMember(jwk, name) ?? '';
  if (typeof value !== 'string') throw notA(value, 'string');
  return value;
}

function numberOf(jwk: Readonly<Record<string, unknown>>, name: string): Buffer | undefined {
  const value = ownMember(jwk, name) ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw notA(value, 'string');
  return decoded(value, 'base64url');
}

function decoded(text: string, form: 'base64' | 'base64url'): Buffer {
  const url = form === 'base64url';
  const at = base64Fault(text, { url, padded: !url });
  if (at !== undefined) throw new Error(`illegal base64 data at input byte ${at}`);
  return Buffer.from(text, form);
}

/** A chain has a few certificates, and each is looked at. */
const MAX_CHAIN = 20;

function readChain(list: unknown): X509Certificate[] {
  const texts = textsOf(list);
  try {
    return certificatesOf(texts);
  } catch (error) {
    throw fault(`failed to unmarshal x5c field: ${errorText(error)}`);
  }
}

/** The certificates that a key or a token brings along. Throws an Error that says what is wrong with them. */
export const readCertificates = (list: unknown): X509Certificate[] => certificatesOf(textsOf(list));

function textsOf(list: unknown): string[] {
  if (!Array.isArray(list)) throw notA(list, '[]string');
  return list.map((text: unknown) => {
    if (typeof text !== 'string') throw notA(text, 'string');
    return text;
  });
}

function certificatesOf(texts: readonly string[]): X509Certificate[] {
  if (texts.length > MAX_CHAIN) throw new Error(`more than ${MAX_CHAIN} certificates`);
  return texts.map((text) => certificateOf(decoded(text, 'base64')));
}

function certificateOf(bytes: Buffer): X509Certificate {
  try {
    return parseCertificate(bytes).x509;
  } catch {
    throw new Error('x509: malformed certificate');
  }
}

const isKeyOf = (certificate: X509Certificate, key: KeyObject): boolean => certificate.publicKey.equals(key);

function keyOf(kty: string, crv: string, numbers: Numbers): KeyObject | undefined {
  switch (kty) {
    case 'RSA':
      return rsaKey(numbers);
    case 'EC':
      return ecKey(crv, numbers);
    case 'oct':
      if (numbers.get('k') === undefined) throw fault('invalid OCT (symmetric) key, missing k value');
      return undefined;
    case 'OKP':
      if (crv !== 'Ed25519' || numbers.get('x') === undefined) throw fault(`unknown curve ${crv}'`);
      return undefined;
    default:
      throw fault(`unknown json web key type '${kty}'`);
  }
}

function rsaKey(numbers: Numbers): KeyObject | undefined {
  const [n, e] = [numbers.get('n'), numbers.get('e')];
  if (numbers.get('d') !== undefined) {
    const missing = (['n', 'e', 'p', 'q'] as const).find((name) => numbers.get(name) === undefined);
    if (missing !== undefined) throw fault(`invalid RSA private key, missing ${missing.toUpperCase()} value(s)`);
  }
  if (n === undefined || e === undefined) throw fault('invalid RSA key, missing n/e values');
  return imported({ kty: 'RSA', n: n.toString('base64url'), e: e.toString('base64url') });
}

const COORDINATE_BYTES: ReadonlyMap<string, number> = new Map([
  ['P-256', 32],
  ['P-384', 48],
  ['P-521', 66],
]);

function ecKey(crv: string, numbers: Numbers): KeyObject {
  const bytes = COORDINATE_BYTES.get(crv);
  if (bytes === undefined) throw fault(`unsupported elliptic curve '${crv}'`);
  const [x, y, d] = [numbers.get('x'), numbers.get('y'), numbers.get('d')];
  const sort = d === undefined ? 'public' : 'private';
  if (x === undefined || y === undefined) {
    throw fault(
      d === undefined ? 'invalid EC key, missing x/y values' : 'invalid EC private key, missing x/y/d values',
    );
  }
  for (const [name, number] of Object.entries({ x, y, ...(d && { d }) })) {
    if (number.length !== bytes) throw fault(`invalid EC ${sort} key, wrong length for ${name}`);
  }
  const key = imported({ kty: 'EC', crv, x: x.toString('base64url'), y: y.toString('base64url') });
  if (key === undefined) throw fault('invalid EC key, X/Y are not on declared curve');
  return key;
}

function imported(key: JsonWebKey): KeyObject | undefined {
  try {
    return createPublicKey({ key, format: 'jwk' });
  } catch {
    return undefined;
  }
}

/** In bytes, or as the digits that some write them in. */
function checkThumbprint(name: string, hash: 'sha1' | 'sha256', text: string, leaf: X509Certificate | undefined): void {
  if (text === '') return;
  if (base64Fault(text, { url: true, padded: false }) !== undefined) {
    throw invalid(`${name} header has invalid encoding`);
  }
  const bytes = hash === 'sha1' ? 20 : 32;
  let thumbprint = Buffer.from(text, 'base64url');
  if (thumbprint.length === 2 * bytes) {
    const digits = thumbprint.toString('latin1');
    if (!/^[0-9a-fA-F]*$/.test(digits)) throw invalid(`unable to hex decode ${name}: it has other characters`);
    thumbprint = Buffer.from(digits, 'hex');
  }
  if (thumbprint.length > 0 && thumbprint.length !== bytes) throw invalid(`${name} header is of incorrect size`);
  if (leaf !== undefined && thumbprint.length > 0 && !thumbprint.equals(createHash(hash).update(leaf.raw).digest())) {
    throw invalid(`x5c thumbprint does not match ${name} value`);
  }
}
