// The elements of the last watch events, for whatever else shows the same object then: other events of it, and the answer
// to whoever wrote it. What is just written is encoded in the turn that hears of it, and kept by the cache only once
// somebody reads it later.
import type { StoredObject } from '../../storage/store.js';

/** More than are written in one commit. */
const MAX_RECENT = 128;
const MAX_BYTES_OF_ONE = 16 * 1024;

interface Recent {
  readonly stored: StoredObject;
  readonly form: object;
  readonly element: Buffer;
}

export class RecentElements {
  /** The oldest is replaced next. A Map would keep those that have left it from the collection of young objects. */
  readonly #recent: Recent[] = [];
  #next = 0;

  // hot: every event, and every answer in protobuf
  find(form: object, stored: StoredObject): Buffer | undefined {
    const recent = this.#recent;
    const { length } = recent;
    // What is asked for is mostly among the last.
    for (let back = 1; back <= length; back++) {
      const one = recent[(this.#next - back + length) % length] as Recent;
      if (one.stored === stored && one.form === form) return one.element;
    }
    return undefined;
  }

  add(form: object, stored: StoredObject, element: Buffer): void {
    if (element.length > MAX_BYTES_OF_ONE) return;
    this.#recent[this.#next] = { stored, form, element };
    this.#next = (this.#next + 1) % MAX_RECENT;
  }
}
