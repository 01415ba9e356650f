import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runSync } from '../lib/scheduling/yield.js';
import { FloatLiteral } from '../lib/json/float-literal.js';
import { equalTrees, equalTreesSteps, isSameTree } from './deep-equal.js';

const tree = fc.jsonValue({ maxDepth: 3 });

test('comparing in steps says the same', () => {
  fc.assert(
    fc.property(tree, tree, (a, b) => {
      assert.equal(runSync(equalTreesSteps(a, b)), equalTrees(a, b));
      assert.equal(runSync(equalTreesSteps(a, structuredClone(a))), true);
    }),
  );
});

test('large values are compared in many steps, and no further than where they differ', () => {
  const made = (last: number): object => ({
    data: Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, i === 49_999 ? last : 0])),
    list: Array.from({ length: 50_000 }, (_, i) => ({ i })),
  });
  const stepsOf = (a: object, b: object): { steps: number; equal: boolean } => {
    const comparing = equalTreesSteps(a, b);
    for (let steps = 0; ; steps++) {
      const { done, value } = comparing.next();
      if (done) return { steps, equal: value };
    }
  };
  const same = stepsOf(made(0), made(0));
  assert.ok(same.equal && same.steps > 10, String(same.steps));
  assert.equal(stepsOf(made(0), made(1)).equal, false);
  const { steps, equal } = stepsOf(made(0), { ...made(0), list: [] });
  assert.ok(!equal && steps < same.steps / 2, String(steps));
});

test('trees are the same only with the same members in the same order', () => {
  fc.assert(
    fc.property(tree, tree, (a, b) => {
      assert.equal(isSameTree(a, b), JSON.stringify(a) === JSON.stringify(b));
      assert.equal(isSameTree(a, structuredClone(a)), true);
    }),
  );
  assert.equal(isSameTree({ a: 1, b: [2] }, { b: [2], a: 1 }), false);
  assert.equal(isSameTree({ a: [] }, { a: {} }), false);
  assert.equal(isSameTree({ a: undefined }, {}), false);
  assert.equal(isSameTree([new FloatLiteral(1, '1.0')], [new FloatLiteral(1, '1.00')]), false);
});
