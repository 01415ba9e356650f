// What no message may have, in kube-apiserver's words.
import { DecodeError } from '../json/walk.js';
import { END_OF_GROUP, type Reader } from './reader.js';

export const wrongWireType = (wireType: number, field: string): DecodeError =>
  new DecodeError(`proto: wrong wireType = ${wireType} for field ${field}`);

/** There are no groups, so nothing ends one. */
export function refuseEndOfGroup(wireType: number, message: string): void {
  if (wireType === END_OF_GROUP) throw new DecodeError(`proto: ${message}: wiretype end group for non-group`);
}

/** A number that is none; a wide tag is reported as a whole. */
export function refuseNumberZero(number: number, tag: number, reader: Reader, message: string): void {
  if (number !== 0) return;
  const reported = tag < 8 && reader.wideTag > 0n ? reader.wideTag : BigInt(tag);
  throw new DecodeError(`proto: ${message}: illegal tag ${BigInt.asIntN(32, reported >> 3n)} (wire type ${reported})`);
}
