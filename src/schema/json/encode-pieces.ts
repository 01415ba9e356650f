// What encodeStored() and encodeJson() print, piece by piece, for large objects.
import { keysOf } from '../../lib/values/key-cache.js';
import { joinSteps } from '../../lib/scheduling/join-steps.js';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { compareText } from '../../lib/text/compare-text.js';
import { sortSteps } from '../../lib/scheduling/sort-steps.js';
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import { explicitEmptyOf } from '../../machinery/explicit-empty.js';
import { isAlwaysEncoded, isStructInGo, zeroValue } from '../normal-form.js';
import { fieldsText } from '../lazy-fields.js';
import type { Field, ScalarName, StructType, Type } from '../type.js';
import { encoderOf, encodeTree, type Form } from './encode.js';
import { quoteJson } from './quote.js';

/** The bytes of encodeStored(), or those of encodeJson(). */
export function* encodePieces(type: StructType, object: object, form: Form = 'stored'): StepGenerator<Buffer> {
  if (type.unstructured !== undefined) return yield* treePieces(object);
  const pieces = new JsonPieces(form);
  yield* pieces.struct(type, object as Members);
  return yield* pieces.bytes();
}

/** The bytes of encodeTree(). */
export function* treePieces(object: object): StepGenerator<Buffer> {
  const pieces = new JsonPieces();
  yield* pieces.tree(object, 'sorted');
  return yield* pieces.bytes();
}

type Members = Readonly<Record<string, unknown>>;

/** So many entries are encoded in a few milliseconds. */
const MANY = 2048;

export class JsonPieces {
  readonly #pieces: Buffer[] = [];
  #text = '';
  #entries = 0;
  #listed: object | undefined;
  #names: readonly string[] = [];

  constructor(private readonly form: Form = 'stored') {}

  bytes(): StepGenerator<Buffer> {
    this.#pieces.push(Buffer.from(this.#text));
    return joinSteps(this.#pieces);
  }

  /** Whether this piece is long enough; its text becomes bytes at once, as a rope of millions of characters is slow. */
  #isFull(): boolean {
    if (++this.#entries % MANY !== 0) return false;
    this.#pieces.push(Buffer.from(this.#text));
    this.#text = '';
    return true;
  }

  *struct(type: StructType, members: Members): StepGenerator<void> {
    this.#text += '{';
    let separator = '';
    for (const field of type.fields) {
      const value = members[field.json];
      const isThere = this.#isPresent(field, value);
      if (!isThere && !isAlwaysEncoded(field)) continue;
      this.#text += `${separator}${quoteJson(field.json)}:`;
      separator = ',';
      if (isThere) yield* this.#value(field.type, value);
      else this.#text += field.pointer ? 'null' : encoderOf(field.type, this.form)(zeroValue(field.type));
      if (this.#isFull()) yield;
    }
    if (type.preserveUnknown === true) {
      const unknown = Object.keys(members).filter((name) => !type.byJson.has(name));
      for (const name of unknown.sort()) {
        this.#text += `${separator}${quoteJson(name)}:`;
        separator = ',';
        yield* this.tree(members[name], 'sorted');
        if (this.#isFull()) yield;
      }
    }
    this.#text += '}';
  }

  /** Whether a member has something to encode; one that is always encoded has its zero value otherwise. */
  #isPresent(field: Field, value: unknown): boolean {
    if (value === undefined || value === null) return false;
    const { type, pointer } = field;
    if (pointer || (this.form === 'sent' && isAlwaysEncoded(field))) return true;
    if (type.kind === 'list') return (value as readonly unknown[]).length > 0;
    if (type.kind === 'map') return this.#namesOf(value).length > 0;
    return isAlwaysEncoded(field) || isStructInGo(type) || (value !== '' && value !== 0 && value !== false);
  }

  *#value(type: Type, value: unknown): StepGenerator<void> {
    if (type.kind === 'struct') return yield* this.struct(type, (value ?? {}) as Members);
    if (type.kind === 'list' && Array.isArray(value)) {
      return yield* this.#items(value, (item) => this.#value(type.element, item), plainPieces(type.element, this.form));
    }
    if (type.kind === 'map' && isPlainObject(value)) {
      const names = yield* sortSteps([...this.#namesOf(value)], compareText);
      return yield* this.#members(
        value,
        names,
        (member) => this.#value(type.value, member),
        plainPieces(type.value, this.form),
      );
    }
    if (type.kind === 'scalar' && DIVIDED.has(type.scalar)) return yield* this.tree(value, 'asIs');
    this.#text += encoderOf(type, this.form)(value);
  }

  /** As encodeTree() encodes it; `carried` is as it is, with members that were sent empty. */
  *tree(input: unknown, order: 'sorted' | 'asIs' | 'carried'): StepGenerator<void> {
    const inner = (member: unknown): StepGenerator<void> => this.tree(member, order);
    const plain = (member: unknown): string | undefined => {
      if (typeof member !== 'object' || member === null) return encodeTree(member);
      if (order === 'carried' && explicitEmptyOf(member) !== undefined) return undefined;
      const owned = order === 'sorted' ? undefined : fieldsText(member);
      if (owned !== undefined) return owned;
      return !Array.isArray(member) && this.#namesOf(member).length === 0 ? '{}' : undefined;
    };
    const owned = order === 'sorted' || !isPlainObject(input) ? undefined : fieldsText(input);
    if (owned !== undefined) return void (this.#text += owned);
    const value = order === 'carried' && isPlainObject(input) ? withExplicitEmpty(input) : input;
    if (Array.isArray(value)) yield* this.#items(value, inner, plain);
    else if (isPlainObject(value)) {
      const names = this.#namesOf(value);
      yield* this.#members(value, order === 'sorted' ? yield* sortSteps([...names], compareText) : names, inner, plain);
    } else this.#text += encodeTree(value);
  }

  /** The caller that finds some reads them again at once. */
  #namesOf(object: object): readonly string[] {
    if (this.#listed !== object) {
      this.#listed = object;
      this.#names = keysOf(object);
    }
    return this.#names;
  }

  /** `plain`: the text of what has nothing in it, which needs no steps. */
  *#items(
    list: readonly unknown[],
    encode: (item: unknown) => StepGenerator<void>,
    plain: (item: unknown) => string | undefined,
  ): StepGenerator<void> {
    this.#text += '[';
    let separator = '';
    for (const item of list) {
      const text = plain(item);
      this.#text += text === undefined ? separator : `${separator}${text}`;
      separator = ',';
      if (text === undefined) yield* encode(item);
      if (this.#isFull()) yield;
    }
    this.#text += ']';
  }

  *#members(
    members: Members,
    names: readonly string[],
    encode: (member: unknown) => StepGenerator<void>,
    plain: (member: unknown) => string | undefined,
  ): StepGenerator<void> {
    // Listing and sorting so many was long.
    if (names.length > MANY) yield;
    this.#text += '{';
    let separator = '';
    for (const name of names) {
      const member = members[name];
      if (member === undefined) continue;
      const text = plain(member);
      this.#text += `${separator}${quoteJson(name)}:${text ?? ''}`;
      separator = ',';
      if (text === undefined) yield* encode(member);
      if (this.#isFull()) yield;
    }
    this.#text += '}';
  }
}

/** For values that have nothing in them. */
function plainPieces(type: Type, form: Form): (value: unknown) => string | undefined {
  if (type.kind !== 'scalar' || DIVIDED.has(type.scalar)) return () => undefined;
  return encoderOf(type, form);
}

const DIVIDED: ReadonlySet<ScalarName> = new Set(['any', 'rawExtension', 'fieldsV1']);

function withExplicitEmpty(object: Members): Members {
  const empty = explicitEmptyOf(object);
  if (empty === undefined) return object;
  const unset = Object.entries(empty).filter(([name]) => (object[name] ?? undefined) === undefined);
  return { ...object, ...Object.fromEntries(unset) };
}
