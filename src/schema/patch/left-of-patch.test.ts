import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mustType } from '../catalogue.js';
import { leftOfPatch } from './left-of-patch.js';

const type = mustType('io.k8s.api.core.v1.Pod');
const live = {
  metadata: { name: 'p', labels: { a: 'b' } },
  spec: { containers: [{ name: 'c', image: 'i' }], nodeSelector: { x: 'y' } },
};
const left = (patch: object): object => leftOfPatch(live, patch as Record<string, unknown>, type);

test('nulls are left where they remove something, not in what is new', () => {
  assert.deepEqual(left({ metadata: { labels: { a: null }, annotations: { n: null, m: ['x', null] } } }), {
    metadata: { labels: { a: null }, annotations: { m: ['x', null] } },
  });
  assert.deepEqual(left({ metadata: { name: { x: null } } }), { metadata: { name: {} } });
  const containers = [
    { name: 'c', env: [{ name: 'e', value: null }], image: { x: null } },
    { name: 'new', image: null },
  ];
  assert.deepEqual(left({ spec: { containers } }), {
    spec: {
      containers: [
        { name: 'c', env: [{ name: 'e' }], image: {} },
        { name: 'new', image: null },
      ],
    },
  });
});

test('directives that were followed are gone, and so are lists that were put in order', () => {
  assert.deepEqual(left({ metadata: { labels: { $patch: 'replace', q: 'r' } } }), { metadata: { labels: { q: 'r' } } });
  assert.deepEqual(left({ metadata: { labels: { $patch: 'delete' } } }), {
    metadata: { labels: { $patch: 'delete' } },
  });
  const spec = {
    $retainKeys: ['containers'],
    '$setElementOrder/containers': [{ name: 'c' }],
    containers: [{ name: 'c', image: 'j' }],
  };
  assert.deepEqual(left({ spec }), { spec: {} });
  assert.deepEqual(left({ spec: { '$deleteFromPrimitiveList/x': ['a'] } }), {
    spec: { '$deleteFromPrimitiveList/x': ['a'] },
  });
});
