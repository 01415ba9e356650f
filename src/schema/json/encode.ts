// hot: an object encoded as Go's encoding/json encodes kube-apiserver's type, byte for byte.
//
// Each type gets a function of its own, written as source on first use: reading members by constant names and joining
// constant prefixes is what keeps it near the speed of JSON.stringify.

import { isAlwaysEncoded, isStructInGo, zeroValue } from '../normal-form.js';
import { compileFunction, Scope } from '../../lib/values/compile-function.js';
import { FloatLiteral } from '../../lib/json/float-literal.js';
import { sortTexts } from '../../lib/values/sort-few.js';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { mustType } from '../catalogue.js';
import { fieldsText } from '../lazy-fields.js';
import type { Field, ScalarName, StructType, Type } from '../type.js';
import { quoteJson } from './quote.js';

export const encodeJson = (type: StructType, object: object): string =>
  type.unstructured === undefined ? structEncoder(type, 'sent')(object) : encodeTree(object);

/**
 * Encodes an object that is kept. kube-apiserver keeps objects as protobuf, which knows no difference between an
 * empty list and none: what was sent as `[]` reads back as `null` where it is encoded at all.
 */
export const encodeStored = (type: StructType, object: object): string =>
  type.unstructured === undefined ? structEncoder(type, 'stored')(object) : encodeTree(object);

/** A tree without a type. Members are sorted by name, as a custom resource's are, unless `order` is 'asIs'. */
export function encodeTree(value: unknown, order: 'sorted' | 'asIs' = 'sorted'): string {
  switch (typeof value) {
    case 'string':
      return quoteJson(value);
    case 'number':
      return encodeNumber(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'bigint':
      return value.toString();
    case 'object': {
      if (value === null) return 'null';
      if (Array.isArray(value)) return encodeTreeList(value, order);
      if (order === 'asIs' && value instanceof FloatLiteral) return value.text;
      return encodeTreeObject(value, order);
    }
    default:
      return 'null';
  }
}

type Encoder = (value: unknown) => string;
export type Form = 'sent' | 'stored';

const structEncoders: Readonly<Record<Form, WeakMap<StructType, Encoder>>> = {
  sent: new WeakMap(),
  stored: new WeakMap(),
};

function structEncoder(type: StructType, form: Form): Encoder {
  let known = structEncoders[form].get(type);
  if (known === undefined) {
    known = compileStruct(type, form);
    structEncoders[form].set(type, known);
  }
  return known;
}

/** Writes the function of a type. */
function compileStruct(type: StructType, form: Form): Encoder {
  const scope = new Scope();
  scope.values.set('quote', quoteJson);
  scope.values.set('hasMembers', hasMembers);
  const lines = type.fields.map((field) => memberSource(field, scope, form));
  if (type.preserveUnknown === true) lines.push(unknownSource(type, scope));
  return compileFunction<Encoder>(
    scope.values,
    ['return function encode(o) {', 'let s = "", v;', ...lines, 'return s === "" ? "{}" : s + "}";', '};'].join('\n'),
  );
}

function memberSource(field: Field, scope: Scope, form: Form): string {
  const key = JSON.stringify(field.json);
  const head = `(s === "" ? ${JSON.stringify(`{${key}:`)} : ${JSON.stringify(`,${key}:`)})`;
  const read = `  v = o[${key}];`;
  const encoded = encodeSource(field.type, scope, form);
  if (isAlwaysEncoded(field)) {
    const zero = field.pointer ? '"null"' : scope.use('zero', encoderOf(field.type, form)(zeroValue(field.type)));
    const isUnset = form === 'stored' ? isNothingSource(field) : 'v === undefined || v === null';
    return `${read} s += ${head} + (${isUnset} ? ${zero} : ${encoded});`;
  }
  return `${read} if (${presentSource(field)}) s += ${head} + ${encoded};`;
}

/** The test that a kept member has nothing in it. */
function isNothingSource({ type, pointer }: Field): string {
  const isUnset = 'v === undefined || v === null';
  if (pointer) return isUnset;
  if (type.kind === 'list') return `${isUnset} || v.length === 0`;
  return type.kind === 'map' ? `${isUnset} || !hasMembers(v)` : isUnset;
}

/** The test that a member which may be left out is there. */
function presentSource({ type, pointer }: Field): string {
  const isSet = 'v !== undefined && v !== null';
  if (pointer || isStructInGo(type)) return isSet;
  if (type.kind === 'list') return `${isSet} && v.length > 0`;
  if (type.kind === 'map') return `${isSet} && hasMembers(v)`;
  return `${isSet} && v !== "" && v !== 0 && v !== false`;
}

function encodeSource(type: Type, scope: Scope, form: Form): string {
  if (type.kind === 'scalar') {
    switch (type.scalar) {
      case 'string':
        return 'quote(v)';
      // Canonical by construction: nothing in them needs an escape.
      case 'time':
      case 'microTime':
      case 'bytes':
        return `'"' + v + '"'`;
      case 'bool':
        return '(v ? "true" : "false")';
      case 'int32':
      case 'int64':
        return `(typeof v === "number" ? "" + v : v.toString())`;
      default:
    }
  }
  return `${scope.use('encode', encoderOf(type, form))}(v)`;
}

function hasMembers(map: object): boolean {
  for (const _ in map) return true;
  return false;
}

function unknownSource(type: StructType, scope: Scope): string {
  const known = scope.use('known', type.byJson);
  const encode = scope.use('encode', encodeTree);
  return `  for (const k of Object.keys(o).sort()) if (!${known}.has(k)) s += (s === "" ? "{" : ",") + quote(k) + ":" + ${encode}(o[k]);`;
}

export function encoderOf(type: Type, form: Form): Encoder {
  switch (type.kind) {
    case 'struct': {
      // Looked up on first use: types refer to each other in circles.
      let encode: Encoder | undefined;
      return (value) => (encode ??= structEncoder(type, form))(value ?? {});
    }
    case 'list':
      return listEncoder(encoderOf(type.element, form));
    case 'map':
      return mapEncoder(encoderOf(type.value, form));
    case 'scalar':
      return scalarEncoders[type.scalar];
  }
}

const listEncoder =
  (encode: Encoder): Encoder =>
  (value) => {
    if (!Array.isArray(value)) return 'null';
    if (value.length === 0) return '[]';
    let text = `[${encode(value[0])}`;
    for (let i = 1; i < value.length; i++) text += `,${encode(value[i])}`;
    return `${text}]`;
  };

const mapEncoder =
  (encode: Encoder): Encoder =>
  (value) => {
    if (typeof value !== 'object' || value === null) return 'null';
    const members = value as Readonly<Record<string, unknown>>;
    const names = Object.keys(members);
    if (names.length === 0) return '{}';
    sortTexts(names);
    let text = '';
    for (const name of names) text += `${text === '' ? '{' : ','}${quoteJson(name)}:${encode(members[name])}`;
    return `${text}}`;
  };

const encodeOpaque: Encoder = (value) => encodeTree(value, 'asIs');
const encodeText: Encoder = (value) => quoteJson(typeof value === 'string' ? value : '');
const encodeTextOrNull: Encoder = (value) => (typeof value === 'string' ? quoteJson(value) : 'null');
const encodeInteger: Encoder = (value) =>
  typeof value === 'number' || typeof value === 'bigint' ? value.toString() : '0';

const scalarEncoders: Readonly<Record<ScalarName, Encoder>> = {
  string: encodeText,
  bool: (value) => (value === true ? 'true' : 'false'),
  int32: encodeInteger,
  int64: encodeInteger,
  double: (value) => (typeof value === 'number' ? encodeNumber(value) : '0'),
  bytes: encodeTextOrNull,
  quantity: (value) => quoteJson(typeof value === 'string' ? value : '0'),
  time: encodeTextOrNull,
  microTime: encodeTextOrNull,
  duration: (value) => quoteJson(typeof value === 'string' ? value : '0s'),
  intOrString: (value) => (typeof value === 'string' ? quoteJson(value) : encodeInteger(value)),
  any: encodeOpaque,
  rawExtension: encodeOpaque,
  fieldsV1: encodeFields,
  schemaOrArray: encodeSchemaOr,
  schemaOrBool: (value) => (typeof value === 'boolean' ? String(value) : encodeSchemaOr(value ?? false)),
  schemaOrStringArray: encodeSchemaOr,
};

function encodeSchemaOr(value: unknown): string {
  if (typeof value === 'string') return quoteJson(value);
  if (Array.isArray(value)) return value.length === 0 ? 'null' : `[${value.map(encodeSchemaOr).join(',')}]`;
  if (typeof value !== 'object' || value === null) return encodeTree(value);
  return structEncoder(
    mustType('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps'),
    'sent',
  )(value);
}

/** Go and JavaScript agree on floats but for minus zero. */
const encodeNumber = (value: number): string =>
  Object.is(value, -0) ? '0' : Number.isFinite(value) ? `${value}` : 'null';

/** Most of what a small object's encoding consists of, and nearly always equal. */
function encodeFields(value: unknown): string {
  return (isPlainObject(value) ? fieldsText(value) : undefined) ?? fieldSetText(value);
}

/** A set of owned fields, in the order it has. */
export function fieldSetText(value: unknown): string {
  // What is no object has no place in a field set, but a client may send it.
  if (!isPlainObject(value)) return encodeOpaque(value);
  let text = '';
  for (const key in value) text += `${text === '' ? '{' : ','}${quoteJson(key)}:${fieldSetText(value[key])}`;
  return text === '' ? '{}' : `${text}}`;
}

function encodeTreeList(value: readonly unknown[], order: 'sorted' | 'asIs'): string {
  if (value.length === 0) return '[]';
  let text = `[${encodeTree(value[0], order)}`;
  for (let i = 1; i < value.length; i++) text += `,${encodeTree(value[i], order)}`;
  return `${text}]`;
}

function encodeTreeObject(value: object, order: 'sorted' | 'asIs'): string {
  const members = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(members);
  if (order === 'sorted') sortTexts(names);
  let text = '';
  for (const name of names) {
    const member = members[name];
    if (member === undefined) continue;
    text += `${text === '' ? '{' : ','}${quoteJson(name)}:${encodeTree(member, order)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}
