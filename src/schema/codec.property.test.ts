// Encode then decode is the identity, for made-up objects of every type in every wire form.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { catalogueTypeNames, mustType } from './catalogue.js';
import { decodeCbor } from './cbor/decode.js';
import { encodeCbor } from './cbor/encode.js';
import { equalByType } from './deep-equal.js';
import { decodeJson, DecodeError, normalize, parseJsonTree } from './json/decode.js';
import { decodeStoredJson } from './json/decode-stored.js';
import { encodeJson, encodeStored, encodeTree } from './json/encode.js';
import { decodeMessage } from './protobuf/decode.js';
import { encodeMessage } from './protobuf/encode.js';
import { objectOf } from './testing.js';
import type { StructType, Type } from './type.js';
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

        const stored = Buffer.from(encodeStored(type, withOwner(type, object)));
        assert.deepEqual(decodeStoredJson(type, stored), decodeJson(type, stored, { strict: false }).object);

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

/** With owned fields, as nearly all objects have that are kept. */
function withOwner(type: StructType, object: Record<string, unknown>): Record<string, unknown> {
  if (!type.byJson.has('metadata') || !type.byJson.has('apiVersion')) return object;
  const entry = { operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:a': {} } };
  return normalize(type, { ...object, metadata: { name: 'a', managedFields: [entry] } });
}

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
