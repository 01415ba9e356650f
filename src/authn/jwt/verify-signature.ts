// Signatures of JWTs by node:crypto: at once and on this thread, which for one signature is quicker than a round through
// the thread pool (docs/decisions/0012-identity.md).
import { type KeyObject, constants, verify } from 'node:crypto';

interface Algorithm {
  readonly hash: 'sha256' | 'sha384' | 'sha512';
  readonly keyType: 'rsa' | 'ec';
  readonly curve?: string;
  readonly options: { readonly padding?: number; readonly saltLength?: number; readonly dsaEncoding?: 'ieee-p1363' };
}

const HASHES = { 256: 'sha256', 384: 'sha384', 512: 'sha512' } as const;
const CURVES = { 256: 'prime256v1', 384: 'secp384r1', 512: 'secp521r1' } as const;

const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map(
  ([256, 384, 512] as const).flatMap((size): [string, Algorithm][] => {
    const hash = HASHES[size];
    return [
      [`RS${size}`, { hash, keyType: 'rsa', options: { padding: constants.RSA_PKCS1_PADDING } }],
      // kube-apiserver accepts a salt of any length.
      [
        `PS${size}`,
        {
          hash,
          keyType: 'rsa',
          options: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO },
        },
      ],
      [`ES${size}`, { hash, keyType: 'ec', curve: CURVES[size], options: { dsaEncoding: 'ieee-p1363' } }],
    ];
  }),
);

/** In the order of their names. */
export const SIGNING_ALGORITHMS: readonly string[] = [...ALGORITHMS.keys()].toSorted();

// hot: every token that is not cached.
/** `token`: three parts, the last of them base64url. A key of another sort than the algorithm's has not signed it. */
export function isSignedBy(token: string, algorithm: string, key: KeyObject): boolean {
  const known = ALGORITHMS.get(algorithm);
  if (known === undefined || key.asymmetricKeyType !== known.keyType) return false;
  if (known.curve !== undefined && key.asymmetricKeyDetails?.namedCurve !== known.curve) return false;
  const end = token.lastIndexOf('.');
  const signature = Buffer.from(token.slice(end + 1), 'base64url');
  return verify(known.hash, Buffer.from(token.slice(0, end), 'latin1'), { key, ...known.options }, signature);
}
