import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FieldPath, fieldErrorText } from '../../../machinery/field-error.js';
import { validateNodeAnnotations } from './annotations.js';

const TAINTS = 'scheduler.alpha.kubernetes.io/taints';
const AVOIDED = 'scheduler.alpha.kubernetes.io/preferAvoidPods';
const check = (annotations: Record<string, string>): string[] =>
  validateNodeAnnotations(annotations, FieldPath.of('metadata', 'annotations')).map(fieldErrorText);

test('taints in an annotation obey the rules of taints', () => {
  assert.deepEqual(check({ [TAINTS]: '' }), []);
  assert.deepEqual(check({ [TAINTS]: '[{"key":"a","effect":"NoSchedule"}]' }), []);
  assert.deepEqual(check({ [TAINTS]: '[{"key":"a"}]' }), [`metadata.annotations.${TAINTS}[0].effect: Required value`]);
  assert.deepEqual(check({ [TAINTS]: 'x' }), [
    `metadata.annotations: Invalid value: "${TAINTS}": invalid character 'x' looking for beginning of value`,
  ]);
});

test('pods to avoid are named by their controller', () => {
  const entry = (podController: object | undefined): string =>
    JSON.stringify({ preferAvoidPods: [{ podSignature: { podController } }] });
  const at = `metadata.annotations.${AVOIDED}[0].PodSignature`;
  assert.deepEqual(check({ [AVOIDED]: entry({ controller: true }) }), []);
  assert.deepEqual(check({ [AVOIDED]: entry(undefined) }), [`${at}: Required value`]);
  assert.deepEqual(check({ [AVOIDED]: entry({ controller: false }) }), [
    `${at}.PodController.Controller: Invalid value: false: must point to a controller`,
  ]);
  assert.deepEqual(check({ [AVOIDED]: '[]' }), [
    `metadata.annotations.AvoidPods: Invalid value: "${AVOIDED}": json: cannot unmarshal array into Go value of type v1.AvoidPods`,
  ]);
});
