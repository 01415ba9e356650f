import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionRequest } from './review.js';

test('conditions see the values of every requirement, also of those that need none', () => {
  const labelSelector = { requirements: [{ key: 'a', operator: 'Exists' } as const] };
  const seen = conditionRequest({ resourceAttributes: { verb: 'list', resource: 'pods', labelSelector } });
  assert.deepEqual(seen, {
    user: '',
    groups: [],
    uid: '',
    extra: {},
    resourceAttributes: {
      namespace: '',
      verb: 'list',
      group: '',
      version: '',
      resource: 'pods',
      subresource: '',
      name: '',
      labelSelector: { requirements: [{ key: 'a', operator: 'Exists', values: [] }] },
    },
  });
});
