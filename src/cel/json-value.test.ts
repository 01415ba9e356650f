import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromJson } from './json-value.js';
import type { ObjectTypes } from './environment.js';
import { result } from './testing.js';
import {
  BYTES,
  decodedBy,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  mapType,
  objectType,
  STRING,
  TIMESTAMP,
} from './type.js';
import type { CelType } from './type.js';
import { ArrayList } from './value.js';

const untyped = (text: string, json: unknown): string =>
  result(text, { variables: { v: DYN }, values: { v: fromJson(json) } });

test('without a schema, whole numbers are ints', () => {
  const json = { whole: 3, part: 1.5, huge: 1e300, big: 9223372036854775807n, list: [1, 'a', null, true] };
  assert.equal(untyped('type(v.whole) == int && v.whole + 1 == 4', json), 'bool true');
  assert.equal(untyped('type(v.part) == double && type(v.huge) == double', json), 'bool true');
  assert.equal(untyped('v.big', json), 'int 9223372036854775807');
  assert.equal(untyped('v.list[0] == 1 && v.list[1] == "a" && v.list[2] == null && v.list[3]', json), 'bool true');
  assert.equal(untyped('v.size() + v.list.size()', json), 'int 9');
});

test('members of the prototype are no members', () => {
  assert.equal(untyped('has(v.constructor) || "toString" in v', {}), 'bool false');
});

const FIELDS: Readonly<Record<string, CelType>> = {
  count: INT,
  ratio: DOUBLE,
  at: TIMESTAMP,
  every: DURATION,
  key: BYTES,
  names: listType(STRING),
  limits: mapType(STRING, DOUBLE),
  inner: objectType('Thing'),
  reversed: decodedBy(listType(INT), (json) =>
    Array.isArray(json) ? new ArrayList(json.map((n) => BigInt(Number(n))).toReversed()) : null,
  ),
};
const objectTypes: ObjectTypes = {
  find: (name) => (name === 'Thing' ? { type: objectType('Thing'), field: (field) => FIELDS[field] } : undefined),
};
const thing = {
  count: 2,
  ratio: 2,
  at: '2024-01-01T00:00:00Z',
  every: '90s',
  key: 'aGk=',
  names: ['x'],
  limits: { cpu: 1 },
  inner: { count: 7, ratio: 0 },
  reversed: [1, 2],
};
const typed = (text: string): string => {
  const self = objectType('Thing');
  return result(text, { objectTypes, variables: { self }, values: { self: fromJson(thing, self, objectTypes) } });
};

test('a declared type decides what JSON becomes', () => {
  assert.equal(typed('self.count + self.inner.count'), 'int 9');
  assert.equal(typed('self.ratio / 4.0'), 'double 0.5');
  assert.equal(typed('self.at.getFullYear()'), 'int 2024');
  assert.equal(typed('self.every > duration("1m")'), 'bool true');
  assert.equal(typed('string(self.key)'), 'string hi');
  assert.equal(typed('self.limits["cpu"] == 1.0 && self.names[0] == "x"'), 'bool true');
  assert.equal(typed('self.reversed[0]'), 'int 2');
  assert.equal(typed('self.inner.inner.count'), 'error: no such key: inner');
  assert.equal(typed('has(self.inner.at)'), 'bool false');
});
