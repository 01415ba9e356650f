import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateConfigMap } from '../configmap/validation.js';
import { validateQuota } from '../resourcequota/validation.js';
import { validateLimitRange } from './validation.js';

test('names that every JavaScript object knows are names like any other', () => {
  const limits = [{ type: 'Container', min: { 'example.com/constructor': '1' }, max: { constructor: '1', cpu: '2' } }];
  const errors = validateLimitRange({ metadata: { name: 'l' }, spec: { limits } });
  assert.deepEqual([...new Set(errors.map(({ field }) => field))], ['spec.limits[0].max[constructor]']);
  const map = { metadata: { name: 'm' }, data: { constructor: 'x' }, binaryData: { toString: 'YQ==' } };
  assert.deepEqual(validateConfigMap(map), []);
  const quota = { metadata: { name: 'q' }, spec: { hard: { pods: '1' }, scopes: ['constructor'] }, status: {} };
  assert.deepEqual(
    validateQuota(quota).map(({ field }) => field),
    ['spec.scopes'],
  );
});
