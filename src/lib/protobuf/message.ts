// Protobuf messages as plain objects, both directions from one definition:
//
//   const COMPACTION = message({ revision: int(1), physical: flag(2) });
//   COMPACTION.decode(bytes) → { revision: 7, physical: false }      what is absent is 0, false or empty; a message is undefined
//   COMPACTION.encode({ revision: 7 })                               what is absent, 0, false or empty is left out, as proto3 does
import { BackwardWriter } from './backward-writer.js';
import { Cursor, largeVarint, LENGTH_DELIMITED, readPacked, VARINT } from './wire.js';

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
}

type Values = Record<string, unknown>;

class Message<F extends Fields> {
  readonly #fields: readonly NamedField[];
  readonly #byTag = new Map<number, NamedField>();

  constructor(fields: F) {
    this.#fields = Object.entries(fields).map(([name, field]) => {
      const isDelimited = field.kind === 'bytes' || field.kind === 'text' || field.kind === 'message';
      const tag = (field.number << 3) | (isDelimited ? LENGTH_DELIMITED : VARINT);
      return { ...field, name, tag };
    });
    for (const field of this.#fields) {
      if (field.kind !== 'id') this.#byTag.set(field.tag, field);
      // A list of numbers comes in one piece, or one by one.
      if (field.isList && field.kind === 'int') this.#byTag.set((field.number << 3) | LENGTH_DELIMITED, field);
    }
  }

  /** Bytes of the result are views of `encoded`. */
  decode(encoded: Buffer): DecodedFields<F> {
    return this.decodeUpTo(new Cursor(encoded), encoded.length);
  }

  /** The message that lies between the cursor and `end`. */
  // hot: every request and answer
  decodeUpTo(cursor: Cursor, end: number): DecodedFields<F> {
    const values: Values = {};
    for (const field of this.#fields) values[field.name] = empty(field);
    while (cursor.at < end) {
      const tag = Number(cursor.varint());
      const field = this.#byTag.get(tag);
      if (field === undefined) cursor.skip(tag & WIRE_TYPE);
      else if (!field.isList) values[field.name] = decoded(field, cursor);
      else if (tag !== field.tag)
        for (const each of readPacked(cursor.bytes())) (values[field.name] as number[]).push(each);
      else (values[field.name] as unknown[]).push(decoded(field, cursor));
    }
    if (cursor.at !== end) throw new Error('protobuf: a field ends after its message');
    return values as DecodedFields<F>;
  }

  encode(values: EncodableFields<F>): Buffer {
    this.put(values, writer);
    return writer.take();
  }

  /** The last field first. */
  // hot: every request and answer
  put(values: EncodableFields<F>, out: BackwardWriter): void {
    for (let i = this.#fields.length - 1; i >= 0; i--) {
      const field = this.#fields[i] as NamedField;
      const value = (values as Values)[field.name];
      if (value === undefined) continue;
      if (!field.isList) {
        if (!isEmpty(value)) put(field, value, out);
        continue;
      }
      // An element is written though it be empty.
      const list = value as readonly unknown[];
      for (let at = list.length - 1; at >= 0; at--) put(field, list[at], out);
    }
  }
}

const WIRE_TYPE = 7;
const NO_BYTES = Buffer.alloc(0);
/** One message at a time is encoded, without a pause. */
const writer = new BackwardWriter();

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
      return nested?.().decodeUpTo(cursor, cursor.endOfBytes());
  }
}

function put({ number, kind, message: nested }: NamedField, value: unknown, out: BackwardWriter): void {
  switch (kind) {
    case 'id':
      return out.varint(number, idBytes(value as bigint));
    case 'int':
    case 'big':
      return out.int(number, value as number | bigint);
    case 'flag':
      return out.int(number, value === true ? 1 : 0);
    case 'bytes':
      return out.bytes(number, value as Buffer);
    case 'text':
      return out.string(number, value as string);
    case 'message': {
      const { end } = out;
      nested?.().put(value as object, out);
      return out.message(number, end);
    }
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
