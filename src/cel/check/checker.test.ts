import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compiled, issues, messages } from '../testing.js';
import type { ObjectTypes } from '../environment.js';
import { ANY, DYN, formatType, INT, listType, mapType, objectType, optionalType, STRING, TIMESTAMP } from '../type.js';
import type { CelType } from '../type.js';

const POD = objectType('Pod');
const POD_FIELDS: Readonly<Record<string, CelType>> = {
  name: STRING,
  containers: listType(STRING),
  started: TIMESTAMP,
};
const objectTypes: ObjectTypes = {
  find: (name) => (name === 'Pod' ? { type: POD, field: (field) => POD_FIELDS[field] } : undefined),
};
const options = {
  objectTypes,
  variables: {
    pod: POD,
    any: DYN,
    anything: ANY,
    words: mapType(STRING, STRING),
    maybe: optionalType(INT),
    'a.b': INT,
  },
};
const typeOf = (text: string): string => formatType(compiled(text, options).type);

test('types are inferred', () => {
  assert.equal(typeOf('[]'), 'list(dyn)');
  assert.equal(typeOf("{'a': [1, 2]}"), 'map(string, list(int))');
  assert.equal(typeOf('[[], [1]]'), 'list(list(int))');
  assert.equal(typeOf('any.x.y[0]'), 'dyn');
  assert.equal(typeOf('pod.containers.map(c, size(c))'), 'list(int)');
  assert.equal(typeOf('words.transformMap(k, v, size(v))'), 'map(string, int)');
  assert.equal(typeOf('pod.?name'), 'optional_type(string)');
  assert.equal(typeOf('maybe.orValue(1)'), 'int');
  assert.equal(typeOf('maybe.optMap(m, string(m))'), 'optional_type(string)');
  assert.equal(typeOf('type(pod.name)'), 'type(string)');
  assert.equal(typeOf('has(pod.name) ? pod.started : timestamp(0)'), 'timestamp');
  assert.equal(typeOf('a.b'), 'int');
});

const MISTAKES: readonly (readonly [string, ...string[]])[] = [
  ['1 + 1u', "1:3 found no matching overload for '_+_' applied to '(int, uint)'"],
  ['"a".size(1)', "1:9 found no matching overload for 'size' applied to 'string.(int)'"],
  ['[1] == [1.0]', "1:5 found no matching overload for '_==_' applied to '(list(int), list(double))'"],
  [
    'x.y + z()',
    "1:1 undeclared reference to 'x' (in container '')",
    "1:8 undeclared reference to 'z' (in container '')",
  ],
  ['pod.nme', "1:4 undefined field 'nme'"],
  ['pod.name.first', "1:9 type 'string' does not support field selection"],
  ['1 && pod.name', "1:1 expected type 'bool' but found 'int'", "1:9 expected type 'bool' but found 'string'"],
  ['1.all(x, true)', "1:1 expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)"],
  [
    'anything.all(x, true)',
    "1:1 expression of type 'any' cannot be range of a comprehension (must be list, map, or dynamic)",
  ],
  ['Pod{nme: 1}', "1:8 undefined field 'nme'"],
  ['Pod{name: 1}', "1:9 expected type of field 'name' is 'string' but provided type is 'int'"],
  ['int{}', "1:4 'int' is not a message type"],
  ['[?1]', "1:3 expected type 'optional_type(int)' but found 'int'"],
  ['pod == 1', "1:5 found no matching overload for '_==_' applied to '(Pod, int)'"],
  ['[1, "a"]', "1:5 expected type 'int' but found 'string'"],
  ['{"a": 1, 2: "b"}', "1:10 expected type 'string' but found 'int'", "1:13 expected type 'int' but found 'string'"],
  ['timestamp("soon")', '1:11 invalid timestamp argument'],
  ['duration("1 day")', '1:10 invalid duration argument'],
  ['duration(1)', '1:10 invalid duration argument'],
  ['"%".format([])', '1:11 unexpected end of string'],
  ['"a".matches("(")', '1:13 invalid matches argument'],
  ['"%d".format(["a"])', '1:14 error during formatting: decimal clause can only be used on integers, was given string'],
  ['"%s".format([1, 2])', '1:12 too many arguments supplied to string.format (expected 1, got 2)'],
];
for (const [text, ...wanted] of MISTAKES) {
  test(`mistake: ${text}`, () => assert.deepEqual(messages(text, options), wanted));
}

test('arguments of format may be of different types', () => {
  assert.equal(issues('"%s %d".format(["a", 1])'), undefined);
});

test('settings of older versions', () => {
  const older = { settings: { crossTypeNumericComparisons: false, optionalSyntax: false, homogeneousLiterals: false } };
  assert.deepEqual(messages('1 < 1.5', older), ["1:3 found no matching overload for '_<_' applied to '(int, double)'"]);
  assert.deepEqual(messages('{}.?a', older), ["1:3 unsupported syntax '.?'"]);
  assert.deepEqual(messages('[1, "a"]', older), []);
});

test('the variables an expression mentions are listed', () => {
  assert.deepEqual([...compiled('pod.containers.exists(any, any == words.x)', options).mentions], ['pod', 'words']);
});
