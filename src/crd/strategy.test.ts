import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Aside } from '../lib/aside.js';
import { asideFor, type ResourceRegistry } from '../registry/registry.js';
import type { Schema } from '../apis/apiextensions/schema-walk.js';
import { customStrategy } from './strategy.js';

test('the rules of a small object are run elsewhere where its schema has many alternatives to try', () => {
  const aside = { fromBytes: 100_000 } as Aside;
  const of = (count: number, bytes: number): Aside | undefined => {
    const anyOf = Array.from({ length: count }, (_, i) => ({ maxLength: i }));
    const schema = { properties: { spec: { type: 'array', items: { type: 'string', anyOf } } } };
    const strategy = customStrategy({
      group: 'a',
      plural: 'b',
      stated: schema,
      schema: () => schema,
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

test('a small object of a schema of many parts is looked at elsewhere, and a schema is not looked through before', () => {
  const aside = { fromBytes: 100_000 } as Aside;
  const schema = (): never => assert.fail('asked for');
  const of = (stated: Schema): Aside | undefined => {
    const rest = { group: 'a', plural: 'b', subresources: { status: {} }, terminating: () => false };
    const strategy = customStrategy({ ...rest, schema, stated });
    return asideFor({ aside, kind: { strategy } } as unknown as ResourceRegistry, 10);
  };
  const properties = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`p${i}`, { type: 'string' }]));
  assert.equal(of({ properties: { spec: { properties } } }), aside);
  assert.equal(of({ properties: { spec: { enum: Object.keys(properties) } } }), aside);
  assert.equal(of({ properties: { spec: { enum: ['a'] } } }), undefined);
});
