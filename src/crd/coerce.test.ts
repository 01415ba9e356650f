import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Schema } from '../apis/apiextensions/schema-walk.js';
import { DecodeError } from '../schema/json/decode.js';
import { coercion } from './coerce.js';

const embedded = {
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-preserve-unknown-fields': true,
} as Schema;
const schema = {
  type: 'object',
  properties: { named: { type: 'object', additionalProperties: embedded }, one: embedded },
} as Schema;
const coerce = (tree: Record<string, unknown>): readonly string[] =>
  coercion({ schema, preserveUnknown: false }).coerce(tree, true);

test('what is wrong within a map is reported by the key that it has there', () => {
  const metadata = { foo: 1, creationTimestamp: 'x' };
  const why = 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"';
  const shown = 'Invalid value: {"creationTimestamp":"x","foo":1}';
  assert.throws(() => coerce({ one: { metadata } }), new DecodeError(`one.metadata: ${shown}: ${why}`));
  assert.throws(() => coerce({ named: { b: { metadata } } }), new DecodeError(`named[b].metadata: ${shown}: ${why}`));
  assert.throws(() => coerce({ named: { b: { kind: 5 } } }), /^Error: named\[b\]\.kind: Invalid value: 5/);
});

test('unknown members of metadata within a map are reported, too', () => {
  assert.deepEqual(coerce({ named: { b: { metadata: { foo: 1 } } }, one: { metadata: { foo: 1 } } }), [
    'named[b].metadata.foo',
    'one.metadata.foo',
  ]);
});
