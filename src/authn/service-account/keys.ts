// The keys that sign and verify service-account tokens.
import { type KeyObject, X509Certificate, createHash, createPrivateKey, createPublicKey } from 'node:crypto';
import type { MaybePromise } from '../../lib/async/maybe-promise.js';
import { decodePem, type PemBlock } from '../../lib/x509/pem.js';

export interface VerifyingKey {
  readonly id: string;
  readonly key: KeyObject;
  readonly algorithm: SigningAlgorithm;
}

/** The keys of this id; all of them for the empty one. */
export type VerifyingKeys = (id: string) => MaybePromise<readonly VerifyingKey[]>;

/** Keys that do not change. */
export function fixedKeys(keys: readonly VerifyingKey[]): VerifyingKeys {
  return (id) => (id === '' ? keys : keys.filter((key) => key.id === id));
}

export interface SigningKey extends VerifyingKey {
  readonly privateKey: KeyObject;
}

export type SigningAlgorithm = 'RS256' | 'ES256' | 'ES384' | 'ES512';

/** Every public key in a file; private keys and certificates give their public half. Other blocks are passed over. */
export function parseVerifyingKeys(pem: string): VerifyingKey[] {
  const keys = decodePem(pem).flatMap((block) => verifyingKeyOf(readPublicKey(block)) ?? []);
  if (keys.length === 0) throw new Error('data does not contain any valid RSA or ECDSA public keys');
  return keys;
}

/** The first private key in a file. */
export function parseSigningKey(pem: string): SigningKey {
  for (const block of decodePem(pem)) {
    const privateKey = readPrivateKey(block);
    const key = verifyingKeyOf(privateKey === undefined ? undefined : createPublicKey(privateKey));
    if (privateKey !== undefined && key !== undefined) return { ...key, privateKey };
  }
  throw new Error('data does not contain a valid RSA or ECDSA private key');
}

/** Derived from the key, but the key cannot be had from it. */
const keyIdOf = (key: KeyObject): string =>
  createHash('sha256')
    .update(key.export({ format: 'der', type: 'spki' }))
    .digest('base64url');

function verifyingKeyOf(key: KeyObject | undefined): VerifyingKey | undefined {
  const algorithm = key === undefined ? undefined : algorithmOf(key);
  return key === undefined || algorithm === undefined ? undefined : { id: keyIdOf(key), key, algorithm };
}

export function algorithmOf(key: KeyObject): SigningAlgorithm | undefined {
  if (key.asymmetricKeyType === 'rsa') return 'RS256';
  if (key.asymmetricKeyType !== 'ec') return undefined;
  return CURVE_ALGORITHMS[key.asymmetricKeyDetails?.namedCurve ?? ''];
}

const CURVE_ALGORITHMS: Readonly<Record<string, SigningAlgorithm | undefined>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

const PRIVATE_FORMATS: Readonly<Record<string, 'pkcs1' | 'pkcs8' | 'sec1' | undefined>> = {
  'RSA PRIVATE KEY': 'pkcs1',
  'EC PRIVATE KEY': 'sec1',
  'PRIVATE KEY': 'pkcs8',
};

function readPrivateKey({ type, bytes }: PemBlock): KeyObject | undefined {
  const format = PRIVATE_FORMATS[type];
  if (format === undefined) return undefined;
  return attempt(() => createPrivateKey({ key: bytes, format: 'der', type: format }));
}

function readPublicKey(block: PemBlock): KeyObject | undefined {
  const privateKey = readPrivateKey(block);
  if (privateKey !== undefined) return createPublicKey(privateKey);
  return (
    attempt(() => createPublicKey({ key: block.bytes, format: 'der', type: 'spki' })) ??
    attempt(() => new X509Certificate(block.bytes).publicKey)
  );
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
