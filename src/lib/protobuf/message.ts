// Protobuf messages as plain objects, both directions from one definition:
//
//   const COMPACTION = message({ revision: int(1), physical: flag(2) });
//   COMPACTION.decode(bytes) → { revision: 7, physical: false }      what is absent is 0, false or empty; a message is undefined
//   COMPACTION.encode({ revision: 7 })                               what is absent, 0, false or empty is left out, as proto3 does
import { Cursor, largeVarint, LENGTH_DELIMITED, putVarint, readPacked, VARINT, varintLength } from './wire.js';

type Kind = 'int' | 'big' | 'id' | 'flag' | 'bytes' | 'text' | 'message';

/** `T` is what decoding gives, `E` what may be encoded. */
interface Field<T, E = T> {
  readonly number: number;
  readonly kind: Kind;
  readonly isList: boolean;
  readonly message?: () => Message<Fields>;
  /** Only for their types. */
  readonly decodes?: T;
  readonly encodes?: E;
}

type Fields = Readonly<Record<string, Field<unknown>>>;
type DecodedFields<F> = { readonly [K in keyof F]: F[K] extends Field<infer T, unknown> ? T : never };
type EncodableFields<F> = { readonly [K in keyof F]?: F[K] extends Field<unknown, infer E> ? E : never };

/** What decoding gives. */
export type Decoded<M> = M extends Message<infer F> ? DecodedFields<F> : never;
/** What may be encoded: anything may be left out. */
export type Encodable<M> = M extends Message<infer F> ? EncodableFields<F> : never;

/** Up to 2^53; negative ones too. */
export const int = (number: number): Field<number> => ({ number, kind: 'int', isList: false });
export const ints = (number: number): Field<readonly number[]> => ({ number, kind: 'int', isList: true });
/** 64 bits, signed. */
export const big = (number: number): Field<bigint> => ({ number, kind: 'big', isList: false });
/** 64 bits that are written, and that nobody reads: reading them would take longer than all the rest of a small message. */
export const id = (number: number): Field<undefined, bigint> => ({ number, kind: 'id', isList: false });
export const flag = (number: number): Field<boolean> => ({ number, kind: 'flag', isList: false });
export const bytes = (number: number): Field<Buffer> => ({ number, kind: 'bytes', isList: false });
export const bytesList = (number: number): Field<readonly Buffer[]> => ({ number, kind: 'bytes', isList: true });
export const text = (number: number): Field<string> => ({ number, kind: 'text', isList: false });
export const texts = (number: number): Field<readonly string[]> => ({ number, kind: 'text', isList: true });

export const one = <F extends Fields>(
  number: number,
  definition: Message<F>,
): Field<DecodedFields<F> | undefined, EncodableFields<F> | undefined> => ({
  number,
  kind: 'message',
  isList: false,
  message: () => definition as unknown as Message<Fields>,
});

export const many = <F extends Fields>(
  number: number,
  definition: Message<F>,
): Field<readonly DecodedFields<F>[], readonly EncodableFields<F>[]> => ({
  number,
  kind: 'message',
  isList: true,
  message: () => definition as unknown as Message<Fields>,
});

/** A message that is defined further down, because it refers to this one; `T` is what decoding gives. */
export const later = <T>(number: number, definition: () => unknown): Field<T | undefined> => ({
  number,
  kind: 'message',
  isList: false,
  message: () => definition() as Message<Fields>,
});

export const message = <F extends Fields>(fields: F): Message<F> => new Message(fields);

interface NamedField extends Field<unknown> {
  readonly name: string;
  /** The field's number and wire type. */
  readonly tag: number;
  readonly tagBytes: number;
}

type Values = Record<string, unknown>;
type Nested = (() => Message<Fields>) | undefined;

class Message<F extends Fields> {
  readonly #fields: readonly NamedField[];
  readonly #byTag = new Map<number, NamedField>();

  constructor(fields: F) {
    this.#fields = Object.entries(fields).map(([name, field]) => {
      const isDelimited = field.kind === 'bytes' || field.kind === 'text' || field.kind === 'message';
      const tag = (field.number << 3) | (isDelimited ? LENGTH_DELIMITED : VARINT);
      return { ...field, name, tag, tagBytes: varintLength(tag) };
    });
    for (const field of this.#fields) {
      if (field.kind !== 'id') this.#byTag.set(field.tag, field);
      // A list of numbers comes in one piece, or one by one.
      if (field.isList && field.kind === 'int') this.#byTag.set((field.number << 3) | LENGTH_DELIMITED, field);
    }
  }

  /** Bytes of the result are views of `encoded`. */
  // hot: every request and answer
  decode(encoded: Buffer): DecodedFields<F> {
    const values: Values = {};
    for (const field of this.#fields) values[field.name] = empty(field);
    const cursor = new Cursor(encoded);
    while (cursor.at < encoded.length) {
      const tag = Number(cursor.varint());
      const field = this.#byTag.get(tag);
      if (field === undefined) cursor.skip(tag & WIRE_TYPE);
      else if (!field.isList) values[field.name] = decoded(field, cursor);
      else if (tag !== field.tag)
        for (const each of readPacked(cursor.bytes())) (values[field.name] as number[]).push(each);
      else (values[field.name] as unknown[]).push(decoded(field, cursor));
    }
    return values as DecodedFields<F>;
  }

  // hot: every request and answer
  encode(values: EncodableFields<F>): Buffer {
    const out = Buffer.allocUnsafe(this.size(values));
    this.write(values, out, 0);
    return out;
  }

  /** How many bytes `encode` gives. */
  size(values: EncodableFields<F>): number {
    let size = 0;
    for (const field of this.#fields) {
      const value = (values as Values)[field.name];
      if (value === undefined) continue;
      if (!field.isList) size += sizeOf(field, value, false);
      else for (const each of value as readonly unknown[]) size += sizeOf(field, each, true);
    }
    return size;
  }

  /** Answers where it ends. */
  write(values: EncodableFields<F>, out: Buffer, start: number): number {
    let at = start;
    for (const field of this.#fields) {
      const value = (values as Values)[field.name];
      if (value === undefined) continue;
      if (!field.isList) at = put(field, value, out, at, false);
      else for (const each of value as readonly unknown[]) at = put(field, each, out, at, true);
    }
    return at;
  }
}

const WIRE_TYPE = 7;
const NO_BYTES = Buffer.alloc(0);

function empty({ kind, isList }: NamedField): unknown {
  if (isList) return [];
  switch (kind) {
    case 'int':
      return 0;
    case 'big':
      return 0n;
    case 'flag':
      return false;
    case 'bytes':
      return NO_BYTES;
    case 'text':
      return '';
    case 'id':
    case 'message':
      return undefined;
  }
}

function decoded({ kind, message: nested }: NamedField, cursor: Cursor): unknown {
  switch (kind) {
    case 'int':
      return Number(cursor.varint());
    case 'id':
    case 'big':
      return BigInt(cursor.varint());
    case 'flag':
      return cursor.varint() !== 0;
    case 'bytes':
      return cursor.bytes();
    case 'text':
      return cursor.bytes().toString();
    case 'message':
      return nested?.().decode(cursor.bytes());
  }
}

/** `inList`: an element, which is written though it be empty. */
function sizeOf({ kind, tagBytes, message: nested }: NamedField, value: unknown, inList: boolean): number {
  if (!inList && isEmpty(value)) return 0;
  switch (kind) {
    case 'int':
      return tagBytes + varintLength(value as number);
    case 'id':
      return tagBytes + idBytes(value as bigint).length;
    case 'big':
      return tagBytes + varintLength(value as bigint);
    case 'flag':
      return tagBytes + 1;
    case 'bytes':
      return withLength(tagBytes, (value as Buffer).length);
    case 'text':
      return withLength(tagBytes, Buffer.byteLength(value as string));
    case 'message':
      return withLength(tagBytes, sizeOfNested(nested, value));
  }
}

const sizeOfNested = (nested: Nested, value: unknown): number => nested?.().size(value as object) ?? 0;

const withLength = (tagBytes: number, length: number): number => tagBytes + varintLength(length) + length;

function put(field: NamedField, value: unknown, out: Buffer, start: number, inList: boolean): number {
  if (!inList && isEmpty(value)) return start;
  let at = putVarint(out, start, field.tag);
  switch (field.kind) {
    case 'id':
      for (const byte of idBytes(value as bigint)) out[at++] = byte;
      return at;
    case 'int':
    case 'big':
      return putVarint(out, at, value as number | bigint);
    case 'flag':
      out[at] = value === true ? 1 : 0;
      return at + 1;
    case 'bytes':
      at = putVarint(out, at, (value as Buffer).length);
      return at + (value as Buffer).copy(out, at);
    case 'text':
      at = putVarint(out, at, Buffer.byteLength(value as string));
      return at + out.write(value as string, at);
    case 'message':
      at = putVarint(out, at, sizeOfNested(field.message, value));
      return field.message?.().write(value as object, out, at) ?? at;
  }
}

const MAX_KNOWN_IDS = 16;
const knownIds = new Map<bigint, readonly number[]>();

/** A server writes the same few ids with every answer. */
function idBytes(value: bigint): readonly number[] {
  let known = knownIds.get(value);
  if (known === undefined) {
    known = largeVarint(value);
    if (knownIds.size >= MAX_KNOWN_IDS) knownIds.clear();
    knownIds.set(value, known);
  }
  return known;
}

const isEmpty = (value: unknown): boolean =>
  value === 0 || value === 0n || value === false || value === '' || (Buffer.isBuffer(value) && value.length === 0);
