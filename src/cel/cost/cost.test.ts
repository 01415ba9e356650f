import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UNBOUNDED } from './estimates.js';
import { fromJson } from '../json-value.js';
import { compiled, cost } from '../testing.js';
import type { TestOptions } from '../testing.js';
import { BOOL, DYN, INT, listType, mapType, STRING } from '../type.js';

const variables = {
  a: DYN,
  i: INT,
  s: STRING,
  yes: BOOL,
  list: listType(STRING),
  numbers: listType(INT),
  map: mapType(STRING, STRING),
  nested: listType(listType(STRING)),
};
const values = {
  a: fromJson({ b: { c: 1 }, list: [1, 2, 3] }),
  i: 1n,
  s: 'x'.repeat(95),
  yes: true,
  list: fromJson(['one', 'two']),
  numbers: fromJson([3, 1, 2]),
  map: fromJson({ k: 'v' }),
};

// Each from kube-apiserver's bookkeeping, with constants folded as Kubernetes has it.
const ACTUAL: readonly (readonly [string, number])[] = [
  ['1 + 1', 1],
  ['a', 1],
  ['a.b.c', 3],
  ['a.list[i]', 3],
  ['a.list[i + 0]', 5],
  ['list[0]', 2],
  ['[1, 2, 3]', 0],
  ['[1, 2, i]', 11],
  ['{"a": i}', 31],
  ['has(a.b)', 1],
  ['has(a.b.c)', 2],
  ['a.?b.?c', 3],
  ['a.?x.?c', 1],
  ['a.?x.orValue(1)', 1],
  ['yes ? i : 2', 1],
  ['yes ? i + 1 : 2', 3],
  ['(yes ? a : a).b', 2],
  ['yes || i == 1', 1],
  ['!yes || i == 1', 4],
  ['i in [1, 2, 3]', 1],
  ['i in numbers', 5],
  ['int("1") == 1', 1],
  ['s == s', 12],
  ['s.startsWith("x")', 11],
  ['s.contains("xx")', 11],
  ['s.matches("^x+$")', 11],
  ['s + s', 21],
  ['s.size()', 2],
  ['"%s".format([s])', 12],
  ['numbers.all(n, n > 0)', 17],
  ['numbers.exists(n, n == 3)', 11],
  ['numbers.map(n, n)', 41],
  ['numbers.filter(n, n > 1)', 34],
  ['cel.bind(x, i, x + x)', 4],
  ['1 / 0 == 1 || yes', 3],
  ['sets.contains(numbers, [1])', 5],
  ['numbers.sort()', 30],
  ['list.distinct()', 20],
  ['numbers.slice(0, 2)', 14],
];
for (const [text, wanted] of ACTUAL) {
  test(`evaluating costs: ${text}`, () => assert.equal(cost(text, { variables, values }), wanted));
}

test('an environment may say what calls cost', () => {
  const costs = { pricedFunctions: new Set(['size']), callCost: () => 100 };
  assert.equal(cost('s.size() + 1', { variables, values, costs }), 102);
});

const HINTS: Readonly<Record<string, number>> = {
  s: 100,
  list: 10,
  'list.@items': 20,
  nested: 5,
  'nested.@items': 7,
  map: 3,
  'map.@keys': 4,
  'map.@values': 50,
};
const costs: TestOptions['costs'] = {
  estimateSize: ({ path }) => {
    const max = HINTS[path.join('.')];
    return max === undefined ? undefined : { min: 0, max };
  },
};

const ESTIMATED: readonly (readonly [string, number, number])[] = [
  ['"constant"', 0, 0],
  ['i + 1', 2, 2],
  ['map["k"]', 2, 2],
  ['has(map.k)', 1, 1],
  ['[1, 2]', 10, 10],
  ['list.all(x, true)', 2, 32],
  ['list.all(x, x == "abc")', 2, 52],
  ['list.exists(x, x.contains("abc"))', 2, 72],
  ['nested.all(x, x.all(y, true))', 2, 132],
  ['map.all(k, map[k].startsWith(k))', 2, 26],
  ['map.exists(k, v, v == "x")', 2, 20],
  ['s == "abcdefghijklmnopq"', 2, 3],
  ['s.matches("[0-9]+")', 3, 23],
  ['s + s', 2, 22],
  ['yes && s.size() > 1', 1, 4],
  ['yes ? s + s : s', 2, 23],
  ['list.map(x, x + x).all(x, x == "y")', 13, 243],
  ['cel.bind(x, s + s, x == x)', 15, 54],
  ['a.all(x, true)', 2, UNBOUNDED],
  ['i in numbers', 2, UNBOUNDED],
  ['sets.contains(list, list)', 3, 103],
  ['list.sort()', 12, 222],
];
for (const [text, min, max] of ESTIMATED) {
  test(`evaluating may cost: ${text}`, () => {
    assert.deepEqual(compiled(text, { variables, costs }).estimateCost(), { min, max });
  });
}

test('presence tests cost one more where the environment says so', () => {
  const settings = { presenceTestHasCost: true };
  assert.equal(cost('has(a.b.c)', { variables, values, settings }), 3);
  assert.deepEqual(compiled('has(map.k)', { variables, settings }).estimateCost(), { min: 2, max: 2 });
});
