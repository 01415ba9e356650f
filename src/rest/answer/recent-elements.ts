// The elements of the last watch events, for whatever else shows the same object then: other events of it, and the answer
// to whoever wrote it. What is just written is encoded in the turn that hears of it, and kept by the cache only once
// somebody reads it later.
//
//   place    0        1        2      …     the object's revision, modulo their number
//            a, form  b, form  c, form
//                     b, other
import type { StoredObject } from '../../storage/store.js';

/** More revisions than are written in one commit. */
const PLACES = 128;
const MAX_BYTES_OF_ONE = 16 * 1024;

interface Recent {
  readonly stored: StoredObject;
  readonly form: object;
  readonly element: Buffer;
  /** The same object in another form. */
  readonly other: Recent | undefined;
}

export class RecentElements {
  /** A Map would keep those that have left it from the collection of young objects. */
  readonly #recent = Array<Recent | undefined>(PLACES).fill(undefined);

  // hot: every event, and every answer in protobuf
  find(form: object, stored: StoredObject): Buffer | undefined {
    for (let one = this.#recent[stored.revision % PLACES]; one?.stored === stored; one = one.other) {
      if (one.form === form) return one.element;
    }
    return undefined;
  }

  add(form: object, stored: StoredObject, element: Buffer): void {
    if (element.length > MAX_BYTES_OF_ONE) return;
    const place = stored.revision % PLACES;
    const last = this.#recent[place];
    this.#recent[place] = { stored, form, element, other: last?.stored === stored ? last : undefined };
  }
}
