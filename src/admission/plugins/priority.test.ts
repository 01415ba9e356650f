import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusal, testAttributes } from '../test-attributes.js';
import { priority } from './priority.js';

test('handles deletions, and admits all of them', async () => {
  assert.deepEqual(
    (['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const).map((operation) => priority.handles(operation)),
    [true, true, true, false],
  );
  const old = { metadata: { name: 'usual' }, value: 7, globalDefault: true };
  for (const resource of ['pods', 'priorityclasses.scheduling.k8s.io']) {
    const attributes = testAttributes({ resource, operation: 'DELETE', old });
    assert.equal(await refusal(priority, attributes), undefined);
  }
});
