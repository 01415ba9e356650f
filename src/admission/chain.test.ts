import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChain } from './chain.js';
import type { AdmissionPlugin } from './plugin.js';
import { testAttributes } from './test-attributes.js';

test('stops at the first refusal and tells who took how long', async () => {
  const seen: string[] = [];
  const plugin = (name: string, refuses = false): AdmissionPlugin => ({
    name,
    handles: (operation) => operation === 'CREATE',
    validate() {
      seen.push(name);
      if (refuses) throw new Error('no');
    },
  });
  const observed: string[] = [];
  const chain = createChain([plugin('a'), plugin('b', true), plugin('c')], {
    plugin: (name, type, operation) => (rejected) => observed.push([name, type, operation, rejected].join(' ')),
    step: (type, operation) => (rejected) => observed.push([type, operation, rejected].join(' ')),
  });
  await assert.rejects(chain.validate(testAttributes({ resource: 'pods', object: { metadata: {} } })), /no/);
  assert.deepEqual(seen, ['a', 'b']);
  assert.deepEqual(observed, ['a validate CREATE false', 'b validate CREATE true', 'validate CREATE true']);
  await chain.validate(testAttributes({ resource: 'pods', old: { metadata: {} } }));
  await chain.admit(testAttributes({ resource: 'pods', object: { metadata: {} } }));
  assert.deepEqual(seen, ['a', 'b']);
  assert.deepEqual(observed.slice(3), ['validate UPDATE false', 'admit CREATE false']);
});
