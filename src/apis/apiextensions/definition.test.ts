import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KindDefinition } from '../../registry/kind.js';
import { TestApi } from '../../server/testing/test-api.js';
import { CLEANUP_FINALIZER, customResourceDefinition } from './definition.js';

test('a terminating CRD waits for its own objects alone, whatever propagation policy is requested', async () => {
  const api = new TestApi({ kinds: [customResourceDefinition(undefined) as unknown as KindDefinition] });
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }];
  await api.post(path, {
    metadata: { name: 'ws.a.test' },
    spec: { group: 'a.test', scope: 'Namespaced', names: { plural: 'ws', kind: 'W' }, versions },
  });
  const { body } = await api.delete(`${path}/ws.a.test?propagationPolicy=Foreground`);
  assert.deepEqual(body.metadata.finalizers, [CLEANUP_FINALIZER]);
});
