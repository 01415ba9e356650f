import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LifeContext } from '../../../registry/kind.js';
import type { Namespace } from '../../../schema/generated/core.v1.js';
import { namespaces } from './definition.js';

const { strategy } = namespaces;
const namespace = (finalizers?: string[], deleting = false): Namespace => ({
  metadata: { name: 'a', ...(deleting && { deletionTimestamp: '2020-01-01T00:00:00Z' }) },
  spec: finalizers === undefined ? {} : { finalizers },
  status: { phase: 'Active' },
});

test('a new namespace is active and held until its contents are gone', () => {
  const object = namespace(['a.b/c']);
  strategy.prepareForCreate?.(object, {} as LifeContext);
  assert.deepEqual(object.spec.finalizers, ['a.b/c', 'kubernetes']);
  assert.deepEqual(object.status, { phase: 'Active' });
});

test('the first delete begins the end; it goes when nothing holds it', () => {
  const object = namespace(['kubernetes']);
  const now = new Date();
  assert.equal(strategy.delete?.terminate?.(object, now), 'keep');
  assert.equal(object.status.phase, 'Terminating');
  assert.equal(strategy.delete?.terminate?.(namespace(['kubernetes'], true), now), 'keep');
  assert.equal(strategy.delete?.terminate?.(namespace(undefined, true), now), 'remove');
});

test('an update leaves the finalizers alone; finalize may empty them', () => {
  const object = namespace([]);
  strategy.prepareForUpdate?.(object, namespace(['kubernetes']), {} as LifeContext);
  assert.deepEqual(object.spec.finalizers, ['kubernetes']);
});
