import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { typeOf } from './catalogue.js';
import { normalize } from './json/decode.js';
import { encodeJson, encodeStored } from './json/encode.js';
import { isStoredAsOther } from './stored-as-other.js';
import { objectOf } from './testing.js';

const KINDS = [
  ['rbac.authorization.k8s.io', 'v1', 'ClusterRole'],
  ['', 'v1', 'Pod'],
  ['apps', 'v1', 'Deployment'],
  ['discovery.k8s.io', 'v1', 'EndpointSlice'],
  ['apiextensions.k8s.io', 'v1', 'CustomResourceDefinition'],
  ['autoscaling', 'v2', 'HorizontalPodAutoscaler'],
] as const;

test('an object is stored as another exactly where its stored JSON is not what was sent', () => {
  const seen = new Set<boolean>();
  for (const [group, version, kind] of KINDS) {
    const type = typeOf(group, version, kind);
    assert.ok(type);
    fc.assert(
      fc.property(objectOf(type, 4), (made) => {
        const object = normalize(type, made);
        const isOther = isStoredAsOther(type, object);
        assert.equal(isOther, encodeStored(type, object) !== encodeJson(type, object));
        seen.add(isOther);
      }),
      { numRuns: 60 },
    );
  }
  assert.deepEqual(seen, new Set([false, true]));
});
