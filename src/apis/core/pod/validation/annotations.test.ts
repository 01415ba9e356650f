import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FieldPath } from '../../../../machinery/field-error.js';
import { testPod } from '../testing.js';
import { validatePodAnnotations } from './annotations.js';
import type { PodRules } from './pod-rules.js';

test('an annotation that holds no tolerations is refused, whatever it holds', () => {
  const key = 'scheduler.alpha.kubernetes.io/tolerations';
  const path = FieldPath.of('metadata', 'annotations');
  const fieldsFor = (text: string): string[] =>
    validatePodAnnotations({ [key]: text }, testPod({}).spec, path, {} as PodRules).map(({ field }) => field);
  for (const text of ['5', 'x', '{"a":1}', '["x"]', '[{"key":5}]']) {
    assert.deepEqual(fieldsFor(text), ['metadata.annotations'], text);
  }
  assert.deepEqual(fieldsFor('[null]'), [`metadata.annotations.${key}[0].operator`]);
  assert.deepEqual(fieldsFor('null'), []);
  assert.deepEqual(fieldsFor('[{"Key":"a","Operator":"Exists"}]'), []);
});
