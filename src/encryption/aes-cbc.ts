// AES-CBC with PKCS#7 padding: initialization vector (16 bytes), whole blocks. It vouches for nothing and binds to
// nothing: a copy under another name decrypts, and a wrong key is noticed by the padding, most of the time.
import crypto from 'node:crypto';
import type { RandomBytes } from './random.js';
import { type Encrypter, TOO_SHORT } from './transformer.js';

const BLOCK_BYTES = 16;

export function aesCbc(key: Buffer, random: RandomBytes): Encrypter {
  return {
    encrypt(plain) {
      const vector = random(BLOCK_BYTES);
      const cipher = crypto.createCipheriv(algorithm(key), key, vector);
      return [vector, cipher.update(plain), cipher.final()];
    },
    decrypt: (encrypted) => ({ plain: decryptCbc(key, encrypted), stale: false, unproven: true }),
  };
}

export function decryptCbc(key: Buffer, encrypted: Buffer): Buffer {
  if (encrypted.length < BLOCK_BYTES) throw new Error(TOO_SHORT);
  if (encrypted.length % BLOCK_BYTES !== 0) throw new Error('the stored data is not a multiple of the block size');
  const decipher = crypto.createDecipheriv(algorithm(key), key, encrypted.subarray(0, BLOCK_BYTES));
  // The padding is checked here, for kube-apiserver's error texts.
  decipher.setAutoPadding(false);
  const padded = Buffer.concat([decipher.update(encrypted.subarray(BLOCK_BYTES)), decipher.final()]);
  return withoutPadding(padded);
}

function withoutPadding(padded: Buffer): Buffer {
  const count = padded[padded.length - 1] ?? 0;
  if (count === 0 || count > padded.length) throw new Error('invalid PKCS7 data (empty or not padded)');
  for (let at = padded.length - count; at < padded.length; at++) {
    if (padded[at] !== count) throw new Error('invalid padding on input');
  }
  return padded.subarray(0, padded.length - count);
}

const algorithm = (key: Buffer): string => `aes-${key.length * 8}-cbc`;
