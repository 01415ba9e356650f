// A small language for messages that mirror JSON documents: a table from a member's name to its number and its form.
import { isPlainObject } from '../../lib/values/plain-object.js';
import type { Writer } from '../protobuf/writer.js';
import { encodeYaml } from '../yaml/encode.js';

/** Writes the inside of a message. The writer works from the end to the start, so members come last to first. */
export type Message = (writer: Writer, value: unknown) => void;
/** Writes a member with its number, or nothing when it is empty. */
export type Member = (writer: Writer, number: number, value: unknown) => void;

const LENGTH_DELIMITED = 2;
const tag = (writer: Writer, number: number, wireType: number): void => writer.varint(number * 8 + wireType);

/** Members by their JSON name; `extensions` is the number of the field for all names starting with `x-`. */
export function message(members: Readonly<Record<string, readonly [number, Member]>>, extensions?: number): Message {
  const inOrder = Object.entries(members).sort(([, [a]], [, [b]]) => b - a);
  return (writer, value) => {
    if (!isPlainObject(value)) return;
    if (extensions !== undefined) writeExtensions(writer, extensions, value);
    for (const [name, [number, write]] of inOrder) {
      const member = value[name];
      if (member !== undefined && member !== null) write(writer, number, member);
    }
  };
}

function writeExtensions(writer: Writer, number: number, value: Readonly<Record<string, unknown>>): void {
  const own = Object.entries(value).filter(([name]) => name.startsWith('x-'));
  if (own.length > 0) named(any)(writer, number, Object.fromEntries(own));
}

export const text: Member = (writer, number, value) => {
  if (typeof value !== 'string' || value === '') return;
  writer.string(value);
  tag(writer, number, LENGTH_DELIMITED);
};

export const flag: Member = (writer, number, value) => {
  if (value !== true) return;
  writer.byte(1);
  tag(writer, number, 0);
};

export const integer: Member = (writer, number, value) => {
  if (!Number.isSafeInteger(value) || value === 0) return;
  writer.int(value as number);
  tag(writer, number, 0);
};

export const real: Member = (writer, number, value) => {
  if (typeof value !== 'number' || value === 0) return;
  writer.double(value);
  tag(writer, number, 1);
};

export const texts: Member = (writer, number, value) => {
  for (const item of listOf(value).toReversed()) {
    // Documents of other servers pass here, too, and may say anything.
    if (typeof item !== 'string') continue;
    writer.string(item);
    tag(writer, number, LENGTH_DELIMITED);
  }
};

export const one =
  (inside: Message): Member =>
  (writer, number, value) => {
    const before = writer.written;
    inside(writer, value);
    writer.varint(writer.written - before);
    tag(writer, number, LENGTH_DELIMITED);
  };

/** A list; a single value is a list of one. */
export const many =
  (inside: Message): Member =>
  (writer, number, value) => {
    for (const item of listOf(value).toReversed()) one(inside)(writer, number, item);
  };

/** An object with free names: a list of pairs. */
export const named = (inside: Message): Member => {
  const pair: Message = (writer, value) => {
    const [name, member] = value as [string, unknown];
    one(inside)(writer, 2, member);
    text(writer, 1, name);
  };
  return (writer, number, value) => {
    if (isPlainObject(value)) many(pair)(writer, number, Object.entries(value));
  };
};

/** A message that has only one member, for what JSON writes without a shell. */
export const shell =
  (number: number, member: Member): Message =>
  (writer, value) =>
    member(writer, number, value);

/** One of several members, by what the value looks like. */
export const choice =
  (choose: (value: unknown) => readonly [number, Member]): Message =>
  (writer, value) => {
    const [number, member] = choose(value);
    member(writer, number, value);
  };

/** A value of any shape travels as YAML. */
export const any: Message = (writer, value) => text(writer, 2, encodeYaml(value));

export const isReference = (value: unknown): boolean => isPlainObject(value) && value['$ref'] !== undefined;

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);
