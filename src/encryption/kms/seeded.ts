// AES-GCM with a key for each value, derived from a seed and 32 random bytes that are stored before it: info, nonce,
// ciphertext, tag. However much is sealed with one seed, no key is used twice.
import crypto from 'node:crypto';
import { openGcm, sealGcm } from '../aes-gcm.js';
import type { RandomBytes } from '../random.js';
import { TOO_SHORT } from '../transformer.js';

export const SEED_BYTES = 32;
const INFO_BYTES = 32;
const NONCE_BYTES = 12;
/** The first, and only, block of an HKDF expansion with SHA-256. */
const FIRST_BLOCK = Buffer.of(1);

// hot: every write
export function sealSeeded(seed: Buffer, random: RandomBytes, plain: Buffer, authenticated: string): Buffer {
  const bytes = random(INFO_BYTES + NONCE_BYTES);
  const info = bytes.subarray(0, INFO_BYTES);
  return Buffer.concat([info, sealGcm(derive(seed, info), bytes.subarray(INFO_BYTES), plain, authenticated)]);
}

// hot: every value read
export function openSeeded(seed: Buffer, sealed: Buffer, authenticated: string): Buffer {
  if (sealed.length < INFO_BYTES) throw new Error(TOO_SHORT);
  return openGcm(derive(seed, sealed.subarray(0, INFO_BYTES)), sealed.subarray(INFO_BYTES), authenticated);
}

const derive = (seed: Buffer, info: Buffer): Buffer =>
  crypto.createHmac('sha256', seed).update(info).update(FIRST_BLOCK).digest();
