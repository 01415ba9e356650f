import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromJson } from './json-value.js';
import { compiled, result } from './testing.js';
import { DYN, INT, listType } from './type.js';
import { CelError, CelMap } from './value.js';
import type { Value } from './value.js';

const RESULTS: readonly (readonly [string, string])[] = [
  // numbers
  ['9223372036854775807 + 1', 'error: integer overflow'],
  ['-5 / 2', 'int -2'],
  ['-5 % 3', 'int -2'],
  ['1 / 0', 'error: division by zero'],
  ['1 % 0', 'error: modulus by zero'],
  ['1.0 / 0.0', 'double +Inf'],
  ['1u - 2u', 'error: unsigned integer overflow'],
  ['-(-9223372036854775807 - 1)', 'error: integer overflow'],
  ['dyn(1) == 1u && dyn(1u) == 1.0 && dyn(1.0) == 1', 'bool true'],
  ['dyn(9007199254740993) == 9007199254740992.0', 'bool true'],
  ['1 < 1.5 && 2u > 1 && 18446744073709551615u > 1.0', 'bool true'],
  ['double("NaN") < 1.0', 'error: NaN values cannot be ordered'],
  ['dyn("a") < 1', 'error: no such overload'],
  ['dyn([1]) < 1', 'error: no such overload: _<_'],
  ['dyn("a") % 2', 'error: no such overload'],
  ['dyn([1]) % 2', 'error: no such overload: _%_'],
  ['[dyn(1), dyn("a")].join("-")', 'error: no such overload: join(list, string)'],
  ['[dyn("a"), dyn(1)].join("-")', 'error: join: invalid input: 1'],
  // conversions; constants are converted when the program is made
  ['uint(-1)', 'plan: unsigned integer overflow'],
  ['int("0x1f")', "plan: type conversion error from 'string' to 'int'"],
  ['int(1e20)', 'plan: integer overflow'],
  ['string(1e21) + string(1e-7) + string(0.1)', 'string 1e+211e-070.1'],
  ['string(123456.5) + string(1234567.0)', 'string 123456.51.234567e+06'],
  ['string(b"\\xff")', 'plan: invalid UTF-8 in bytes, cannot convert to string'],
  ['bool("t") && !bool("False")', 'bool true'],
  ['int(dyn({}))', 'plan: no such overload: int(map)'],
  ['int([dyn({})][0])', 'error: no such overload: int(map)'],
  ['type(type(1)) == type && type([]) == list && type(null) == null_type', 'bool true'],
  // strings
  ['size("😀é")', 'int 2'],
  ['"\\uffff" < "😀"', 'bool true'],
  ['"abc".matches("^a.c$")', 'bool true'],
  ['"a".matches(["("][0])', 'error: error parsing regexp: missing closing ): `(`'],
  // time
  ['duration("1.5s").getMilliseconds()', 'int 1500'],
  ['string(duration("1h") + duration("30m"))', 'string 5400s'],
  ['timestamp("2024-01-01T00:00:00Z").getHours("-08:00")', 'int 16'],
  ['timestamp("2024-07-01T00:00:00Z").getHours("America/New_York")', 'int 20'],
  ['timestamp("2024-01-01T00:00:00Z").getHours("Nowhere/Land")', 'error: unknown time zone Nowhere/Land'],
  ['timestamp("9999-12-31T23:59:59Z") + duration("1s")', 'error: timestamp overflow'],
  ['timestamp("2024-02-29T23:59:59Z").getDayOfYear()', 'int 59'],
  // errors are absorbed by what decides
  ['true || 1 / 0 > 1', 'bool true'],
  ['1 / 0 > 1 || true', 'bool true'],
  ['1 / 0 > 1 && false', 'bool false'],
  ['1 / 0 > 1 && true', 'error: division by zero'],
  ['(1 / 0 > 1) ? 1 : 2', 'error: division by zero'],
  ['false ? 1 / 0 : 3', 'int 3'],
  ['[1, 0].exists(x, 1 / x == 1)', 'bool true'],
  ['[0, 1].all(x, 1 / x == 2)', 'bool false'],
  ['[0, 1].exists_one(x, 1 / x == 1)', 'error: division by zero'],
  ['[0, 1].map(x, 1 / x)', 'error: division by zero'],
  // containers
  ['{"a": 1}.b', 'error: no such key: b'],
  ['[0, 1][2]', 'error: index out of bounds: 2'],
  ['[1, 2][dyn(1.0)] + [1, 2][dyn(1u)]', 'int 4'],
  ['[1][dyn("0")]', "error: unsupported index type 'string' in list"],
  ['{1: "a"}[dyn(1u)] + {1: "a"}[dyn(1.0)]', 'string aa'],
  ['has({"a": 1}.a) && !has({"a": 1}.b)', 'bool true'],
  ['3 in [1, 2] || 2.0 in dyn([1, 2])', 'bool true'],
  ['dyn("a") in {"a": 1}', 'bool true'],
  ['[1, 2] + [3] == [1, 2, 3] && {"a": [1]} == {"a": [1]}', 'bool true'],
  ['dyn([1, 2]) == dyn([1.0, 2.0]) && dyn([1]) != dyn(["a"])', 'bool true'],
  // loops
  ['[1, 2, 3, 4].filter(x, x % 2 == 0).map(x, x * x)', 'list [4, 16]'],
  ['{"b": 1, "a": 2}.map(k, k)', 'list [b, a]'],
  ['[[1, 2], [3]].map(l, l.map(x, x + l[0]))', 'list [[2, 3], [6]]'],
  ['[1, 2].transformList(i, v, i < 1, v)', 'list [1]'],
  ['[1, 2].transformMap(i, v, v * 10)[1]', 'int 20'],
  ['[1, 1].transformMapEntry(i, v, {v: i})', 'error: insert failed: key 1 already exists'],
  ['{"a": 1}.existsOne(k, v, v == 1)', 'bool true'],
  ['cel.bind(x, [1], x + x == [1, 1] && x.size() == 1)', 'bool true'],
  ['dyn(1).all(x, true)', "error: got 'types.Int', expected iterable type"],
  // optionals
  ['{"a": {"b": 1}}.?a.?b.value() + {}.?a.?b.orValue(2)', 'int 3'],
  ['optional.none().value()', 'error: optional.none() dereference'],
  ['{}.?a.or({"b": 1}.?b).value()', 'int 1'],
  ['optional.of(1).or(optional.of(1 / 0)).value()', 'int 1'],
  ['[1][?1].hasValue() || has({"a": {}}.?a.b)', 'bool false'],
  ['optional.of({"x": 1}).x.value() + optional.of([5])[0].value()', 'int 6'],
  ['[?optional.none(), ?optional.of(1), 2]', 'list [1, 2]'],
  ['{?"a": optional.none(), "b": 1}', 'map {b: 1}'],
  ['optional.ofNonZeroValue("").hasValue()', 'bool false'],
  ['{"a": 1}.?a.optMap(x, x + 1).value() + {"a": 1}.?a.optFlatMap(x, optional.of(x)).value()', 'int 3'],
  ['[optional.of(1), optional.none()].unwrapOpt() + [[2].last().value()]', 'list [1, 2]'],
];
for (const [text, wanted] of RESULTS) {
  test(text, () => assert.equal(result(text), wanted));
}

test('a variable that is declared and not set is an error that may be absorbed', () => {
  const variables = { x: INT };
  assert.equal(result('x > 1', { variables }), 'error: no such attribute(s): x');
  assert.equal(result('x > 1 || true', { variables }), 'bool true');
});

test('a lazy variable is made when it is reached', () => {
  let made = 0;
  const lazy = (): Value => BigInt(++made);
  const variables = { x: INT };
  assert.equal(result('false && x > 1', { variables, values: { x: lazy } }), 'bool false');
  assert.equal(made, 0);
  assert.equal(result('x + 1', { variables, values: { x: lazy } }), 'int 2');
});

test('a map may refuse keys with an error', () => {
  class Locked extends CelMap {
    readonly size = 0;
    find(): Value {
      return new CelError('locked');
    }
    keys(): Iterable<Value> {
      return [];
    }
  }
  const options = { variables: { m: DYN }, values: { m: new Locked() } };
  assert.equal(result('m.a', options), 'error: locked');
  assert.equal(result('has(m.a)', options), 'error: locked');
});

test('programs may be evaluated again and inside one another', () => {
  const variables = { list: listType(INT) };
  const program = compiled('list.map(x, x + 1).filter(x, x > 2)', { variables }).plan();
  assert.ok(!(program instanceof CelError));
  const sizes = [1, 3, 2].map((n) => {
    const { value } = program.evaluate({ list: fromJson(Array.from({ length: n }, (_, i) => i + 1)) });
    return result('v.size()', { variables: { v: DYN }, values: { v: value } });
  });
  assert.deepEqual(sizes, ['int 0', 'int 2', 'int 1']);
});

test('evaluation stops beyond the cost limit, whatever could absorb an error', () => {
  const variables = { list: listType(INT) };
  const values = { list: fromJson(Array.from({ length: 1000 }, (_, i) => i)) };
  const options = { variables, values, costLimit: 100 };
  assert.equal(
    result('list.all(x, x >= 0) || true', options),
    'error: operation cancelled: actual cost limit exceeded',
  );
  assert.equal(result('list[0] == 0', options), 'bool true');
});

test('evaluation stops when it is interrupted', () => {
  const variables = { list: listType(INT) };
  const values = { list: fromJson(Array.from({ length: 1000 }, (_, i) => i)) };
  assert.equal(
    result('list.all(x, x >= 0)', { variables, values, interrupted: () => true }),
    'error: operation interrupted',
  );
});
