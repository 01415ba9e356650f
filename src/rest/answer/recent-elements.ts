// The elements of the last watch events, for whatever else shows the same object then: other events of it, and the answer
// to whoever wrote it. What is just written is encoded in the turn that hears of it, and kept by the cache only once
// somebody reads it later.
import type { StoredObject } from '../../storage/store.js';

/** More than are written in one commit. */
const MAX_RECENT = 128;
const MAX_BYTES_OF_ONE = 16 * 1024;

interface Recent {
  readonly form: object;
  readonly element: Buffer;
}

export class RecentElements {
  readonly #recent = new Map<StoredObject, Recent>();

  // hot: every event, and every answer in protobuf
  find(form: object, stored: StoredObject): Buffer | undefined {
    const recent = this.#recent.get(stored);
    return recent?.form === form ? recent.element : undefined;
  }

  add(form: object, stored: StoredObject, element: Buffer): void {
    if (element.length > MAX_BYTES_OF_ONE) return;
    this.#recent.set(stored, { form, element });
    if (this.#recent.size <= MAX_RECENT) return;
    for (const oldest of this.#recent.keys()) {
      this.#recent.delete(oldest);
      return;
    }
  }
}
