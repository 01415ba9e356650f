import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSync } from '../../lib/scheduling/yield.js';
import type { JsonObject } from '../../machinery/object.js';
import { typeOf } from '../catalogue.js';
import type { StructType } from '../type.js';
import { compare } from './compare.js';
import { SYSTEM_FIELDS } from './field-manager.js';
import { FieldSet } from './field-set.js';
import { newFieldSteps } from './new-fields.js';
import { TypedValueError } from './shape.js';
import { sequence, someStruct } from './testing.js';
import { zeroOf } from './zero.js';

const newFields = (...args: Parameters<typeof newFieldSteps>): JsonObject | undefined =>
  runSync(newFieldSteps(...args));

const KINDS = [
  ['', 'ConfigMap'],
  ['', 'Pod'],
  ['', 'Service'],
  ['apps', 'Deployment'],
  ['networking.k8s.io', 'Ingress'],
  ['rbac.authorization.k8s.io', 'ClusterRole'],
] as const;

test('a new object is owned as by a comparison with nothing', () => {
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
    const { changed } = compare(zeroOf(type), object, type);
    const fields = changed.recursiveDifference(reset).difference(SYSTEM_FIELDS);
    return fields.empty ? undefined : fields.encode();
  } catch (error) {
    if (error instanceof TypedValueError) return 'no set';
    throw error;
  }
}
