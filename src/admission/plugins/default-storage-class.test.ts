import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '../../schema/generated/core.v1.js';
import { refusal, testAttributes } from '../test-attributes.js';
import { defaultStorageClass } from './default-storage-class.js';

const CLASSES = 'storageclasses.storage.k8s.io';
const storageClass = (name: string, creationTimestamp: string): object => ({
  metadata: { name, creationTimestamp, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
});

test('a claim gets the newest default class, unless it names one, even the empty one', async () => {
  const world = {
    [CLASSES]: [storageClass('old', '2024-01-01T00:00:00Z'), storageClass('new', '2024-02-01T00:00:00Z')],
  };
  const classFor = async (spec: object): Promise<string | undefined> => {
    const object = { metadata: { name: 'c' }, spec } as PersistentVolumeClaim;
    await refusal(defaultStorageClass, testAttributes({ resource: 'persistentvolumeclaims', object, world }));
    return object.spec.storageClassName;
  };
  assert.equal(await classFor({}), 'new');
  assert.equal(await classFor({ storageClassName: '' }), '');
});
