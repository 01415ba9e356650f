import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldErrorText } from '../../../machinery/field-error.js';
import type { LimitRange, LimitRangeItem } from '../../../schema/generated/core.v1.js';
import { limitRanges } from './definition.js';
import { validateLimitRange } from './validation.js';

const range = (...limits: LimitRangeItem[]): LimitRange => ({ metadata: { name: 'l' }, spec: { limits } });
const errorsOf = (item: LimitRangeItem): string[] => validateLimitRange(range(item)).map(fieldErrorText);

test('containers take limits from the maximum and requests from the limits', () => {
  const object = range({ type: 'Container', max: { cpu: '2' }, min: { memory: '1Mi' }, default: { cpu: '0.0001' } });
  limitRanges.versions[0]?.defaults?.(object);
  assert.deepEqual(object.spec.limits?.[0]?.default, { cpu: '1m' });
  assert.deepEqual(object.spec.limits?.[0]?.defaultRequest, { cpu: '1m', memory: '1Mi' });
});

test('amounts must be in order', () => {
  assert.deepEqual(errorsOf({ type: 'Pod', min: { cpu: '2' }, max: { cpu: '1' } }), [
    'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
  ]);
  assert.deepEqual(
    errorsOf({ type: 'Pod', min: { cpu: '1' }, max: { cpu: '2' }, maxLimitRequestRatio: { cpu: '3' } }),
    ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000'],
  );
});

test('pods have no defaults and claims need a bound', () => {
  assert.deepEqual(errorsOf({ type: 'Pod', default: { cpu: '1' } }), [
    "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
  ]);
  assert.equal(errorsOf({ type: 'PersistentVolumeClaim' }).length, 1);
});
