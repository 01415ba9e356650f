// Encode then decode is the identity, for made-up objects of every type in every wire form.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { catalogueTypeNames, mustType } from './catalogue.js';
import { decodeCbor } from './cbor/decode.js';
import { encodeCbor } from './cbor/encode.js';
import { equalByType } from './deep-equal.js';
import { decodeJson, DecodeError, normalize, parseJsonTree } from './json/decode.js';
import { encodeJson, encodeTree } from './json/encode.js';
import { decodeMessage } from './protobuf/decode.js';
import { encodeMessage } from './protobuf/encode.js';
import type { ScalarName, StructType, Type } from './type.js';
import { parseYaml } from './yaml/parse.js';
import { encodeYaml } from './yaml/encode.js';

const runs = { numRuns: 2, seed: 20_340 };

for (const name of catalogueTypeNames()) {
  const type = mustType(name);
  test(`${name} survives every wire form`, () => {
    fc.assert(
      fc.property(objectOf(type, 4), (raw) => {
        const object = normalize(type, raw);
        const text = encodeJson(type, object);
        const again = decodeJson(type, text, { strict: true });
        assert.deepEqual(again.strictErrors, []);
        assert.deepEqual(again.object, object);
        assert.equal(encodeJson(type, again.object), text);

        assert.deepEqual(decodeCbor(type, encodeCbor(type, object), { strict: true }), again);

        const tree = parseJsonTree(text).value;
        assert.equal(encodeTree(parseYaml(encodeYaml(tree)).value), encodeTree(tree));

        if (!hasProtobuf(type, new Set())) return;
        const bytes = encodeMessage(type, object);
        const decoded = decodeMessage(type, bytes);
        assert.ok(equalByType(type, decoded, object), `${encodeJson(type, decoded)}\n${text}`);
        assert.deepEqual(encodeMessage(type, decoded), bytes);
      }),
      runs,
    );
  });
}

test('truncated or random protobuf ends in an error or in an object, never in a crash', () => {
  const type = mustType('io.k8s.api.core.v1.Pod');
  const attempt = (bytes: Buffer): void => {
    try {
      decodeMessage(type, bytes);
    } catch (error) {
      assert.ok(error instanceof DecodeError, String(error));
    }
  };
  fc.assert(
    fc.property(objectOf(type, 5), fc.nat(), (raw, cut) => {
      const bytes = encodeMessage(type, normalize(type, raw));
      attempt(bytes.subarray(0, cut % (bytes.length + 1)));
    }),
    { numRuns: 200, seed: 7 },
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => attempt(Buffer.from(bytes))),
    { numRuns: 2000, seed: 7 },
  );
});

/** Whether every field on the way has a number: tables, configuration files and events of the audit log have not. */
function hasProtobuf(type: Type, seen: Set<StructType>): boolean {
  if (type.kind === 'list') return hasProtobuf(type.element, seen);
  if (type.kind === 'map') return hasProtobuf(type.value, seen);
  if (type.kind === 'scalar' || seen.has(type)) return true;
  seen.add(type);
  return type.fields.every(
    (field) =>
      (field.proto > 0 || field.json === 'kind' || field.json === 'apiVersion') && hasProtobuf(field.type, seen),
  );
}

const made = new Map<string, fc.Arbitrary<Record<string, unknown>>>();

function objectOf(type: StructType, depth: number): fc.Arbitrary<Record<string, unknown>> {
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
