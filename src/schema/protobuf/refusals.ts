// What no message may have, in the reference's words.
import { DecodeError } from '../json/walk.js';
import { END_OF_GROUP } from './reader.js';

export const wrongWireType = (wireType: number, field: string): DecodeError =>
  new DecodeError(`proto: wrong wireType = ${wireType} for field ${field}`);

/** There are no groups, so nothing ends one. */
export function refuseEndOfGroup(wireType: number, message: string): void {
  if (wireType === END_OF_GROUP) throw new DecodeError(`proto: ${message}: wiretype end group for non-group`);
}

export function refuseNumberZero(number: number, wireType: number, message: string): void {
  if (number === 0) throw new DecodeError(`proto: ${message}: illegal tag 0 (wire type ${wireType})`);
}
