import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Aside } from '../lib/aside.js';
import { asideFor, type ResourceRegistry } from '../registry/registry.js';
import { customStrategy } from './strategy.js';

test('the rules of a small object are run elsewhere where its schema has many alternatives to try', () => {
  const aside = { fromBytes: 100_000 } as Aside;
  const of = (count: number, bytes: number): Aside | undefined => {
    const anyOf = Array.from({ length: count }, (_, i) => ({ maxLength: i }));
    const schema = { properties: { spec: { type: 'array', items: { type: 'string', anyOf } } } };
    const strategy = customStrategy({
      group: 'a',
      plural: 'b',
      schema,
      subresources: {},
      terminating: () => false,
    });
    return asideFor({ aside, kind: { strategy } } as unknown as ResourceRegistry, bytes);
  };
  assert.equal(of(0, 10_000), undefined);
  assert.equal(of(4, 10_000), undefined);
  assert.equal(of(100, 10_000), aside);
  assert.equal(of(100, 1_000), undefined);
  assert.equal(of(0, 100_000), aside);
});
