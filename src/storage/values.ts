// Between stored bytes and entries: which form the store keeps, encryption, and knowing our own writes again.
import type { KubeObject } from '../machinery/object.js';
import { type MaybePromise, whenReady } from '../lib/maybe-promise.js';
import { corrupt, type Entry, entryOf, withoutResourceVersion } from './entry.js';
import type { ResourceStoreOptions } from './store.js';

/** Encryption at rest. `key` is the full key, which ciphers may bind the value to. */
export interface ValueTransformer {
  toStorage(plain: Buffer, key: string): MaybePromise<Buffer>;
  fromStorage(value: Buffer, key: string): MaybePromise<Buffer>;
}

/** `json`: the bytes that are served. `storage`: what the codec's `encodeStorage` makes of it in a media type. */
export type ValueForm = { readonly kind: 'json' } | { readonly kind: 'storage'; readonly mediaType: string };

/** A write under way: what the store was given, and what its entry is made of once the revision is known. */
export interface Written {
  readonly key: string;
  readonly value: Buffer;
  readonly object: KubeObject;
  readonly json: Buffer;
  entry: Entry | undefined;
  /** Another write to the same key that is under way. */
  other: Written | undefined;
}

export class Values {
  /** By key; of several to one key, the one that began last. */
  readonly #underWay = new Map<string, Written>();

  constructor(
    readonly options: ResourceStoreOptions,
    readonly form: ValueForm,
    readonly transformer: ValueTransformer | undefined,
  ) {}

  // hot: every write
  begin(key: string, given: KubeObject): MaybePromise<Written> {
    const object = withoutResourceVersion(given);
    const { codec, prefix } = this.options;
    const json = codec.encodeJson(object);
    const plain = this.form.kind === 'json' ? json : codec.encodeStorage(object, this.form.mediaType);
    if (this.transformer === undefined) return this.#begun(key, plain, object, json);
    const encrypted = this.transformer.toStorage(plain, prefix + key);
    return whenReady(encrypted, (value) => this.#begun(key, value, object, json));
  }

  #begun(key: string, value: Buffer, object: KubeObject, json: Buffer): Written {
    const written: Written = { key, value, object, json, entry: undefined, other: this.#underWay.get(key) };
    this.#underWay.set(key, written);
    return written;
  }

  end(written: Written): void {
    const { key, other } = written;
    let last = this.#underWay.get(key);
    if (last === written) {
      if (other === undefined) this.#underWay.delete(key);
      else this.#underWay.set(key, other);
      return;
    }
    while (last !== undefined && last.other !== written) last = last.other;
    if (last !== undefined) last.other = other;
  }

  /** The entry of a write that was answered with this revision. */
  entryOfWritten(written: Written, revision: number): Entry {
    if (written.entry?.revision === revision) return written.entry;
    return (written.entry = entryOf(this.options, written.key, revision, written.json, written.object));
  }

  /** The entry of a stored value; of our own write without reading it back. */
  entry(key: string, value: Buffer, revision: number): MaybePromise<Entry> {
    for (let written = this.#underWay.get(key); written !== undefined; written = written.other) {
      if (written.value === value || written.value.equals(value)) return this.entryOfWritten(written, revision);
    }
    if (this.transformer === undefined) return this.#read(key, value, revision);
    return this.#decrypted(key, value, revision);
  }

  async #decrypted(key: string, value: Buffer, revision: number): Promise<Entry> {
    let plain: Buffer;
    try {
      plain = await (this.transformer?.fromStorage(value, this.options.prefix + key) ?? value);
    } catch (error) {
      throw corrupt(key, error);
    }
    return this.#read(key, plain, revision);
  }

  #read(key: string, plain: Buffer, revision: number): Entry {
    try {
      const { codec } = this.options;
      if (this.form.kind === 'json') return entryOf(this.options, key, revision, codec.renew?.(plain) ?? plain);
      const object = withoutResourceVersion(codec.decodeStorage(plain));
      return entryOf(this.options, key, revision, codec.encodeJson(object), object);
    } catch (error) {
      throw corrupt(key, error);
    }
  }
}
