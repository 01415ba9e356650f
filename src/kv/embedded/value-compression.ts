// Values lie compressed in the file, and so in memory, which maps it. The engine compresses with LZ4 on threads of its own
// while a commit is made, and decompresses as it reads. The first byte distinguishes records that it left uncompressed, or
// that an earlier build wrote: 250 and above means compressed. No record of ours begins so: not a revision below 2^47, nor
// a kind of change.
//
// Both need the same dictionary, so the folder keeps the one it was made with:
//
//   meta   "dictionary"   → its SHA-256, then its text
import { createHash } from 'node:crypto';
import type { Database } from 'lmdb';
import { dictionaryText } from './dictionary.js';

const DICTIONARY = Buffer.from('dictionary');
const HASH_BYTES = 32;
/** Smaller records (creations in the log) gain little, and handing one to another thread takes five microseconds. */
const THRESHOLD_BYTES = 256;

export interface ValueCompression {
  readonly threshold: number;
  readonly dictionary: Buffer;
}

/**
 * Undefined when the folder has values that its dictionary is missing for, or is not what it was. Where it has none, the
 * dictionary is written in the transaction under way.
 */
export function compressionOf(meta: Database<Buffer, Buffer>, hasCompressed: boolean): ValueCompression | undefined {
  const known = meta.get(DICTIONARY);
  if (known === undefined && hasCompressed) return undefined;
  const dictionary = Buffer.from(known?.subarray(HASH_BYTES) ?? dictionaryText());
  const hash = createHash('sha256').update(dictionary).digest();
  if (known === undefined) meta.putSync(DICTIONARY, Buffer.concat([hash, dictionary]));
  else if (!hash.equals(known.subarray(0, HASH_BYTES))) return undefined;
  return { threshold: THRESHOLD_BYTES, dictionary };
}
