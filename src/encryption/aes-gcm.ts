// AES-GCM, bound to the place in the store: nonce (12 bytes), ciphertext, tag (16 bytes).
import crypto, { type CipherGCMTypes } from 'node:crypto';
import type { RandomBytes } from './random.js';
import { type EncryptedParts, type Encrypter, TOO_SHORT } from './transformer.js';

export const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NOT_AUTHENTIC = 'cipher: message authentication failed';

export function aesGcm(key: Buffer, random: RandomBytes): Encrypter {
  return {
    encrypt: (plain, place) => encryptGcm(key, random(NONCE_BYTES), plain, place.key),
    decrypt: (encrypted, place) => ({ plain: decryptGcm(key, encrypted, place.key), stale: false }),
  };
}

// hot: every write
/** `head` ends with the nonce, and goes before what is encrypted. */
export function encryptGcm(key: Buffer, head: Buffer, plain: Buffer, authenticated: string): EncryptedParts {
  const cipher = crypto.createCipheriv(algorithm(key), key, head.subarray(-NONCE_BYTES));
  cipher.setAAD(Buffer.from(authenticated));
  const body = cipher.update(plain);
  cipher.final();
  return [head, body, cipher.getAuthTag()];
}

// hot: every value read
export function decryptGcm(key: Buffer, encrypted: Buffer, authenticated: string): Buffer {
  if (encrypted.length < NONCE_BYTES) throw new Error(TOO_SHORT);
  if (encrypted.length < NONCE_BYTES + TAG_BYTES) throw new Error(NOT_AUTHENTIC);
  const end = encrypted.length - TAG_BYTES;
  const decipher = crypto.createDecipheriv(algorithm(key), key, encrypted.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(authenticated));
  decipher.setAuthTag(encrypted.subarray(end));
  const plain = decipher.update(encrypted.subarray(NONCE_BYTES, end));
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
