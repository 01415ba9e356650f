import assert from 'node:assert/strict';
import { test } from 'node:test';
import { identityHeaders } from './identity-headers.js';

test('extension servers are sent names in UTF-8', () => {
  assert.deepEqual(identityHeaders({ name: 'renée', uid: 'ü', groups: ['š'], extra: { a: ['名'] } }), {
    'x-remote-extra-a': ['\xe5\x90\x8d'],
    'x-remote-group': ['\xc5\xa1'],
    'x-remote-uid': '\xc3\xbc',
    'x-remote-user': 'ren\xc3\xa9e',
  });
});
