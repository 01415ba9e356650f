import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldErrorText, FieldPath } from '../../../machinery/field-error.js';
import type { JSONSchemaProps } from '../../../schema/generated/apiextensions.v1.js';
import { matchesFormat } from '../../../machinery/validation/string-formats.js';
import { mustType } from '../../../schema/catalogue.js';
import { decodeJson } from '../../../schema/json/decode.js';
import { Correlation } from './correlation.js';
import { validateValue } from './validate-value.js';

const errorsOf = (value: unknown, schema: JSONSchemaProps): string[] =>
  validateValue(value, schema, { path: undefined }).map(fieldErrorText);

test('members are checked by their schema, and missing ones reported', () => {
  const schema: JSONSchemaProps = {
    type: 'object',
    required: ['spec', 'kind'],
    properties: {
      spec: { type: 'object', properties: { n: { type: 'integer', maximum: 5, exclusiveMaximum: true } } },
    },
  };
  assert.deepEqual(errorsOf({ kind: 'x', spec: { n: 5 } }, schema), [
    'spec.n: Invalid value: 5: spec.n in body should be less than 5',
  ]);
  assert.deepEqual(errorsOf({ spec: null }, schema), [
    'spec: Invalid value: "null": spec in body must be of type object: "null"',
    'kind: Required value',
  ]);
});

test('a number without a fraction is an integer, whatever it was written as', () => {
  assert.deepEqual(errorsOf(1, { type: 'number' }), []);
  assert.deepEqual(errorsOf(1.5, { type: 'integer' }), [
    '<nil>: Invalid value: "number":  in body must be of type integer: "number"',
  ]);
});

test('a whole number that was written as a float is held to the rules of floats', () => {
  const type = {
    ...mustType('io.k8s.api.core.v1.ConfigMap'),
    unstructured: { coerce: () => [], readMetadata: () => undefined, dropUnreadable: () => undefined },
  };
  const schema: JSONSchemaProps = {
    properties: {
      n: { type: 'number', multipleOf: 0.5, maximum: 1e20 },
      l: { items: { type: 'integer', anyOf: [{ multipleOf: 0.5 }] } },
    },
  };
  const errors = (text: string): string[] => errorsOf(decodeJson(type, text, { strict: false }).object, schema);
  assert.deepEqual(errors('{"n":2.0,"l":[2.0,1e3]}'), []);
  const factor = (name: string): string =>
    `${name}: Invalid value: 0: factor MultipleOf declared for ${name} must be positive: 0`;
  const least = 'n: Invalid value: 2: n in body should be less than or equal to -9223372036854775808';
  assert.deepEqual(errors('{"n":2,"x":1.0}'), [factor('n'), least]);
  // Named again, it is what it was written as last.
  assert.deepEqual(errors('{"n":2.0,"n":2}'), [factor('n'), least]);
  assert.deepEqual(errors('{"n":2,"n":2.0}'), []);
  assert.deepEqual(errors('{"l":[1.0,2]}'), [
    '<nil>: Invalid value: "": "l[1]" must validate at least one schema (anyOf)',
    factor('l[1]'),
  ]);
});

test('of alternatives that all fail, the one that matched most is reported', () => {
  const schema: JSONSchemaProps = {
    anyOf: [{ required: ['a'] }, { properties: { b: { type: 'object', required: ['c'] } } }],
  };
  assert.deepEqual(errorsOf({ b: {} }, schema), [
    '<nil>: Invalid value: "": "" must validate at least one schema (anyOf)',
    'b.c: Required value',
  ]);
  assert.deepEqual(errorsOf({ a: 1, b: { c: 1 } }, { oneOf: schema.anyOf ?? [] }), [
    '<nil>: Invalid value: "": "" must validate one and only one schema (oneOf). Found 2 valid alternatives',
  ]);
});

test('a whole number is compared by whole parts, also with a factor, and a float that is too large as one', () => {
  assert.deepEqual(errorsOf(1, { type: 'number', multipleOf: 0.5 }), [
    '<nil>: Invalid value: 0: factor MultipleOf declared for  must be positive: 0',
  ]);
  assert.deepEqual(errorsOf(1.5, { type: 'number', multipleOf: 0.5 }), []);
  assert.deepEqual(errorsOf(1, { type: 'integer', multipleOf: 0.5 }), [
    '<nil>: Invalid value: 0: factor MultipleOf declared for  must be positive: 0',
  ]);
  assert.deepEqual(errorsOf(4, { type: 'integer', multipleOf: 2.5 }), []);
  // Numbers that JavaScript would round are compared as they are.
  assert.deepEqual(errorsOf(9007199254740993n, { type: 'integer', multipleOf: 2 }), [
    '<nil>: Invalid value: 9007199254740993:  in body should be a multiple of 2',
  ]);
  assert.deepEqual(errorsOf(-(2n ** 63n), { type: 'integer', multipleOf: 2 }), []);
  assert.deepEqual(errorsOf(2n ** 63n - 1n, { type: 'integer', maximum: 1e20 }), [
    '<nil>: Invalid value: 9223372036854775807:  in body should be less than or equal to -9223372036854775808',
  ]);
  assert.deepEqual(errorsOf(4, { type: 'integer', minimum: 1e30 }), []);
  assert.deepEqual(errorsOf(4, { type: 'integer', maximum: 1e19 }), [
    '<nil>: Invalid value: 4:  in body should be less than or equal to -9223372036854775808',
  ]);
  assert.deepEqual(errorsOf(1e20, { type: 'number', maximum: 10.5 }), [
    '<nil>: Invalid value: 1e+20:  in body should be less than or equal to 10.5',
  ]);
  assert.deepEqual(errorsOf(1.5, { type: 'number', enum: [1] }), []);
});

test('enums name what is allowed; null passes where it may be', () => {
  assert.deepEqual(errorsOf('<c>', { type: 'string', enum: ['a'] }), [
    '<nil>: Unsupported value: "<c>": supported values: "a"',
  ]);
  assert.deepEqual(errorsOf('c', { type: 'string', enum: ['a', 1] }), [
    '<nil>: Unsupported value: "c": supported values: "a", "1"',
  ]);
  assert.deepEqual(errorsOf(null, { type: 'string', nullable: true }), []);
});

test('no enum holds null, though it names it', () => {
  assert.deepEqual(errorsOf(null, { type: 'string', nullable: true, enum: ['a', null] as never }), [
    '<nil>: Unsupported value: null: supported values: "a", "null"',
  ]);
});

test('formats', () => {
  const right: Record<string, string> = {
    'date-time': '2024-02-29T10:00:00.5Z',
    date: '2024-02-29',
    duration: '1h30m',
    ipv4: '010.0.0.1',
    ipv6: '::1',
    cidr: '10.0.0.0/8',
    uuid: '123e4567-e89b-12d3-a456-426614174000',
    hostname: 'a.example',
    uri: 'https://x/y',
    email: 'a@b.c',
    mac: '01:23:45:67:89:ab',
    byte: 'aGk=',
    isbn13: '978-0321751041',
    ssn: '123-45-6789',
  };
  for (const [format, text] of Object.entries(right)) {
    assert.equal(matchesFormat(format, text), true, format);
    assert.equal(matchesFormat(format, '!'), false, format);
  }
  assert.equal(matchesFormat('date', '2023-02-29'), false);
  assert.equal(matchesFormat('email', '"a b"@c.d'), true);
  assert.equal(matchesFormat('ssn', '123456789'), false);
  // kube-apiserver has these, but looks for them under other names than it keeps them.
  assert.equal(matchesFormat('k8s-short-name', '!'), undefined);
  assert.equal(matchesFormat('anything', 'x'), undefined);
});

test('what was wrong may stay where all of it is known and the same', () => {
  const keeping = { type: 'object', required: ['a'], 'x-kubernetes-preserve-unknown-fields': true };
  const schema = { type: 'object', properties: { in: { ...keeping, properties: { b: { type: 'string' } } } } };
  const errorsBeside = (value: object, old: object): string[] =>
    validateValue(value, schema, { path: undefined, old: new Correlation(value, old, schema) }).map(fieldErrorText);
  const missing = ['in.a: Required value'];
  assert.deepEqual(errorsBeside({ in: { b: 'x' } }, { in: { b: 'x' } }), []);
  assert.deepEqual(errorsBeside({ in: { b: 'x' } }, { in: { b: 'y' } }), missing);
  assert.deepEqual(errorsBeside({ in: { b: 'x', c: 1 } }, { in: { b: 'x', c: 1 } }), missing);
});

test('what is wrong at each level, as before, is compared once with what it was', () => {
  let compared = 0;
  const inner = (last: number): object =>
    new Proxy(
      { last },
      {
        ownKeys: (target) => {
          compared++;
          return Reflect.ownKeys(target);
        },
      },
    );
  const nested = (last: number): object => {
    let value: object = { open: inner(last) };
    for (let i = 0; i < 200; i++) value = { in: value };
    return value;
  };
  const last = { type: 'object', properties: { last: { type: 'integer' } } };
  let schema: object = { type: 'object', maxProperties: 0, properties: { open: last } };
  for (let i = 0; i < 200; i++) schema = { type: 'object', maxProperties: 0, properties: { in: schema } };
  const errorsBeside = (value: object, old: object): number =>
    validateValue(value, schema, { path: FieldPath.of('a'), old: new Correlation(value, old, schema) }).length;
  assert.equal(errorsBeside(nested(1), nested(2)), 201);
  assert.equal(errorsBeside(nested(1), nested(1)), 0);
  assert.ok(compared < 20, `${compared}`);
});
