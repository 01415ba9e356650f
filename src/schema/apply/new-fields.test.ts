import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atOnce } from '../../lib/turns.js';
import type { JsonObject } from '../../machinery/object.js';
import { typeOf } from '../catalogue.js';
import type { StructType, Type } from '../type.js';
import { compare } from './compare.js';
import { SYSTEM_FIELDS } from './field-manager.js';
import { FieldSet } from './field-set.js';
import { newFieldSteps } from './new-fields.js';
import { TypedValueError } from './shape.js';
import { zeroOf } from './zero.js';

const newFields = (...args: Parameters<typeof newFieldSteps>): JsonObject | undefined => atOnce(newFieldSteps(...args));

const KINDS = [
  ['', 'ConfigMap'],
  ['', 'Pod'],
  ['', 'Service'],
  ['apps', 'Deployment'],
  ['networking.k8s.io', 'Ingress'],
  ['rbac.authorization.k8s.io', 'ClusterRole'],
] as const;

test('a new object is owned as a comparison with nothing tells', () => {
  const random = sequence(7);
  const resets = [FieldSet.of(), FieldSet.of(['f:status']), FieldSet.of(['f:spec'], ['f:metadata', 'f:labels'])];
  let compared = 0;
  for (const [group, kind] of KINDS) {
    const type = typeOf(group, 'v1', kind) as StructType;
    for (let round = 0; round < 150; round++) {
      const object = someStruct(type, random, 0);
      for (const reset of resets) {
        const expected = byComparison(object, type, reset);
        if (expected === 'no set')
          assert.throws(() => newFields(object, type, { system: SYSTEM_FIELDS, reset }), TypedValueError);
        else {
          const got = newFields(object, type, { system: SYSTEM_FIELDS, reset });
          assert.equal(JSON.stringify(got), JSON.stringify(expected), JSON.stringify(object));
          compared++;
        }
      }
    }
  }
  assert.ok(compared > 1000, `${compared} objects could be compared`);
});

function byComparison(object: JsonObject, type: StructType, reset: FieldSet): JsonObject | 'no set' | undefined {
  try {
    const { added, modified } = compare(zeroOf(type), object, type);
    const fields = modified.union(added).recursiveDifference(reset).difference(SYSTEM_FIELDS);
    return fields.empty ? undefined : fields.encode();
  } catch (error) {
    if (error instanceof TypedValueError) return 'no set';
    throw error;
  }
}

const MOST_DEEP = 7;

function some(type: Type, random: () => number, depth: number): unknown {
  switch (type.kind) {
    case 'struct':
      return someStruct(type, random, depth + 1);
    case 'list':
      return Array.from({ length: Math.floor(random() * 3) }, () => some(type.element, random, depth + 1));
    case 'map':
      return Object.fromEntries(
        Array.from({ length: Math.floor(random() * 3) }, () => [
          `k${Math.floor(random() * 9)}`,
          some(type.value, random, depth + 1),
        ]),
      );
    case 'scalar':
      if (type.scalar === 'bool') return random() < 0.5;
      if (['int32', 'int64', 'double'].includes(type.scalar)) return Math.floor(random() * 3);
      return ['', 'a', 'b', null][Math.floor(random() * 4)];
  }
}

function someStruct(type: StructType, random: () => number, depth: number): JsonObject {
  const object: JsonObject = {};
  const share = depth === 0 ? 0.8 : depth > MOST_DEEP ? 0 : 0.25;
  for (const { json, type: fieldType } of type.fields) {
    if (json !== '' && random() < share) object[json] = random() < 0.05 ? null : some(fieldType, random, depth);
  }
  return object;
}

/** Numbers that are the same in every run. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}
