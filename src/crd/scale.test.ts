import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldErrorText } from '../machinery/field-error.js';
import type { KubeObject } from '../machinery/object.js';
import { scaleAccess, validateScaleSpec, validateScaleStatus } from './scale.js';

const SCALE = { specReplicasPath: '.spec.deep.n', statusReplicasPath: '.status.n', labelSelectorPath: '.status.sel' };
const object = (more: object): KubeObject => ({ metadata: { name: 'o' }, ...more });

test('replicas are read and written where the CRD says, whatever is missing on the way', () => {
  const access = scaleAccess(SCALE, {});
  const value = object({ status: { n: 2, sel: 'a=b' } });
  assert.equal(access.missing?.(value), '.spec.deep.n');
  access.setSpecReplicas(value, 3);
  assert.deepEqual(value, object({ status: { n: 2, sel: 'a=b' }, spec: { deep: { n: 3 } } }));
  assert.equal(access.missing?.(value), undefined);
  assert.deepEqual([access.specReplicas(value), access.statusReplicas(value), access.selector(value)], [3, 2, 'a=b']);
});

test('replicas that are no count are refused, by their place', () => {
  const spec = (value: object): string[] => validateScaleSpec(object(value), SCALE).map(fieldErrorText);
  assert.deepEqual(spec({}), []);
  assert.deepEqual(spec({ spec: { deep: null } }), []);
  assert.deepEqual(spec({ spec: { deep: { n: -1 } } }), [
    '.spec.deep.n: Invalid value: -1: should be a non-negative integer',
  ]);
  assert.deepEqual(spec({ spec: { deep: { n: 2 ** 31 } } }), [
    '.spec.deep.n: Invalid value: 2147483648: should be less than or equal to 2147483647',
  ]);
  assert.deepEqual(spec({ spec: 'x' }), [
    '.spec.deep.n: Invalid value: 0: .spec.deep accessor error: x is of the type string, expected map[string]interface{}',
  ]);
  assert.deepEqual(spec({ spec: { deep: { n: 'x' } } }), [
    '.spec.deep.n: Invalid value: 0: .spec.deep.n accessor error: x is of the type string, expected int64',
  ]);
  assert.deepEqual(validateScaleStatus(object({ status: { sel: 1 } }), SCALE).map(fieldErrorText), [
    '.status.sel: Invalid value: "": .status.sel accessor error: 1 is of the type int64, expected string',
  ]);
});

test('replicas that are no number are a fault without a reason', () => {
  const paths = { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' };
  const why = '.spec.size accessor error: x is of the type string, expected int64';
  const expected = { code: 500, reason: '', message: why };
  assert.throws(() => scaleAccess(paths, {}).specReplicas(object({ spec: { size: 'x' } })), expected);
});
