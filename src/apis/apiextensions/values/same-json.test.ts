import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SameJson } from './same-json.js';

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
