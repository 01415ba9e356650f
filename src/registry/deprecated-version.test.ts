import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deprecated } from './deprecated-version.js';

test('a deprecated version says since when, until when and what to use instead, as far as that is known', () => {
  assert.deepEqual(deprecated('v1 Old', { in: '1.19' }), { deprecationWarning: 'v1 Old is deprecated in v1.19+' });
  assert.deepEqual(deprecated('g/v1beta1 Old', { in: '1.34', removedIn: '1.37', use: 'g/v1 Old' }), {
    deprecationWarning: 'g/v1beta1 Old is deprecated in v1.34+, unavailable in v1.37+; use g/v1 Old',
    removedRelease: '1.37',
  });
});
