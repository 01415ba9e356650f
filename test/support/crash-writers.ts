// Writers of a store that is killed under them, and what must hold of it afterwards: what was answered is there, in order, once; what
// was not answered is there whole or not at all.
import assert from 'node:assert/strict';
import {
  type KeyValueStore,
  type KvError,
  type KvEvent,
  type KvWatchReceiver,
  type WriteResult,
} from '../../src/kv/kv.js';

const WRITERS = 16;
/** Of a value, what is compared: random bytes follow. */
const KNOWN_CHARACTERS = 40;

export interface Writing {
  /** Names this run of writers, so that no two write the same value. */
  readonly run: string;
  readonly answered: (revision: number, entry: string) => void;
  /** Whether the store may be gone: then it is not known whether it wrote. */
  readonly mayFail: (error: unknown) => boolean;
  readonly isOver: () => boolean;
}

/** Each creates, changes and deletes a key of its own, one write after another. */
export async function writeHard(kv: KeyValueStore, writing: Writing): Promise<void> {
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => writeKey(kv, `/w${writer}`, writing)));
}

async function writeKey(kv: KeyValueStore, key: string, { run, answered, mayFail, isOver }: Writing): Promise<void> {
  for (let n = 0; !isOver(); n++) {
    const value = `${run}-${n}`.padEnd(KNOWN_CHARACTERS, '.');
    const bytes = Buffer.from(value + 'x'.repeat((n * 7919) % 3000));
    try {
      const current = await kv.get(key);
      const remove = current !== undefined && n % 7 === 6;
      const result: WriteResult = remove
        ? await kv.delete(key, current.modRevision)
        : current === undefined
          ? await kv.create(key, bytes)
          : await kv.update(key, current.modRevision, bytes);
      assert.ok(result.done, 'nobody else writes this key');
      answered(result.revision, `${key} ${remove ? '' : value}`);
    } catch (error) {
      if (!mayFail(error)) throw error;
    }
  }
}

/** Revision → "key value". */
export class Answers {
  readonly #entries = new Map<number, string>();

  add(revision: number, entry: string): void {
    assert.ok(!this.#entries.has(revision), `revision ${revision} was answered twice`);
    this.#entries.set(revision, entry);
  }

  get size(): number {
    return this.#entries.size;
  }

  [Symbol.iterator](): Iterator<[number, string]> {
    return this.#entries[Symbol.iterator]();
  }
}

/** All events from revision 2 on, with what they replaced. */
export class SeenEvents implements KvWatchReceiver {
  last = 1;
  failure: KvError | undefined;
  readonly #events = new Map<number, KvEvent>();

  events(batch: readonly KvEvent[]): void {
    for (const event of batch) {
      assert.equal(event.revision, this.last + 1, 'revisions have no gap');
      this.last = event.revision;
      this.#events.set(event.revision, event);
    }
  }

  progress(): void {}

  failed(error: KvError): void {
    this.failure = error;
  }

  /** They have what was answered, and replaying them gives the state: nothing is half there. */
  async check(kv: KeyValueStore, answers: Answers): Promise<void> {
    assert.deepEqual([this.last, this.failure], [await kv.revision(), undefined]);
    for (const [revision, entry] of answers) {
      const event = this.#events.get(revision);
      const found = event && `${event.key} ${event.value.subarray(0, KNOWN_CHARACTERS).toString()}`;
      assert.equal(found, entry, `revision ${revision}`);
    }
    const state = new Map<string, string>();
    for (const event of this.#events.values()) {
      assert.equal(event.previous?.value.toString(), state.get(event.key));
      if (event.type === 'put') state.set(event.key, event.value.toString());
      else state.delete(event.key);
    }
    const { kvs } = await kv.range({ start: '/', end: '0' });
    assert.deepEqual(new Map(kvs.map(({ key, value }) => [key, value.toString()])), state);
  }
}
