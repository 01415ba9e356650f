import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FieldPath } from '../../../machinery/field-error.js';
import { SameJson } from './same-json.js';
import { validateValue } from './validate-value.js';

test('values are the same whatever the order of their members', () => {
  const same = new SameJson();
  assert.equal(same.are({ a: [1, { b: null }], c: 'd' }, { c: 'd', a: [1, { b: null }] }), true);
  const different: [unknown, unknown][] = [
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, { a: 1, b: 1 }],
    [{ a: 1 }, { b: 1 }],
    [[1], [1, 2]],
    [[], {}],
    [{}, []],
    [null, {}],
    [1, 1n],
    ['1', 1],
    [{ toString: 1 }, { valueOf: 1 }],
  ];
  different.forEach(([left, right], at) => assert.equal(same.are(left, right), false, `${at}`));
});

test('what was compared inside is not walked over again from outside', () => {
  let listed = 0;
  const counted = (of: object): object =>
    new Proxy(of, {
      ownKeys: (target) => {
        listed++;
        return Reflect.ownKeys(target);
      },
    });
  const nested = (leaf: unknown): object[] => {
    const levels: object[] = [counted({ leaf })];
    for (let i = 0; i < 1_000; i++) levels.push(counted({ in: levels.at(-1) }));
    return levels;
  };
  const [left, right] = [nested(1), nested(2)];
  const same = new SameJson();
  left.forEach((level, at) => assert.equal(same.are(level, right[at]), false));
  assert.ok(listed < 5_000, `${listed}`);
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
  let schema: object = { type: 'object', maxProperties: 0, 'x-kubernetes-preserve-unknown-fields': true };
  for (let i = 0; i < 200; i++) schema = { type: 'object', maxProperties: 0, properties: { in: schema } };
  const told = validateValue(nested(1), schema, FieldPath.of('a'), { value: nested(2) });
  assert.equal(told.length, 201);
  assert.deepEqual(validateValue(nested(1), schema, FieldPath.of('a'), { value: nested(1) }), []);
  assert.ok(compared < 20, `${compared}`);
});
