// AES-GCM with a key for each value, derived from a seed and 32 random bytes that are stored before it: info, nonce,
// ciphertext, tag. However much is encrypted with one seed, no key is used twice.
import crypto from 'node:crypto';
import { NONCE_BYTES, decryptGcm, encryptGcm } from '../aes-gcm.js';
import type { RandomBytes } from '../random.js';
import { type EncryptedParts, TOO_SHORT } from '../transformer.js';

export const SEED_BYTES = 32;
const INFO_BYTES = 32;

// hot: every write
export function encryptSeeded(seed: Seed, random: RandomBytes, plain: Buffer, authenticated: string): EncryptedParts {
  const head = random(INFO_BYTES + NONCE_BYTES);
  return encryptGcm(seed.derive(head.subarray(0, INFO_BYTES)), head, plain, authenticated);
}

// hot: every value read
export function decryptSeeded(seed: Seed, encrypted: Buffer, authenticated: string): Buffer {
  if (encrypted.length < INFO_BYTES) throw new Error(TOO_SHORT);
  return decryptGcm(seed.derive(encrypted.subarray(0, INFO_BYTES)), encrypted.subarray(INFO_BYTES), authenticated);
}

const HASH_BYTES = 32;
const BLOCK_BYTES = 64;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;
/** The first, and only, block of an HKDF expansion with SHA-256. */
const FIRST_BLOCK = 1;

/**
 * The expanding half of HKDF with SHA-256, for one block: HMAC(seed, info ‖ 1). Of two hashes rather than of Node's Hmac:
 * that one is an object of the runtime for each value, and collecting those costs more than hashing.
 *
 *   inner   (seed ⊕ 0x36…)  info  1        outer   (seed ⊕ 0x5c…)  hash of inner
 */
export class Seed {
  readonly #inner = Buffer.alloc(BLOCK_BYTES + INFO_BYTES + 1, INNER_PAD);
  readonly #outer = Buffer.alloc(BLOCK_BYTES + HASH_BYTES, OUTER_PAD);
  readonly #derived = Buffer.alloc(HASH_BYTES);

  constructor(seed: Buffer) {
    const key = seed.length > BLOCK_BYTES ? Buffer.from(sha256(seed), 'latin1') : seed;
    for (const [index, byte] of key.entries()) {
      this.#inner[index] = byte ^ INNER_PAD;
      this.#outer[index] = byte ^ OUTER_PAD;
    }
    this.#inner[BLOCK_BYTES + INFO_BYTES] = FIRST_BLOCK;
  }

  /** The key for the 32 bytes of `info`, in a buffer that the next call overwrites: ciphers copy it. */
  derive(info: Buffer): Buffer {
    info.copy(this.#inner, BLOCK_BYTES);
    this.#outer.write(sha256(this.#inner), BLOCK_BYTES, 'latin1');
    this.#derived.write(sha256(this.#outer), 'latin1');
    return this.#derived;
  }
}

/** At once, where Node can (from 20.12 on). As text, a character for each byte: a buffer costs more than the hash. */
const sha256: (bytes: Buffer) => string =
  typeof crypto.hash === 'function'
    ? (bytes) => crypto.hash('sha256', bytes, 'binary')
    : (bytes) => crypto.createHash('sha256').update(bytes).digest('binary');
