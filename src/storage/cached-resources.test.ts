import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isCached } from './cached-resources.js';

it('caches all but events, as the flags say', () => {
  const pods = { group: '', resource: 'pods' };
  const events = { group: '', resource: 'events' };
  const deployments = { group: 'apps', resource: 'deployments' };
  assert.equal(isCached(pods, true, []), true);
  assert.equal(isCached(pods, false, []), false);
  assert.equal(isCached(events, true, []), false);
  assert.equal(isCached(events, true, ['events#100']), true);
  assert.equal(isCached(deployments, true, ['deployments#0']), true);
  assert.equal(isCached(deployments, true, ['deployments.apps#0', 'pods#5']), false);
});
