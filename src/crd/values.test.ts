// The rules on the values of custom resources: what is dropped, filled in, refused and kept.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldErrorText } from '../machinery/field-error.js';
import type { JSONSchemaProps } from '../schema/generated/apiextensions.v1.js';
import { DecodeError, decodeJson } from '../schema/json/decode.js';
import { encodeJson } from '../schema/json/encode.js';
import { compileType } from './compile-type.js';
import { validateUniqueItems } from './list-uniqueness.js';
import { prune } from './prune.js';
import { dropForbiddenNulls, MAX_FILLED_BYTES, setDefaults } from './set-defaults.js';

const object = (properties: Record<string, JSONSchemaProps>, more: Partial<JSONSchemaProps> = {}): JSONSchemaProps => ({
  type: 'object',
  properties,
  ...more,
});
const text: JSONSchemaProps = { type: 'string' };
const open = { 'x-kubernetes-preserve-unknown-fields': true };

test('pruning drops what the schema does not know and says where it was, in order', () => {
  const schema = object({
    spec: object({
      known: text,
      list: { type: 'array', items: object({ a: text }) },
      map: { type: 'object', additionalProperties: object({ a: text }) },
    }),
  });
  const value = {
    apiVersion: 'v1',
    kind: 'X',
    metadata: { anything: 1 },
    extra: 1,
    spec: { zz: { deep: 1 }, known: 'k', list: [{ a: 'x', b: 1 }], map: { m: { a: 'x', c: 1 } } },
  };
  assert.deepEqual(prune(value, schema, true), ['extra', 'spec.list[0].b', 'spec.map.m.c', 'spec.zz']);
  assert.deepEqual(value, {
    apiVersion: 'v1',
    kind: 'X',
    metadata: { anything: 1 },
    spec: { known: 'k', list: [{ a: 'x' }], map: { m: { a: 'x' } } },
  });
});

test('a place that keeps unknown members still prunes those with a schema of their own', () => {
  const schema = object({ free: { ...object({ strict: object({ a: text }) }), ...open } });
  const value = { free: { any: { thing: [1] }, strict: { a: 'x', b: 1 } } };
  assert.deepEqual(prune(value, schema, true), ['free.strict.b']);
  assert.deepEqual(value, { free: { any: { thing: [1] }, strict: { a: 'x' } } });
});

test('members named like those of every object are members like any other', () => {
  const value = JSON.parse('{"spec":{"constructor":1,"toString":2,"a":"x"}}') as { spec: object };
  assert.deepEqual(prune(value, object({ spec: object({ a: text }) }), true), ['spec.constructor', 'spec.toString']);
});

test('defaults fill in what is missing and what is null where no null may be', () => {
  const schema = object({
    a: { type: 'integer', default: 1 },
    b: { type: 'integer', default: 2 },
    kept: { type: 'integer', default: 3, nullable: true },
    inner: { ...object({ deep: { type: 'string', default: 'd' } }), default: {} },
    list: { type: 'array', items: object({ p: { type: 'string', default: 'TCP' } }) },
    map: { type: 'object', additionalProperties: { type: 'integer', default: 7 } },
  });
  const value = { b: null, kept: null, list: [{}, { p: 'UDP' }], map: { x: null } };
  setDefaults(value, schema);
  assert.deepEqual(value, {
    b: 2,
    kept: null,
    list: [{ p: 'TCP' }, { p: 'UDP' }],
    map: { x: 7 },
    a: 1,
    inner: { deep: 'd' },
  });
});

test('what defaults fill in is bounded, however small the object is', () => {
  const long = 'd'.repeat(100_000);
  const schema = object({ list: { type: 'array', items: object({ text: { type: 'string', default: long } }) } });
  const items = (count: number): object => ({ list: Array.from({ length: count }, () => ({})) });
  const most = Math.floor(MAX_FILLED_BYTES / (long.length + '"text":"",'.length));
  assert.doesNotThrow(() => setDefaults(items(most), schema));
  assert.throws(() => setDefaults(items(most + 1), schema), { code: 413 });
});

test('defaults are copies: what is done to an object does not change the schema', () => {
  const schema = object({ list: { type: 'array', items: text, default: ['x'] } });
  const value: { list?: string[] } = {};
  setDefaults(value, schema);
  value.list?.push('y');
  assert.deepEqual(schema.properties?.['list']?.default, ['x']);
});

test('nulls go where none may be, unless a default replaces them', () => {
  const schema = object({ a: text, b: { ...text, nullable: true }, c: { ...text, default: 'x' } });
  const value = { a: null, b: null, c: null, unknown: null };
  dropForbiddenNulls(value, schema);
  assert.deepEqual(value, { b: null, c: null, unknown: null });
});

test('sets and maps hold no item twice', () => {
  const schema = object({
    set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    one: {
      type: 'array',
      items: object({ k: text }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    },
    two: {
      type: 'array',
      items: object({ n: { type: 'integer' }, p: text }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['n', 'p'],
    },
  });
  const value = {
    set: ['a', 'b', 'a', 'a'],
    one: [{}, {}, { k: 'x' }],
    two: [
      { n: 1, p: 'a' },
      { n: 1, p: 'b' },
      { p: 'a', n: 1 },
    ],
  };
  assert.deepEqual(validateUniqueItems(value, schema, undefined).map(fieldErrorText), [
    'one[1]: Duplicate value: {}',
    'set[2]: Duplicate value: "a"',
    'two[2]: Duplicate value: {"n":1,"p":"a"}',
  ]);
});

test('an integer and a float of the same value are two items, unless they are of several keys', () => {
  const number: JSONSchemaProps = { type: 'number' };
  const map = (...keys: string[]): JSONSchemaProps => ({
    type: 'array',
    items: object({ k: number, l: number }),
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
  });
  const schema = object({
    set: { type: 'array', items: number, 'x-kubernetes-list-type': 'set' },
    one: map('k'),
    two: map('k', 'l'),
  });
  const type = compileType({ name: 'test.v1.X', schema, preserveUnknown: false });
  const body = '{"set":[1,1E0,1.0],"one":[{"k":1},{"k":1.0},{}],"two":[{"k":1,"l":1},{"k":1.0,"l":1}]}';
  const { object: value } = decodeJson(type, body, { strict: false });
  assert.deepEqual(validateUniqueItems(value, schema, undefined).map(fieldErrorText), [
    'set[2]: Duplicate value: 1',
    'two[1]: Duplicate value: {"k":1,"l":1}',
  ]);
});

test('a custom resource reads strictly and encodes its members by name', () => {
  const schema = object({ alpha: text, spec: object({ n: { type: 'integer' } }) });
  const type = compileType({ name: 'test.v1.X', schema, preserveUnknown: false });
  const body =
    '{"kind":"X","spec":{"n":1,"n":2,"m":1},"metadata":{"uid":"","name":"x","foo":1},"apiVersion":"t/v1","alpha":"a"}';
  const decoded = decodeJson(type, body, { strict: true });
  assert.deepEqual(decoded.strictErrors, [
    'duplicate field "spec.n"',
    'unknown field "metadata.foo"',
    'unknown field "spec.m"',
  ]);
  assert.equal(
    encodeJson(type, decoded.object),
    '{"alpha":"a","apiVersion":"t/v1","kind":"X","metadata":{"name":"x"},"spec":{"n":2}}',
  );
  assert.throws(() => decodeJson(type, '{"metadata":{"name":1}}', { strict: false }), DecodeError);
  assert.throws(() => decodeJson(type, '[]', { strict: false }), DecodeError);
});

test('an embedded resource has metadata like any, and what is unknown in it is reported', () => {
  const schema = object({ emb: { type: 'object', 'x-kubernetes-embedded-resource': true, ...open } });
  const type = compileType({ name: 'test.v1.X', schema, preserveUnknown: false });
  const { object: read, strictErrors } = decodeJson(
    type,
    '{"emb":{"apiVersion":"v1","kind":"Y","free":{"x":1},"metadata":{"name":"y","bogus":1,"labels":null}}}',
    { strict: true },
  );
  assert.deepEqual(strictErrors, ['unknown field "emb.metadata.bogus"']);
  assert.deepEqual(read, { emb: { apiVersion: 'v1', kind: 'Y', free: { x: 1 }, metadata: { name: 'y' } } });
});
