// Between stored bytes and entries: which form the store keeps, encryption, and knowing our own writes again.
import type { KubeObject } from '../machinery/object.js';
import { errorText } from '../lib/text/error-text.js';
import { type MaybePromise, whenReady } from '../lib/async/maybe-promise.js';
import { copiedText } from '../lib/text/copied-text.js';
import { TransientMap } from '../lib/values/transient-map.js';
import {
  isEncrypted,
  type Decrypted,
  UNEXPECTEDLY_ENCRYPTED,
  type ValueTransformer,
} from '../encryption/transformer.js';
import type { Trace } from '../tracing/trace.js';
import type { EncodedBytes } from './encoded-bytes.js';
import { EntrySource, type StoredBytes } from './entry-source.js';
import { Entry, entryOf, withoutResourceVersion } from './entry.js';
import type { Recent } from './recent.js';
import { type ResourceStoreOptions, StorageError, type StoredValueFault } from './store.js';
import { unreadable } from './unreadable.js';
import { UnseenWrites } from './unseen-writes.js';

/** `json`: the bytes that are served. `storage`: what the codec's `encodeStorage` makes of it in a media type. */
export type ValueForm = { readonly kind: 'json' } | { readonly kind: 'storage'; readonly mediaType: string };

/** The parts of a write that do not depend on its revision. */
interface WrittenParts {
  readonly key: string;
  /** Absent where it is not what the JSON decodes to. */
  readonly object: KubeObject | undefined;
  readonly json: Buffer;
  /** Before it was encrypted; absent where it is the JSON. */
  readonly storedForm: Buffer | undefined;
}

/** A write in flight: the value passed to the store, and the parts of its entry once the revision is known. */
export class Written {
  entry: Entry | undefined = undefined;
  /** Its event has come. */
  seen = false;

  constructor(
    readonly parts: WrittenParts,
    readonly value: Buffer,
    /** Another write to the same key that is under way. */
    public other: Written | undefined,
  ) {}
}

export interface ValuesSetup {
  readonly form: ValueForm;
  /** Encryption at rest. */
  readonly transformer?: ValueTransformer | undefined;
  /** Absent where bytes are kept in memory. */
  readonly stored?: StoredBytes | undefined;
  /** Of what another build wrote last. */
  readonly olderRevision?: number | undefined;
  /** Where other forms are kept. */
  readonly encoded?: EncodedBytes | undefined;
  readonly recent?: Recent | undefined;
  /** Events of such a store come after its answers as well as before. */
  readonly elsewhere?: boolean;
}

/** A value as the store has it. */
interface StoredValue {
  readonly key: string;
  readonly value: Buffer;
  readonly revision: number;
}

export class Values {
  readonly form: ValueForm;
  readonly transformer: ValueTransformer | undefined;
  readonly olderRevision: number;
  /** By key; of several to one key, the one that began last. */
  readonly #underWay = new TransientMap<string, Written>();
  readonly source: EntrySource;
  /** Of a store elsewhere; one in this process hands over events before it answers. */
  readonly unseen: UnseenWrites | undefined;

  constructor(
    readonly options: ResourceStoreOptions,
    { form, transformer, stored, olderRevision = 0, encoded, recent, elsewhere = false }: ValuesSetup,
  ) {
    this.form = form;
    this.transformer = transformer;
    this.olderRevision = olderRevision;
    this.unseen = elsewhere ? new UnseenWrites() : undefined;
    // Only bytes that lie in the store as they are served can be left to it.
    const left = form.kind === 'json' && transformer === undefined ? stored : undefined;
    this.source = new EntrySource(options, left, encoded, recent);
  }

  // hot: every write
  begin(key: string, given: KubeObject, printed?: Buffer, trace?: Trace): MaybePromise<Written> {
    const object = withoutResourceVersion(given);
    const { codec, prefix } = this.options;
    const json = printed ?? codec.encodeJson(object);
    const plain = this.form.kind === 'json' ? json : codec.encodeStorage(object, this.form.mediaType);
    trace?.span?.event('Encode succeeded', { len: plain.length });
    const known = codec.isStoredAsOther?.(object) === true ? undefined : object;
    const parts = { key, object: known, json, storedForm: plain === json ? undefined : plain };
    if (this.transformer === undefined) return this.#begun(parts, plain);
    const encrypted = this.#encrypt(this.transformer, plain, prefix + key, trace);
    return whenReady(encrypted, (value) => this.#begun(parts, value));
  }

  #encrypt(
    transformer: ValueTransformer,
    plain: Buffer,
    fullKey: string,
    trace: Trace | undefined,
  ): MaybePromise<Buffer> {
    const failed = (error: unknown): never => {
      throw new StorageError('encryption-failed', errorText(error));
    };
    try {
      const encrypted = transformer.toStorage(plain, fullKey, trace);
      return encrypted instanceof Promise ? encrypted.catch(failed) : encrypted;
    } catch (error) {
      return failed(error);
    }
  }

  #begun(parts: WrittenParts, value: Buffer): Written {
    const written = new Written(parts, value, this.#underWay.get(parts.key));
    this.#underWay.set(parts.key, written);
    return written;
  }

  end(written: Written): void {
    const { parts, other } = written;
    const { key } = parts;
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
  answered(written: Written, revision: number): Entry {
    const entry = this.#entryOfWritten(written, revision);
    if (!written.seen) this.unseen?.add(entry);
    return entry;
  }

  #entryOfWritten(written: Written, revision: number): Entry {
    if (written.entry?.revision === revision) return written.entry;
    const { key, object, json, storedForm } = written.parts;
    const asStored = written.value === json;
    const entry = entryOf(this.source, { key, revision, json }, { object, asStored, storedForm });
    if (this.#canKnowForm) entry.isInCurrentForm = true;
    return (written.entry = entry);
  }

  /**
   * The entry of what an event says was written; of our own write it is what we wrote. What is encrypted is decrypted all
   * the same, as in kube-apiserver: its metrics show whether the keys can read what they wrote.
   */
  // hot: every event
  entryOfEvent(key: string, value: Buffer, revision: number): MaybePromise<Entry> {
    const own = this.unseen?.take(key, revision);
    if (this.unseen === undefined || this.transformer === undefined)
      return own ?? this.entry(copiedText(key), value, revision);
    const written = this.#writtenAs(key, value);
    if (written !== undefined) written.seen = true;
    return this.#decrypted(this.transformer, { key, value, revision });
  }

  /** The entry of a stored value; of our own write without reading it back. */
  entry(key: string, value: Buffer, revision: number, trace?: Trace): MaybePromise<Entry> {
    const written = this.#writtenAs(key, value);
    if (written !== undefined) {
      written.seen = true;
      return this.#entryOfWritten(written, revision);
    }
    const { transformer } = this;
    if (transformer === undefined) {
      if (isEncrypted(value)) throw this.#fault(key, revision, 'encrypted', new Error(UNEXPECTEDLY_ENCRYPTED));
      return this.#read(key, value, revision);
    }
    return this.#decrypted(transformer, { key, value, revision }, trace);
  }

  /** The entry of a stored value whose bytes stay in the store; undefined where they are to be looked into, or kept in memory. */
  leftEntry(key: string, value: Buffer, revision: number): Entry | undefined {
    const isLeft =
      this.source.stored !== undefined &&
      this.options.codec.renew === undefined &&
      revision > this.olderRevision &&
      !this.#underWay.has(key) &&
      !isEncrypted(value);
    return isLeft ? Entry.left(this.source, key, revision, value) : undefined;
  }

  /** The write under way that has this value. */
  #writtenAs(key: string, value: Buffer): Written | undefined {
    let written = this.#underWay.get(key);
    while (written !== undefined && written.value !== value && !written.value.equals(value)) written = written.other;
    return written;
  }

  #decrypted(transformer: ValueTransformer, stored: StoredValue, trace?: Trace): MaybePromise<Entry> {
    const { key, revision } = stored;
    const opened = this.#open(transformer, stored, trace);
    return opened instanceof Promise
      ? opened.then((open) => this.#readOpened(key, open, revision))
      : this.#readOpened(key, opened, revision);
  }

  /** What is read may not be kept decrypted: whoever has the key is asked at each read. */
  get decryptsEachRead(): boolean {
    return this.transformer?.decryptsEachRead === true;
  }

  /** False where all that is stored is as it would be written now. */
  get mayBeStale(): boolean {
    if (this.form.kind === 'storage' || this.transformer !== undefined) return true;
    return this.options.codec.renew !== undefined || this.olderRevision > 1;
  }

  /** The form does not change while the server runs, but the keys that values are encrypted with do. */
  get #canKnowForm(): boolean {
    return this.form.kind === 'storage' && this.transformer === undefined;
  }

  /** It was found that a stored value is as it would be written now. */
  noteCurrentForm(entry: Entry | undefined, revision: number): void {
    if (entry?.revision === revision && this.#canKnowForm) entry.isInCurrentForm = true;
  }

  /** Whether a value is encrypted, or its object written, otherwise than it would be now. */
  isStale(key: string, value: Buffer, revision: number): MaybePromise<boolean> {
    const { transformer } = this;
    if (transformer === undefined) return this.#isOutdated(key, value, revision);
    return whenReady(
      this.#open(transformer, { key, value, revision }),
      ({ stale, plain }) => stale || this.#isOutdated(key, plain, revision),
    );
  }

  #isOutdated(key: string, plain: Buffer, revision: number): MaybePromise<boolean> {
    const { codec } = this.options;
    if (this.form.kind === 'json') {
      return whenReady(this.#renewed(plain, revision), (renewed) => !renewed.equals(plain));
    }
    // In another media type or version, or by a server of another release.
    const object = withoutResourceVersion(this.#readStorage(key, plain, revision).object());
    return !codec.encodeStorage(object, this.form.mediaType).equals(plain);
  }

  /** Synchronous where the key is in memory: many values are decrypted without a promise for each. */
  #open(transformer: ValueTransformer, { key, value, revision }: StoredValue, trace?: Trace): MaybePromise<Decrypted> {
    const failed = (error: unknown): never => {
      throw this.#fault(key, revision, 'encrypted', error);
    };
    try {
      const opened = transformer.fromStorage(value, this.options.prefix + key, trace);
      return opened instanceof Promise ? opened.catch(failed) : opened;
    } catch (error) {
      return failed(error);
    }
  }

  #readOpened(key: string, { plain, unproven }: Decrypted, revision: number): MaybePromise<Entry> {
    return whenReady(this.#read(key, plain, revision), (entry) => {
      // Stored JSON is served without a look into it: what nothing vouches for is looked into first.
      if (unproven && this.form.kind === 'json') entry.object();
      return entry;
    });
  }

  #read(key: string, plain: Buffer, revision: number): MaybePromise<Entry> {
    if (this.form.kind === 'storage') return this.#readStorage(key, plain, revision);
    const failed = (error: unknown): never => {
      throw this.#fault(key, revision, 'content', error);
    };
    const made = (json: Buffer): Entry =>
      entryOf(this.source, { key, revision, json }, { asStored: json === plain || json.equals(plain) });
    try {
      const renewed = this.#renewed(plain, revision);
      return renewed instanceof Promise ? renewed.then(made).catch(failed) : made(renewed);
    } catch (error) {
      return failed(error);
    }
  }

  #readStorage(key: string, plain: Buffer, revision: number): Entry {
    try {
      const { codec } = this.options;
      const object = withoutResourceVersion(codec.decodeStorage(plain));
      return entryOf(this.source, { key, revision, json: codec.encodeJson(object) }, { object });
    } catch (error) {
      throw this.#fault(key, revision, 'content', error);
    }
  }

  #renewed(plain: Buffer, revision: number): MaybePromise<Buffer> {
    const { codec } = this.options;
    if (codec.renew !== undefined) return codec.renewLarge?.(plain) ?? codec.renew(plain);
    return revision <= this.olderRevision ? (codec.renewOlder?.(plain) ?? plain) : plain;
  }

  #fault(key: string, revision: number, what: StoredValueFault['what'], error: unknown): StorageError {
    return unreadable(this.options, { key, revision, what }, error);
  }
}
