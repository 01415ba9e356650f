// What tests of all types have in common.
import fc from 'fast-check';
import type { ScalarName, StructType, Type } from './type.js';

const made = new Map<string, fc.Arbitrary<Record<string, unknown>>>();

/** Made-up objects of a type, so many levels deep. */
export function objectOf(type: StructType, depth: number): fc.Arbitrary<Record<string, unknown>> {
  const key = `${depth} ${type.name}`;
  const known = made.get(key) ?? makeObjects(type, depth);
  made.set(key, known);
  return known;
}

function makeObjects(type: StructType, depth: number): fc.Arbitrary<Record<string, unknown>> {
  const members: Record<string, fc.Arbitrary<unknown>> = {};
  for (const field of type.fields) {
    // Protobuf has no place for the kind of an object inside another.
    if (type.isKind === true && (field.json === 'kind' || field.json === 'apiVersion')) continue;
    if (depth > 0 || field.type.kind === 'scalar') members[field.json] = valueOf(field.type, depth - 1);
  }
  return fc.record(members, { requiredKeys: [] }).map((record) => ({ ...record }));
}

function valueOf(type: Type, depth: number): fc.Arbitrary<unknown> {
  switch (type.kind) {
    case 'struct':
      return depth > 0 ? objectOf(type, depth - 1) : fc.constant({});
    case 'list':
      return depth > 0 ? fc.array(valueOf(type.element, depth - 1), { maxLength: 2 }) : fc.constant([]);
    case 'map':
      return depth > 0
        ? fc.dictionary(text, valueOf(type.value, depth - 1), { maxKeys: 2, noNullPrototype: true })
        : fc.constant({});
    case 'scalar':
      return scalars[type.scalar];
  }
}

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const tree = fc.dictionary(text, fc.oneof(text, int32, fc.boolean(), fc.constant(null)), {
  noNullPrototype: true,
  maxKeys: 3,
});
const seconds = fc.integer({ min: -62_135_596_799, max: 253_402_300_799 });

const scalars: Readonly<Record<ScalarName, fc.Arbitrary<unknown>>> = {
  string: text,
  bool: fc.boolean(),
  int32,
  int64: fc.oneof(fc.maxSafeInteger(), fc.constantFrom(2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n)),
  double: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value)),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  quantity: fc
    .tuple(fc.integer({ min: -99_999, max: 99_999 }), fc.constantFrom('', 'm', 'k', 'Ki', 'Mi', 'Gi', 'e3', 'n'))
    .map(([number, suffix]) => `${number}${suffix}`),
  time: seconds.map((value) => new Date(value * 1000).toISOString().replace('.000Z', 'Z')),
  microTime: seconds.map((value) => new Date(value * 1000).toISOString().replace('.000Z', '.000123Z')),
  duration: fc.integer({ min: 0, max: 10 ** 9 }).map((value) => `${value}ms`),
  intOrString: fc.oneof(text, int32),
  any: tree,
  rawExtension: tree,
  fieldsV1: tree,
  schemaOrArray: fc.oneof(fc.constant({ type: 'string' }), fc.constant([{ type: 'object' }, {}])),
  schemaOrBool: fc.oneof(fc.boolean(), fc.constant({ type: 'string' })),
  schemaOrStringArray: fc.oneof(fc.constant(['a', 'b']), fc.constant({ type: 'string' })),
};
