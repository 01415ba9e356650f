import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '../../schema/generated/core.v1.js';
import { refusal, testAttributes } from '../test-attributes.js';
import { storageObjectInUseProtection } from './storage-object-in-use-protection.js';

test('volumes and claims are kept while in use, whatever finalizers they come with', async () => {
  const object: PersistentVolumeClaim = {
    metadata: { name: 'c', finalizers: ['x/y'] },
    spec: {},
  } as PersistentVolumeClaim;
  const attributes = testAttributes({ resource: 'persistentvolumeclaims', object });
  await refusal(storageObjectInUseProtection, attributes);
  await refusal(storageObjectInUseProtection, attributes);
  assert.deepEqual(object.metadata.finalizers, ['x/y', 'kubernetes.io/pvc-protection']);
});
