import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mustType } from './catalogue.js';
import { inFieldOrder } from './field-order.js';
import { decodeJson } from './json/decode.js';
import { encodeJson } from './json/encode.js';

test('an object in field order is encoded without its type as with it', () => {
  const type = mustType('io.k8s.api.core.v1.Pod');
  const sent = {
    status: {},
    spec: {
      nodeSelector: { b: '1', a: '2' },
      containers: [{ image: 'i', resources: { limits: { memory: '1Gi', cpu: '1' } }, name: 'c' }],
    },
    metadata: { labels: { z: '1', __proto__x: '2', a: '3' }, creationTimestamp: '2024-01-01T00:00:00Z', name: 'p' },
    apiVersion: 'v1',
    kind: 'Pod',
  };
  const { object } = decodeJson(type, JSON.stringify(sent), { strict: true });
  const ordered = inFieldOrder(type, object);
  assert.deepEqual(ordered, object);
  assert.equal(JSON.stringify(ordered), encodeJson(type, object).toString());
});
