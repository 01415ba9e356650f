// An object of a type that nothing was set in, as it prints: what a new object is compared with.
import type { JsonObject } from '../../machinery/object.js';
import type { Field, ScalarName, StructType } from '../type.js';

/** Shared: read only. */
export function zeroOf(type: StructType): Readonly<JsonObject> {
  let zero = CACHE.get(type);
  if (zero === undefined) {
    zero = build(type);
    CACHE.set(type, zero);
  }
  return zero;
}

const CACHE = new WeakMap<StructType, Readonly<JsonObject>>();

function build(type: StructType): JsonObject {
  const zero: JsonObject = {};
  for (const field of type.fields) {
    const value = zeroField(field);
    if (value !== undefined) zero[field.json] = value;
  }
  return zero;
}

function zeroField({ type, pointer, omitEmpty, omitZero, proto }: Field): unknown {
  // Only built-in fields have a protobuf number; a custom object prints nothing that was not set.
  if (omitZero === true || proto === 0) return undefined;
  if (pointer) return omitEmpty ? undefined : null;
  // A struct in place is never empty, so it prints whatever its omit rule says.
  if (type.kind === 'struct') return zeroOf(type);
  if (type.kind === 'scalar') return omitEmpty && !STRUCTS.has(type.scalar) ? undefined : (ZERO[type.scalar] ?? null);
  return omitEmpty ? undefined : null;
}

/** Scalars here that are structs in the reference. */
const STRUCTS: ReadonlySet<ScalarName> = new Set([
  'time',
  'microTime',
  'quantity',
  'duration',
  'intOrString',
  'rawExtension',
  'any',
]);

const ZERO: Partial<Record<ScalarName, unknown>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
  quantity: '0',
  intOrString: 0,
  duration: '0s',
};
