import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FeatureGates } from '../../../registry/kind.js';
import type { PersistentVolumeClaim } from '../../../schema/generated/core.v1.js';
import { settleDataSources } from './data-source.js';
import { validateClaimUpdate } from './update-validation.js';

const features: FeatureGates = { enabled: (name) => name !== 'CrossNamespaceVolumeDataSource' };

const claim = (spec: Partial<PersistentVolumeClaim['spec']>, phase = 'Pending'): PersistentVolumeClaim => ({
  metadata: { name: 'data', namespace: 'ns' },
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '2Gi' } },
    volumeMode: 'Filesystem',
    ...spec,
  },
  status: { phase, ...(phase === 'Bound' && { capacity: { storage: '2Gi' } }) },
});

const fieldsOf = (object: PersistentVolumeClaim, old: PersistentVolumeClaim): string[] =>
  validateClaimUpdate(object, old, features, { whole: [], change: [] }).map(({ field }) => field);

test('a claim may be bound to a volume once', () => {
  assert.deepEqual(fieldsOf(claim({ volumeName: 'pv' }), claim({})), []);
  assert.deepEqual(fieldsOf(claim({ volumeName: 'other' }), claim({ volumeName: 'pv' })), ['spec']);
});

test('a bound claim may ask for more, and for less only above what it has', () => {
  const old = claim({}, 'Bound');
  assert.deepEqual(fieldsOf(claim({ resources: { requests: { storage: '3Gi' } } }, 'Bound'), old), []);
  assert.deepEqual(fieldsOf(claim({ resources: { requests: { storage: '1Gi' } } }, 'Bound'), old), [
    'spec.resources.requests.storage',
  ]);
});

test('a storage class may be set where there was none', () => {
  assert.deepEqual(fieldsOf(claim({ storageClassName: 'fast' }), claim({})), []);
  assert.deepEqual(fieldsOf(claim({ storageClassName: 'slow' }), claim({ storageClassName: 'fast' })), ['spec']);
});

test('sources older servers ignored are dropped, others fill both fields', () => {
  const odd = claim({ dataSource: { apiGroup: 'example.com', kind: 'Thing', name: 'x' } }).spec;
  settleDataSources(odd, undefined, features);
  assert.equal(odd.dataSource, undefined);
  const { spec } = claim({ dataSource: { apiGroup: null, kind: 'PersistentVolumeClaim', name: 'x' } });
  settleDataSources(spec, undefined, features);
  assert.deepEqual(spec.dataSourceRef, { apiGroup: null, kind: 'PersistentVolumeClaim', name: 'x' });
});
