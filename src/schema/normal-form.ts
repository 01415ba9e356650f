// What a member is when nobody set it: the rules that make a value equal to the parse of its own print.
import { isPlainObject } from '../lib/values/plain-object.js';
import type { Field, ScalarName, StructType, Type } from './type.js';

/** Whether the member is encoded even when nobody set it. */
export function isAlwaysEncoded(field: Field): boolean {
  if (!field.omitEmpty) return true;
  return field.omitZero !== true && !field.pointer && isStructInGo(field.type);
}

/** The value of a member that nobody set and that is encoded nevertheless. */
export const unsetValue = (field: Field): unknown => (field.pointer ? null : zeroValue(field.type));

/** The zero value of a type that is no pointer. A new object each time. */
export function zeroValue(type: Type): unknown {
  switch (type.kind) {
    case 'list':
    case 'map':
      return null;
    case 'struct':
      return zeroStruct(type);
    case 'scalar':
      return zeroScalars[type.scalar];
  }
}

/** What null means as an element of a list or map. Bytes are none there, for so they are stored. */
export const zeroElement = (type: Type): unknown =>
  type.kind === 'scalar' && type.scalar === 'bytes' ? '' : zeroValue(type);

export function zeroStruct(type: StructType): Record<string, unknown> {
  const zero: Record<string, unknown> = {};
  for (const field of encodedFields(type)) zero[field.json] = unsetValue(field);
  return zero;
}

/** The fields of a type that are always encoded. */
export function encodedFields(type: StructType): readonly Field[] {
  let fields = alwaysEncoded.get(type);
  if (fields === undefined) {
    fields = type.fields.filter(isAlwaysEncoded);
    alwaysEncoded.set(type, fields);
  }
  return fields;
}

/** Empty in the sense of an omit rule; a struct or a pointer's target never is. */
function isEmptyValue(value: unknown): boolean {
  if (value === '' || value === 0 || value === false || value === null || value === undefined || value === 0n)
    return true;
  if (Array.isArray(value)) return value.length === 0;
  if (!isPlainObject(value)) return false;
  for (const _ in value) return false;
  return true;
}

/** Whether the member may be left out when it has this value. */
export function isOmitted(field: Field, value: unknown): boolean {
  if (!field.omitEmpty) return false;
  if (value === null || value === undefined)
    return field.pointer || field.omitZero === true || !isStructInGo(field.type);
  return !field.pointer && !isStructInGo(field.type) && isEmptyValue(value);
}

const alwaysEncoded = new WeakMap<StructType, readonly Field[]>();

const structScalars = new Set<ScalarName>([
  'quantity',
  'time',
  'microTime',
  'duration',
  'intOrString',
  'any',
  'rawExtension',
  'fieldsV1',
  'schemaOrArray',
  'schemaOrBool',
  'schemaOrStringArray',
]);

/** Structs, and the scalars that are structs in kube-apiserver: no omit rule finds them empty. */
export const isStructInGo = (type: Type): boolean =>
  type.kind === 'struct' || (type.kind === 'scalar' && structScalars.has(type.scalar));

const zeroScalars: Readonly<Record<ScalarName, unknown>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
  bytes: null,
  quantity: '0',
  time: null,
  microTime: null,
  duration: '0s',
  intOrString: 0,
  any: null,
  rawExtension: null,
  fieldsV1: null,
  schemaOrArray: null,
  schemaOrBool: false,
  schemaOrStringArray: null,
};
