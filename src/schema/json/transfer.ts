// Objects on their way between threads, as JSON. The encoder leaves out what is empty, and errors distinguish sent empty
// from not sent: here nothing is left out, and decoding by type restores the object.
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import { JsonPieces } from './encode-pieces.js';

export function* transferPieces(object: object): StepGenerator<Buffer> {
  const pieces = new JsonPieces();
  yield* pieces.tree(object, 'carried');
  return yield* pieces.bytes();
}
