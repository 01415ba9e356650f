// A large JSON text, decoded cooperatively in pieces: JSON.parse of three megabytes, and above all of an
// object with a hundred thousand members, is too long for one slice.
//
// The scan finds the large containers. Their entries are cut into runs at the commas between them; a run in
// brackets of its own is a small JSON text, read by JSON.parse and decoded as every other, and put into its container:
//
//   {"data":{"a":"1","b":"2",…,"z":"26"}}     data is large
//            └ {"a":"1","b":"2"} └ …          each run is read by itself
//
// Errors of a text are not reported here: the caller decodes the text again, in one piece.
import { cacheKeys } from '../../lib/values/key-cache.js';
import { setMember } from '../../lib/values/plain-object.js';
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import { lazyFields } from '../lazy-fields.js';
import type { ListType, MapType, ScalarName, StructType, Type } from '../type.js';
import { decoderOf, structDecoder } from './decode-type.js';
import { maxJsonDepth } from './parse.js';
import { parse, textOf } from './read-text.js';
import { endOfString, isSpace, LARGE_TEXT, scanPieces } from './scan.js';
import { countKeys, DecodeError, Mismatch, type Walk } from './walk.js';

type Members = Record<string, unknown>;

export interface ReadPieces {
  /** An object in the normal form of its type; without a type a tree. */
  readonly value: unknown;
  /** A strict reader has nothing to say. */
  readonly clean: boolean;
}

export interface ReadOptions {
  readonly strict?: boolean;
  /** This program has encoded it: sets of owned fields need not be parsed to be the same again. */
  readonly isOurs?: boolean;
  /** Who adds to a large map makes a new one. */
  readonly closesMaps?: boolean;
}

/** As decodeJson(), or without a type parseJsonTree(); undefined when the text cannot be read so. */
export function* readPieces(
  input: Uint8Array | string,
  type: StructType | undefined,
  options: ReadOptions = {},
): StepGenerator<ReadPieces | undefined> {
  const text = textOf(input);
  const large = new Map<number, number>();
  const scan = yield* scanPieces(text, large);
  if (scan.depth > maxJsonDepth) return undefined;
  const pieces = new Pieces(text, large, scan.exactNumbers, options);
  try {
    const value = yield* pieces.document(type);
    const { unknown, keys } = pieces.walk;
    return { value, clean: options.strict !== true || (unknown === 0 && keys === scan.keys) };
  } catch (error) {
    if (error instanceof Mismatch || error instanceof DecodeError) return undefined;
    throw error;
  }
}

class Pieces {
  /** A key that is named again is not counted again, in whichever piece: that is how duplicates show. */
  readonly walk: Walk;
  readonly #done = new Set<unknown>();

  constructor(
    readonly text: string,
    /** Where large containers begin and end. */
    readonly large: ReadonlyMap<number, number>,
    readonly exact: boolean,
    readonly options: ReadOptions,
  ) {
    this.walk = { keys: 0, unknown: 0, count: options.strict === true, done: this.#done };
  }

  *document(type: StructType | undefined): StepGenerator<unknown> {
    const start = this.#afterSpace(0);
    const end = this.large.get(start);
    if (end === undefined) return this.#small(this.text, type);
    if (this.#afterSpace(end) < this.text.length) throw malformed();
    return yield* this.#container(start, type, this.options.isOurs === true ? 0 : NOWHERE);
  }

  #small(text: string, type: Type | undefined): unknown {
    const { value } = parse(text, { exact: this.exact, keepFloats: this.exact && type !== undefined });
    if (type !== undefined) return decoderOf(type)(value, this.walk);
    if (this.walk.count) this.walk.keys += countKeys(value);
    return value;
  }

  /** `steps`: how far it is on the way to the sets of owned fields. */
  *#container(start: number, type: Type | undefined, steps: number): StepGenerator<unknown> {
    const isList = this.text[start] === '[';
    if (steps === TO_OWNED_FIELDS.length && !isList) return this.#ownedFields(start);
    switch (type?.kind) {
      case 'struct':
        if (isList) throw new Mismatch([]);
        return yield* this.#struct(start, type, steps);
      case 'map':
        if (isList) throw new Mismatch([]);
        return yield* this.#map(start, type, type.value, steps);
      case 'list':
        if (!isList) throw new Mismatch({});
        return yield* this.#list(start, type, type.element, steps);
      case 'scalar':
        if (OPAQUE.has(type.scalar)) break;
        return this.#whole(start, type);
    }
    return yield* isList
      ? this.#list(start, undefined, undefined, steps)
      : this.#map(start, undefined, undefined, steps);
  }

  #ownedFields(start: number): unknown {
    const fields = lazyFields(this.text.slice(start, this.large.get(start)));
    this.#done.add(fields);
    return fields;
  }

  /** A schema, of which no part is as large as all of it. */
  #whole(start: number, type: Type): unknown {
    const text = this.text.slice(start, this.large.get(start));
    const value = decoderOf(type)(parse(text, { exact: this.exact }).value, this.walk);
    if (value !== null) this.#done.add(value);
    return value;
  }

  *#list(start: number, type: ListType | undefined, element: Type | undefined, steps: number): StepGenerator<unknown> {
    const items: unknown[] = [];
    yield* this.#entries(
      start,
      (run) => {
        for (const item of this.#small(`[${run}]`, type) as unknown[]) items.push(item);
      },
      function* (this: Pieces, _key: string, at: number): StepGenerator<void> {
        items.push(yield* this.#container(at, element, steps));
      }.bind(this),
    );
    if (items.length > 0) this.#done.add(items);
    return items;
  }

  *#map(start: number, type: MapType | undefined, element: Type | undefined, steps: number): StepGenerator<unknown> {
    const members: Members = {};
    const names: string[] = [];
    const put = (key: string, value: unknown): void => {
      if (Object.hasOwn(members, key)) this.walk.keys--;
      else names.push(key);
      setMember(members, key, value);
    };
    yield* this.#entries(
      start,
      (run) => {
        const some = this.#small(`{${run}}`, type) as Members;
        for (const key in some) put(key, some[key]);
      },
      function* (this: Pieces, key: string, at: number): StepGenerator<void> {
        this.walk.keys++;
        put(key, yield* this.#container(at, element, stepsTo(key, steps)));
      }.bind(this),
    );
    if (names.length > 0) this.#done.add(members);
    if (this.options.closesMaps === true) cacheKeys(members, names);
    return members;
  }

  *#struct(start: number, type: StructType, steps: number): StepGenerator<unknown> {
    const members: Members = {};
    const isKnown = (key: string): boolean => type.preserveUnknown === true || type.byJson.has(key);
    yield* this.#entries(
      start,
      (run) => {
        const some = parse(`{${run}}`, { exact: this.exact }).value as Members;
        for (const key in some) {
          if (isKnown(key)) setMember(members, key, some[key]);
          else this.#leaveOut(some[key]);
        }
      },
      function* (this: Pieces, key: string, at: number): StepGenerator<void> {
        const value = yield* this.#container(at, type.byJson.get(key)?.type, stepsTo(key, steps));
        if (isKnown(key)) setMember(members, key, value);
        else this.walk.unknown++;
      }.bind(this),
    );
    const object = structDecoder(type)(members, this.walk);
    this.#done.add(object);
    return object;
  }

  #leaveOut(value: unknown): void {
    this.walk.unknown++;
    if (this.walk.count) this.walk.keys += 1 + countKeys(value);
  }

  /** What is in a large container, in order: runs of what is small, and the places of what is large itself. */
  *#entries(
    start: number,
    small: (run: string) => void,
    large: (key: string, at: number) => StepGenerator<void>,
  ): StepGenerator<void> {
    const { text } = this;
    const isList = text[start] === '[';
    const end = (this.large.get(start) ?? 0) - 1;
    if (text[end] !== (isList ? ']' : '}')) throw malformed();
    let at = start + 1;
    let from = at;
    if (this.#afterSpace(at) === end) return;
    for (;;) {
      const entry = this.#afterSpace(at);
      if (entry === end) throw malformed();
      const [key, valueAt] = isList ? ['', entry] : this.#key(entry);
      const largeEnd = this.large.get(valueAt);
      if (largeEnd !== undefined) {
        // The run before has a comma at its end.
        if (from < at) small(text.slice(from, at - 1));
        yield* large(isList ? '' : String(parse(key, { exact: false }).value), valueAt);
      }
      at = this.#afterSpace(largeEnd ?? this.#afterValue(valueAt, end));
      const last = at === end;
      if (!last && text[at] !== ',') throw malformed();
      if (largeEnd !== undefined) from = at + 1;
      else if (last || at - from > LARGE_TEXT) {
        small(text.slice(from, at));
        from = at + 1;
      }
      if (last) return;
      if (from > at) yield;
      at++;
    }
  }

  /** The text of a key, and where its value begins. */
  #key(at: number): readonly [string, number] {
    if (this.text[at] !== '"') throw malformed();
    const end = endOfString(this.text, at + 1, this.text.length);
    const colon = this.#afterSpace(end);
    if (this.text[colon] !== ':') throw malformed();
    return [this.text.slice(at, end), this.#afterSpace(colon + 1)];
  }

  /** After a value that is not large. Whether it is one is seen by who parses it. */
  #afterValue(start: number, end: number): number {
    const { text } = this;
    let depth = 0;
    let at = start;
    while (at < end) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        at = endOfString(text, at + 1, end);
        continue;
      }
      if (code === COMMA && depth === 0) return at;
      // Braces and brackets differ in one bit, and so do what opens and what closes.
      if ((code | 0x20) === 0x7b) depth++;
      else if ((code | 0x20) === 0x7d) depth--;
      at++;
    }
    return at;
  }

  #afterSpace(start: number): number {
    let at = start;
    while (isSpace(this.text.charCodeAt(at))) at++;
    return at;
  }
}

const TO_OWNED_FIELDS = ['metadata', 'managedFields', 'fieldsV1'];
const NOWHERE = -1;

const stepsTo = (key: string, steps: number): number => (key === TO_OWNED_FIELDS[steps] ? steps + 1 : NOWHERE);

/** Kept as any JSON. */
const OPAQUE = new Set<ScalarName>(['any', 'rawExtension', 'fieldsV1']);

const QUOTE = 0x22;
const COMMA = 0x2c;

const malformed = (): DecodeError => new DecodeError('malformed');
