import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSync } from '../../lib/scheduling/yield.js';
import type { JsonObject } from '../../machinery/object.js';
import { typeOf } from '../catalogue.js';
import { sharedText } from '../shared-fields.js';
import type { StructType } from '../type.js';
import { fieldsOfAlike, memoizeFields } from './field-set-cache.js';
import { SYSTEM_FIELDS } from './field-manager.js';
import { FieldSet } from './field-set.js';
import { newFieldSteps } from './new-fields.js';
import { TypedValueError } from './shape.js';
import { sequence, someStruct } from './testing.js';

const KINDS = [
  ['', 'ConfigMap'],
  ['', 'Pod'],
  ['', 'Service'],
  ['', 'Event'],
  ['discovery.k8s.io', 'EndpointSlice'],
  ['apps', 'Deployment'],
  ['networking.k8s.io', 'Ingress'],
  ['apiextensions.k8s.io', 'CustomResourceDefinition'],
] as const;

const pod = typeOf('', 'v1', 'Pod') as StructType;

/** None if they cannot be distinguished. */
function fieldsOf(object: JsonObject, type: StructType, reset: FieldSet): JsonObject | undefined {
  try {
    return runSync(newFieldSteps(object, type, { system: SYSTEM_FIELDS, reset }));
  } catch (error) {
    if (error instanceof TypedValueError) return undefined;
    throw error;
  }
}

/** Each call has a set of its own, so that nothing of another is known. */
function remembering(object: JsonObject, type: StructType): FieldSet {
  const reset = FieldSet.of(['f:status']);
  const fields = fieldsOf(object, type, reset);
  // One of eight is kept.
  if (fields !== undefined) for (let time = 0; time < 8; time++) memoizeFields(object, type, reset, fields);
  return reset;
}

const somePod = (name: string, image: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { generateName: 'a-', labels: { app: image } },
  spec: { containers: [{ name, image, ports: [{ containerPort: 80 }] }] },
  ...more,
});

test('what an object owns is known from one with the same names and other values', () => {
  const reset = remembering(somePod('c', 'one'), pod);
  const alike = fieldsOfAlike(somePod('c', 'two'), pod, reset);
  assert.deepEqual(alike, fieldsOf(somePod('c', 'two'), pod, reset));
  assert.equal(sharedText(alike as JsonObject), JSON.stringify(alike));
});

test('items that are distinguished by another name are not alike, nor are other members or other fields left out', () => {
  const reset = remembering(somePod('c', 'one'), pod);
  assert.equal(fieldsOfAlike(somePod('d', 'one'), pod, reset), undefined);
  assert.equal(fieldsOfAlike(somePod('c', 'one', { status: {} }), pod, reset), undefined);
  assert.equal(fieldsOfAlike(somePod('c', 'one'), pod, FieldSet.of(['f:status'])), undefined);
});

test('what is always there is alike where it is set or not set in both', () => {
  const event = typeOf('', 'v1', 'Event') as StructType;
  const someEvent = (name: string, firstTimestamp: string | null): JsonObject => ({
    metadata: { name },
    involvedObject: { kind: 'Pod', name },
    source: {},
    firstTimestamp,
    eventTime: null,
  });
  const reset = remembering(someEvent('a', '2024-01-01T00:00:00Z'), event);
  const other = someEvent('b', '2024-01-01T00:00:01Z');
  assert.deepEqual(fieldsOfAlike(other, event, reset), fieldsOf(other, event, reset));
  assert.ok(fieldsOfAlike(other, event, reset));
  assert.equal(fieldsOfAlike(someEvent('b', null), event, reset), undefined);
  assert.equal(fieldsOfAlike({ ...other, involvedObject: {} }, event, reset), undefined);
});

test('whatever counts as alike owns what it would own by itself', () => {
  const random = sequence(11);
  let known = 0;
  for (const [group, kind] of KINDS) {
    const type = typeOf(group, 'v1', kind) as StructType;
    for (let round = 0; round < 60; round++) {
      const object = someStruct(type, random, 0);
      const reset = remembering(object, type);
      for (let other = 0; other < 20; other++) {
        const changed = otherwise(object, random) as JsonObject;
        const alike = fieldsOfAlike(changed, type, reset);
        if (alike === undefined) continue;
        known++;
        assert.equal(JSON.stringify(alike), JSON.stringify(fieldsOf(changed, type, reset)), JSON.stringify(changed));
      }
    }
  }
  assert.ok(known > 500, `${known} counted as alike`);
});

/** A copy, with a little of it otherwise. */
function otherwise(value: unknown, random: () => number): unknown {
  if (Array.isArray(value)) return value.map((item) => otherwise(item, random));
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(() => random() > 0.002);
    return Object.fromEntries(members.map(([name, member]) => [name, otherwise(member, random)]));
  }
  if (random() > 0.05) return value;
  return typeof value === 'number' ? value + 1 : [null, '', 'b', false, {}, []][Math.floor(random() * 6)];
}
