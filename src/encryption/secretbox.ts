// XSalsa20 and Poly1305: nonce (24 bytes), tag (16 bytes), ciphertext. Bound to nothing.
import type { RandomBytes } from './random.js';
import { type Encrypter, TOO_SHORT } from './transformer.js';

const NONCE_BYTES = 24;
const TAG_BYTES = 16;

/** The cipher comes from a library, which is loaded only for servers that use it. */
export async function secretbox(key: Buffer, random: RandomBytes): Promise<Encrypter> {
  const { xsalsa20poly1305 } = await import('@noble/ciphers/salsa.js');
  return {
    encrypt(plain) {
      const nonce = random(NONCE_BYTES);
      return [nonce, bufferOf(xsalsa20poly1305(key, nonce).encrypt(plain))];
    },
    decrypt(encrypted) {
      if (encrypted.length < NONCE_BYTES + TAG_BYTES) throw new Error(TOO_SHORT);
      const box = xsalsa20poly1305(key, encrypted.subarray(0, NONCE_BYTES));
      return { plain: decryptBox(() => box.decrypt(encrypted.subarray(NONCE_BYTES))), stale: false };
    },
  };
}

function decryptBox(decrypt: () => Uint8Array): Buffer {
  try {
    return bufferOf(decrypt());
  } catch {
    // kube-apiserver's words for a tag that does not fit.
    throw new Error('output array was not large enough for encryption');
  }
}

const bufferOf = ({ buffer, byteOffset, length }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, length);
