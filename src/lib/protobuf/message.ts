// Protobuf messages as plain objects, both directions from one definition:
//
//   const COMPACTION = message({ revision: int(1), physical: flag(2) });
//   COMPACTION.decode(bytes) → { revision: 7, physical: false }      what is absent is 0, false or empty; a message is undefined
//   COMPACTION.encode({ revision: 7 })                               what is absent, 0, false or empty is left out, as proto3 does
//
// Both directions are written as source when a message is first decoded or encoded: what it would take to interpret the
// definition for each field is several times what the field takes.
import { compileFunction, Scope } from '../values/compile-function.js';
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

type Decode = (cursor: Cursor, end: number) => unknown;
type Put = (values: object, out: BackwardWriter) => void;

class Message<F extends Fields> {
  readonly #fields: readonly NamedField[];
  #decode: Decode | undefined = undefined;
  #put: Put | undefined = undefined;

  constructor(fields: F) {
    this.#fields = Object.entries(fields).map(([name, field]) => {
      const isDelimited = field.kind === 'bytes' || field.kind === 'text' || field.kind === 'message';
      const tag = (field.number << 3) | (isDelimited ? LENGTH_DELIMITED : VARINT);
      return { ...field, name, tag };
    });
  }

  /** Bytes of the result are views of `encoded`. */
  decode(encoded: Buffer): DecodedFields<F> {
    return this.decodeUpTo(new Cursor(encoded), encoded.length);
  }

  /** The message that lies between the cursor and `end`. */
  // hot: every request and answer
  decodeUpTo(cursor: Cursor, end: number): DecodedFields<F> {
    return (this.#decode ??= compileDecode(this.#fields))(cursor, end) as DecodedFields<F>;
  }

  encode(values: EncodableFields<F>): Buffer {
    this.put(values, writer);
    return writer.take();
  }

  // hot: every request and answer
  put(values: EncodableFields<F>, out: BackwardWriter): void {
    (this.#put ??= compilePut(this.#fields))(values, out);
  }
}

const NO_BYTES = Buffer.alloc(0);
/** One message at a time is encoded, without a pause. */
const writer = new BackwardWriter();

/**
 * A variable for each field, and a case for each tag:
 *
 *   let $key = NO_BYTES; let $limit = 0;
 *   while (c.at < end) { const tag = c.int(); switch (tag) { case 10: $key = c.bytes(); break; … default: c.skip(tag & 7); } }
 *   return { key: $key, limit: $limit };
 */
function compileDecode(fields: readonly NamedField[]): Decode {
  const scope = new Scope();
  scope.values.set('NO_BYTES', NO_BYTES).set('readPacked', readPacked);
  const known = fields.filter(({ kind }) => kind !== 'id');
  const cases = known.map((field) => {
    const value = decodedAs(field, scope);
    return `case ${field.tag}: ${field.isList ? `$${field.name}.push(${value})` : `$${field.name} = ${value}`}; break;`;
  });
  // A list of numbers comes in one piece, or one by one.
  for (const { name, number, kind, isList } of known) {
    if (!isList || kind !== 'int') continue;
    const packed = (number << 3) | LENGTH_DELIMITED;
    cases.push(`case ${packed}: for (const each of readPacked(c.bytes())) $${name}.push(each); break;`);
  }
  return compileFunction<Decode>(
    scope.values,
    `return function decode(c, end) {
      ${fields.map((field) => `let $${field.name} = ${emptyAs(field)};`).join(' ')}
      while (c.at < end) {
        const tag = c.int();
        switch (tag) { ${cases.join(' ')} default: c.skip(tag & 7); }
      }
      if (c.at !== end) throw new Error('protobuf: a field ends after its message');
      return { ${fields.map(({ name }) => `${name}: $${name}`).join(', ')} };
    };`,
  );
}

function emptyAs({ kind, isList }: NamedField): string {
  if (isList) return '[]';
  switch (kind) {
    case 'int':
      return '0';
    case 'big':
      return '0n';
    case 'flag':
      return 'false';
    case 'bytes':
      return 'NO_BYTES';
    case 'text':
      return "''";
    case 'id':
    case 'message':
      return 'undefined';
  }
}

function decodedAs({ kind, message: nested }: NamedField, scope: Scope): string {
  switch (kind) {
    case 'int':
      return 'c.int()';
    case 'id':
    case 'big':
      return 'BigInt(c.varint())';
    case 'flag':
      return 'c.int() !== 0';
    case 'bytes':
      return 'c.bytes()';
    case 'text':
      return 'c.bytes().toString()';
    case 'message':
      return `${scope.use('message', nested?.())}.decodeUpTo(c, c.endOfBytes())`;
  }
}

/** The last field first; of one that is no list what is empty is left out, and an element is written though it be. */
function compilePut(fields: readonly NamedField[]): Put {
  const scope = new Scope();
  scope.values.set('idBytes', idBytes);
  const lines = fields.toReversed().map((field) => {
    const { name, isList, kind } = field;
    const put = putAs(field, scope);
    if (isList) return `v = o.${name}; if (v !== undefined) for (i = v.length - 1; i >= 0; i--) { e = v[i]; ${put} }`;
    const isThere = kind === 'message' ? 'e !== undefined' : kind === 'bytes' ? 'e?.length > 0' : 'e';
    return `e = o.${name}; if (${isThere}) { ${put} }`;
  });
  return compileFunction<Put>(
    scope.values,
    `return function put(o, w) { let v, e, i, end;
      ${lines.join('\n')}
    };`,
  );
}

function putAs({ number, kind, message: nested }: NamedField, scope: Scope): string {
  switch (kind) {
    case 'id':
      return `w.varint(${number}, idBytes(e));`;
    case 'int':
    case 'big':
      return `w.int(${number}, e);`;
    case 'flag':
      return `w.int(${number}, e ? 1 : 0);`;
    case 'bytes':
      return `w.bytes(${number}, e);`;
    case 'text':
      return `w.string(${number}, e);`;
    case 'message':
      return `end = w.end; ${scope.use('message', nested?.())}.put(e, w); w.message(${number}, end);`;
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
