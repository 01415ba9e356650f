// AES-GCM, bound to the place in the store: nonce (12 bytes), ciphertext, tag (16 bytes).
import crypto, { type CipherGCMTypes } from 'node:crypto';
import type { RandomBytes } from './random.js';
import { type SealedParts, type Sealer, TOO_SHORT } from './transformer.js';

export const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NOT_AUTHENTIC = 'cipher: message authentication failed';

export function aesGcm(key: Buffer, random: RandomBytes): Sealer {
  return {
    seal: (plain, place) => sealGcm(key, random(NONCE_BYTES), plain, place.key),
    open: (sealed, place) => ({ plain: openGcm(key, sealed, place.key), stale: false }),
  };
}

// hot: every write
/** `head` ends with the nonce, and goes before what is sealed. */
export function sealGcm(key: Buffer, head: Buffer, plain: Buffer, authenticated: string): SealedParts {
  const cipher = crypto.createCipheriv(algorithm(key), key, head.subarray(-NONCE_BYTES));
  cipher.setAAD(Buffer.from(authenticated));
  const body = cipher.update(plain);
  cipher.final();
  return [head, body, cipher.getAuthTag()];
}

// hot: every value read
export function openGcm(key: Buffer, sealed: Buffer, authenticated: string): Buffer {
  if (sealed.length < NONCE_BYTES) throw new Error(TOO_SHORT);
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new Error(NOT_AUTHENTIC);
  const end = sealed.length - TAG_BYTES;
  const decipher = crypto.createDecipheriv(algorithm(key), key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(authenticated));
  decipher.setAuthTag(sealed.subarray(end));
  const plain = decipher.update(sealed.subarray(NONCE_BYTES, end));
  try {
    decipher.final();
  } catch {
    throw new Error(NOT_AUTHENTIC);
  }
  return plain;
}

const algorithm = (key: Buffer): CipherGCMTypes => {
  switch (key.length) {
    case 16:
      return 'aes-128-gcm';
    case 24:
      return 'aes-192-gcm';
    case 32:
      return 'aes-256-gcm';
    default:
      throw new Error(`crypto/aes: invalid key size ${key.length}`);
  }
};
