import { runCooperatively } from '../../lib/scheduling/yield.js';
import type { StructType } from '../type.js';
import { readPieces } from './decode-pieces.js';
import { DecodeError } from './walk.js';

/**
 * What another server says, cooperatively: as an object of its type, or as it is. Rejects with a DecodeError for
 * what is no such text, or nests as deep as no object may.
 */
export async function readForeign(bytes: Buffer, type: StructType | undefined): Promise<unknown> {
  const read = await runCooperatively(readPieces(bytes, type));
  if (read === undefined) throw new DecodeError('the answer cannot be read');
  return read.value;
}
