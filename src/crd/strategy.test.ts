import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkerPool } from '../lib/async/worker-pool.js';
import { workersFor, type ResourceRegistry } from '../registry/registry.js';
import type { Schema } from '../apis/apiextensions/schema-walk.js';
import { customStrategy } from './strategy.js';

test('the rules of a small object are run elsewhere where its schema has many alternatives to try', () => {
  const workers = { minBytes: 100_000 } as WorkerPool;
  const of = (count: number, bytes: number): WorkerPool | undefined => {
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
    return workersFor({ workers, kind: { strategy } } as unknown as ResourceRegistry, bytes);
  };
  assert.equal(of(0, 10_000), undefined);
  assert.equal(of(4, 10_000), undefined);
  assert.equal(of(100, 10_000), workers);
  assert.equal(of(100, 1_000), undefined);
  assert.equal(of(0, 100_000), workers);
});

test('a small object of a schema of many parts is looked at elsewhere, and a schema is not looked through before', () => {
  const workers = { minBytes: 100_000 } as WorkerPool;
  const schema = (): never => assert.fail('the schema was compiled');
  const of = (stated: Schema): WorkerPool | undefined => {
    const rest = { group: 'a', plural: 'b', subresources: { status: {} }, terminating: () => false };
    const strategy = customStrategy({ ...rest, schema, stated });
    return workersFor({ workers, kind: { strategy } } as unknown as ResourceRegistry, 10);
  };
  const properties = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`p${i}`, { type: 'string' }]));
  assert.equal(of({ properties: { spec: { properties } } }), workers);
  assert.equal(of({ properties: { spec: { enum: Object.keys(properties) } } }), workers);
  assert.equal(of({ properties: { spec: { enum: ['a'] } } }), undefined);
});
