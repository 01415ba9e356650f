// Objects on their way between threads, as JSON. A print leaves out what is empty, and messages tell what was sent empty
// from what was not sent: here nothing is left out, and who reads it with its type has the same object.
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import { JsonPieces } from './encode-pieces.js';

export function* transferPieces(object: object): StepGenerator<Buffer> {
  const print = new JsonPieces();
  yield* print.tree(object, 'carried');
  return yield* print.bytes();
}
