import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldErrorText } from '../../machinery/field-error.js';
import type { CSIStorageCapacity } from '../../schema/generated/storage.v1.js';
import { NO_ERRORS, testContext } from '../core/pod/testing.js';
import { csiStorageCapacities } from './csi-storage-capacity.js';

test('the question to a driver is immutable, and is shown with its labels in order', () => {
  const metadata = { name: 'a', namespace: 'n', resourceVersion: '1' };
  const old: CSIStorageCapacity = { metadata, storageClassName: 'fast' };
  const nodeTopology = { matchLabels: { b: '1', a: '2' } };
  const object = { ...old, storageClassName: 'slow', nodeTopology };
  const errors = csiStorageCapacities.strategy.validateUpdate?.(object, old, testContext(), NO_ERRORS);
  assert.deepEqual(errors?.map(fieldErrorText), [
    'nodeTopology: Invalid value: {"matchLabels":{"a":"2","b":"1"}}: field is immutable',
    'storageClassName: Invalid value: "slow": field is immutable',
  ]);
});
