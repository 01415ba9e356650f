// Objects on their way between threads, as JSON. A print leaves out what is empty, and messages tell what was sent empty
// from what was not sent: here nothing is left out, and who reads it with its type has the same object.
import type { Steps } from '../../lib/turns.js';
import { Print } from './encode-pieces.js';

export function* carryPieces(object: object): Steps<Buffer> {
  const print = new Print();
  yield* print.tree(object, 'carried');
  return yield* print.bytes();
}
