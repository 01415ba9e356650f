// The stored object as readers share it: bytes first, the parsed form on demand.
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import { workOn } from '../lib/scheduling/sized-work.js';
import { runCooperatively, type StepGenerator } from '../lib/scheduling/yield.js';
import type { KubeObject, ObjectMeta } from '../machinery/object.js';
import type { EncodedCell } from './encoded-bytes.js';
import type { EntrySource } from './entry-source.js';
import type { Labels } from './label-sets.js';
import { metadataHas, stringAt, textAt } from './scan-json.js';
import { copySpliced, replaceResourceVersion, splicedLength, spliceResourceVersion } from './splice.js';
import { StorageError, type StoredObject, type WatchEvent } from './store.js';
import type { Fields } from './text-fields.js';
import { unreadable } from './unreadable.js';

/** The form of what is kept of an object in JSON. */
const AS_JSON = {};

/** In whatever order objects have their metadata, labels come before `managedFields`, which are long. */
const labelsText = (json: Buffer): string | undefined => textAt(json, ['metadata', 'labels'], 'managedFields');

/**
 * Where an entry's bytes are: in memory; in memory, and in the store in another form, but the one it would be written in
 * now; in memory, and in the store just so; or left to the store, and in memory only while they are fresh.
 */
type BytesLocation = 'kept' | 'kept-in-current-form' | 'kept-as-stored' | 'left';

/** What most entries have only for a while. */
interface Fresh {
  json: Buffer | undefined;
  bytesLocation: BytesLocation;
  written: KubeObject | undefined;
  /** The same once all watches have its event, of what was updated last. */
  updated: KubeObject | undefined;
  /** What was written to a store of another form than JSON. */
  storedForm: Buffer | undefined;
  /** Fields that were read without parsing the object. */
  fields: Fields | undefined;
  /** Encodings other than JSON that readers requested. */
  encoded: EncodedCell | undefined;
}

const leftFresh = (): Fresh => ({
  json: undefined,
  bytesLocation: 'left',
  written: undefined,
  updated: undefined,
  storedForm: undefined,
  fields: undefined,
  encoded: undefined,
});

/** An object as it was at a revision. */
interface EntryVersion<Json = Buffer> {
  readonly key: string;
  readonly revision: number;
  readonly json: Json;
}

/** What a caller knows of an entry besides its JSON. */
interface KnownOfEntry {
  /** What the JSON decodes to, without its resourceVersion. */
  readonly object?: KubeObject | undefined;
  /** The store has the same bytes. */
  readonly asStored?: boolean;
  /** What was written to a store of another form than JSON. */
  readonly storedForm?: Buffer | undefined;
}

/**
 * Keeps the JSON, or its location in the store, and a weak reference to the parsed object: after a full collection an
 * object that nobody holds is parsed again, so that a cache of many objects costs little. The object that a writer passed
 * is kept until all watches have its event; most reads need only the bytes.
 *
 * There is one for every object that is stored, so each member counts: what is not wanted for long stands apart. A private
 * method would be one more, and those here belong to the class instead.
 */
export class Entry implements StoredObject {
  readonly key: string;
  readonly revision: number;
  readonly size: number;
  /** Absent of what is left to the store, and of which nothing more is in memory. */
  #fresh: Fresh | undefined;
  #parsed: WeakRef<KubeObject> | undefined;
  #labels: Labels | undefined;
  #indexed: string | undefined;
  #added: WeakRef<WatchEvent> | undefined;

  constructor(
    readonly source: EntrySource,
    /** Of JSON that is left to the store: how many bytes it has. */
    { key, revision, json }: EntryVersion<Buffer | number>,
    { object, asStored = false, storedForm }: KnownOfEntry = {},
  ) {
    this.key = key;
    this.revision = revision;
    if (typeof json === 'number') {
      this.size = json;
      this.#fresh = undefined;
      return;
    }
    this.size = json.length;
    this.#fresh = {
      json,
      bytesLocation: asStored ? 'kept-as-stored' : 'kept',
      written: object,
      updated: undefined,
      storedForm,
      fields: undefined,
      encoded: undefined,
    };
  }

  // hot: every object when a cache is filled
  /** Of a value that is left to the store: what selections want to know is read now, while the value is at hand. */
  static left(source: EntrySource, key: string, revision: number, value: Buffer): Entry {
    try {
      const entry = new Entry(source, { key, revision, json: splicedLength(value, revision) });
      entry.#labels = source.labelSets.of(labelsText(value));
      if (source.indexedPath !== undefined) entry.#indexed = stringAt(value, source.indexedPath);
      return entry;
    } catch (error) {
      throw unreadable(source.options, { key, revision }, error);
    }
  }

  get json(): Buffer {
    const known = this.#fresh?.json;
    if (known !== undefined) return known;
    const json = spliceResourceVersion(this.source.read(this.key, this.revision), this.revision);
    (this.#fresh ??= leftFresh()).json = json;
    this.source.recent.read.add(this);
    return json;
  }

  // hot: every item of a list
  copyJson(target: Buffer, at: number, from: number, isKept: boolean): number {
    const fresh = this.#fresh;
    if (fresh?.json !== undefined) return fresh.json.copy(target, at, from);
    const wanted = { target, at, from };
    const { encoded } = this.source;
    const copied = fresh === undefined ? 0 : encoded.copy(fresh.encoded, AS_JSON, wanted);
    if (copied > 0) return copied;
    const stored = this.source.read(this.key, this.revision);
    const length = copySpliced(stored, this.revision, wanted);
    if (isKept) Entry.#keepJson(this, stored);
    return length;
  }

  static #keepJson(entry: Entry, stored: Buffer): void {
    const { encoded } = entry.source;
    if (!entry.source.keepsEncodingsOf(entry.key, entry)) return;
    const fresh = (entry.#fresh ??= leftFresh());
    const cell = encoded.reserve(AS_JSON, entry.size, encoded.without(fresh.encoded, AS_JSON));
    if (cell?.slab.bytes === undefined) return;
    copySpliced(stored, entry.revision, { target: cell.slab.bytes, at: cell.start, from: 0 });
    fresh.encoded = cell;
  }

  // hot: every object when the garbage collector starts
  hasMetadata(names: readonly string[]): boolean {
    const given = Entry.#largeWritten(this);
    if (given !== undefined) return names.some((name) => Object.hasOwn(given.metadata, name));
    return Entry.#scanned(this, (json) => metadataHas(json, names));
  }

  /** The store has it in the form in which it would be written now; false where nobody has looked. */
  get isInCurrentForm(): boolean {
    return this.#fresh?.bytesLocation === 'kept-in-current-form';
  }

  set isInCurrentForm(isKnown: boolean) {
    if (isKnown && this.#fresh?.bytesLocation === 'kept') this.#fresh.bytesLocation = 'kept-in-current-form';
  }

  /** The entry is the store's current version: its bytes can be dropped once all watches have its event. */
  releaseBytes(): void {
    if (this.source.stored === undefined || this.#fresh?.bytesLocation !== 'kept-as-stored') return;
    this.indexFields();
    this.#fresh.bytesLocation = 'left';
  }

  /** The store has something else now. `value`: what it had before. */
  pinBytes(value: Buffer | undefined): void {
    const fresh = (this.#fresh ??= leftFresh());
    // Reads want the current version, so this version's other encodings are not needed again.
    this.releaseEncodings();
    if (fresh.bytesLocation !== 'left') return;
    fresh.json ??= spliceResourceVersion(value ?? this.source.read(this.key, this.revision), this.revision);
    fresh.bytesLocation = 'kept';
  }

  releaseEncodings(): void {
    if (this.#fresh?.encoded === undefined) return;
    this.source.encoded.drop(this.#fresh.encoded);
    this.#fresh.encoded = undefined;
  }

  evict(): void {
    const fresh = this.#fresh;
    if (fresh?.bytesLocation !== 'left') return;
    if (isBare(fresh)) this.#fresh = undefined;
    else fresh.json = undefined;
  }

  get storedForm(): Buffer | undefined {
    return this.#fresh?.storedForm;
  }

  // hot: every item of a list, and every answer, in another form than the stored one
  encoded(form: object): Buffer | undefined {
    return this.source.encoded.find(this.#fresh?.encoded, form);
  }

  keepEncoded(form: object, bytes: Buffer): Buffer | undefined {
    // What is just written goes to those who watch, once; it is kept when it is read later.
    if (this.#fresh?.written !== undefined || !this.source.keepsEncodingsOf(this.key, this)) return undefined;
    const { encoded } = this.source;
    const fresh = (this.#fresh ??= leftFresh());
    fresh.encoded = encoded.keep(form, bytes, encoded.without(fresh.encoded, form));
    return encoded.find(fresh.encoded, form);
  }

  object(): KubeObject {
    const known = this.#parsed?.deref();
    if (known !== undefined) return known;
    const given = this.#fresh?.written ?? this.#fresh?.updated;
    const object = given === undefined ? decoded(this) : withResourceVersion(given, this.revision);
    this.#parsed = new WeakRef(object);
    return object;
  }

  load(): MaybePromise<KubeObject> {
    if (!workOn(this.size).isLarge || this.#fresh?.written !== undefined) return this.object();
    const known = this.#parsed?.deref();
    if (known !== undefined) return known;
    const pieces = this.source.options.codec.decodePieces?.(this.json);
    return pieces === undefined ? this.object() : Entry.#loaded(this, pieces);
  }

  static async #loaded(entry: Entry, pieces: StepGenerator<KubeObject | undefined>): Promise<KubeObject> {
    const object = await runCooperatively(pieces);
    // Another reader may have parsed the object meanwhile, and all readers share one.
    const known = entry.#parsed?.deref();
    if (known !== undefined || object === undefined) return known ?? entry.object();
    entry.#parsed = new WeakRef(object);
    return object;
  }

  /**
   * All watches have the entry's event: drops the written object, and bytes that the store has. Those of an update are kept
   * for the next one, if that comes soon.
   */
  settle(isUpdate = false): void {
    this.#added = undefined;
    const fresh = this.#fresh;
    if (fresh === undefined) return;
    const { written } = fresh;
    fresh.written = undefined;
    fresh.storedForm = undefined;
    if (!isUpdate || written === undefined || workOn(this.size).isLarge) return this.evict();
    fresh.updated = written;
    this.source.recent.updated.add(this);
  }

  /**
   * Another version is in its place, or the update was long ago, so who wants the parsed object has it. Only a full collection
   * clears a weak reference: until then each object that an update has begun with would be kept.
   */
  forgetObject(): void {
    this.#parsed = undefined;
    const fresh = this.#fresh;
    if (fresh === undefined) return;
    fresh.updated = undefined;
    if (fresh.json === undefined && isBare(fresh)) this.#fresh = undefined;
  }

  // hot: once for each object of a selected list and each event of a selected watch.
  get labels(): Labels {
    return (this.#labels ??= Entry.#labelsOf(this));
  }

  static #labelsOf(entry: Entry): Labels {
    const { labelSets } = entry.source;
    const given = Entry.#largeWritten(entry);
    if (given !== undefined) return given.metadata.labels ?? labelSets.of(undefined);
    return Entry.#scanned(entry, (json) => labelSets.of(labelsText(json)));
  }

  /** The written object, where it is in memory and scanning the bytes would be slow. */
  static #largeWritten(entry: Entry): KubeObject | undefined {
    return workOn(entry.size).isLarge ? entry.#fresh?.written : undefined;
  }

  field(name: string): string {
    const { indexedField, namespaced } = this.source.options;
    if (name === indexedField) return this.indexed ?? '';
    if (name === 'metadata.name') return this.key.slice(this.key.indexOf('/') + 1);
    if (name === 'metadata.namespace') return namespaced ? this.key.slice(0, this.key.indexOf('/')) : '';
    const known = this.#fresh?.fields?.[name];
    if (known !== undefined) return known;
    const { textFields, options } = this.source;
    const isText = textFields.has(name);
    const fields = isText ? Entry.#scanned(this, (json) => textFields.of(json)) : options.fieldsOf(this.object());
    (this.#fresh ??= leftFresh()).fields = fields;
    return fields[name] ?? '';
  }

  /** The value of the resource's indexed field, if it has one. */
  get indexed(): string | undefined {
    const { indexedPath } = this.source;
    if (indexedPath === undefined) return undefined;
    if (this.#indexed === undefined) {
      const given = this.#fresh?.written;
      this.#indexed =
        given === undefined
          ? Entry.#scanned(this, (json) => stringAt(json, indexedPath))
          : stringIn(given, indexedPath);
    }
    return this.#indexed;
  }

  /** Reads what selections want to know, while the bytes are at hand. */
  indexFields(): void {
    this.#labels = this.labels;
    this.#indexed = this.indexed;
  }

  /** What can be read without parsing the rest. */
  static #scanned<T>(entry: Entry, scan: (json: Buffer) => T): T {
    const { source, key, revision } = entry;
    try {
      // What the store has lacks the resourceVersion only, which nothing is selected by.
      return scan(entry.#fresh?.json ?? source.read(key, revision));
    } catch (error) {
      throw error instanceof StorageError ? error : unreadable(source.options, { key, revision }, error);
    }
  }

  /** The one event that this version appeared, for all watchers it is new to at about the same time. */
  get added(): WatchEvent {
    const known = this.#added?.deref();
    if (known !== undefined) return known;
    // Weakly, for encodings hang on events: held by the cache they would double its size.
    const event: WatchEvent = { type: 'ADDED', object: this, previous: undefined, frames: undefined };
    this.#added = new WeakRef(event);
    return event;
  }

  /** This object as the event of its deletion shows it: the same content at the deletion's revision. */
  deletedAt(revision: number): Entry {
    const json = replaceResourceVersion(this.json, this.revision, revision);
    const entry = new Entry(this.source, { key: this.key, revision, json });
    // The deleting request has parsed the object, and reads it once more.
    const object = this.#parsed?.deref();
    if (object !== undefined) entry.#parsed = new WeakRef(withResourceVersion(object, revision));
    return entry;
  }
}

/** It has nothing but, perhaps, the bytes, and the store has those. */
const isBare = ({ bytesLocation, written, updated, fields, encoded }: Fresh): boolean =>
  bytesLocation === 'left' &&
  written === undefined &&
  updated === undefined &&
  fields === undefined &&
  encoded === undefined;

/** The string a path of names leads to; empty where there is none. */
function stringIn(object: unknown, path: readonly string[]): string {
  let value = object;
  for (const name of path) value = (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  return typeof value === 'string' ? value : '';
}

function decoded(entry: Entry): KubeObject {
  const { options } = entry.source;
  try {
    return options.codec.decodeJson(entry.json);
  } catch (error) {
    throw unreadable(options, entry, error);
  }
}

/** An entry from the JSON without resourceVersion, and the object that it decodes to where the caller has it. */
export function entryOf(source: EntrySource, { key, revision, json }: EntryVersion, known: KnownOfEntry = {}): Entry {
  return new Entry(source, { key, revision, json: spliceResourceVersion(json, revision) }, known);
}

/** What is encoded for storing: the object without a resourceVersion. */
export function withoutResourceVersion(object: KubeObject): KubeObject {
  if (object.metadata.resourceVersion === undefined && object.metadata.selfLink === undefined) return object;
  const { resourceVersion: _version, selfLink: _link, ...metadata } = object.metadata;
  return { ...object, metadata };
}

const BEFORE_VERSION: readonly (keyof ObjectMeta)[] = ['name', 'generateName', 'namespace', 'selfLink', 'uid'];

function withResourceVersion(object: KubeObject, revision: number): KubeObject {
  const metadata: Record<string, unknown> = {};
  const given = object.metadata as Readonly<Record<string, unknown>>;
  for (const name of BEFORE_VERSION) if (given[name] !== undefined) metadata[name] = given[name];
  metadata['resourceVersion'] = String(revision);
  for (const name in given) if (!Object.hasOwn(metadata, name)) metadata[name] = given[name];
  // hot: a literal defines its members anew, which costs more than to set one.
  const served = { ...object };
  served.metadata = metadata;
  return served;
}
