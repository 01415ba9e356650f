import { logTo, silentLog } from '../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StorageVersion } from '../../schema/generated/apiserverinternal.v1alpha1.js';
import { fakeObjects } from '../testing.js';
import { withServer } from './storage-version.js';
import { StorageVersions, type StoredVersions } from './storage-versions.js';

const NOW = '2030-01-02T03:04:05Z';
const LATER = '2030-01-02T03:04:06Z';
const server = (apiServerID: string, encodingVersion: string) => ({
  apiServerID,
  encodingVersion,
  decodableVersions: [encodingVersion],
  servedVersions: [encodingVersion],
});

test('servers that write the same version agree, and the condition says since when they do', () => {
  const one = withServer({}, server('a', 'apps/v1'), NOW);
  assert.equal(one.commonEncodingVersion, 'apps/v1');
  assert.deepEqual(one.conditions, [
    {
      type: 'AllEncodingVersionsEqual',
      status: 'True',
      lastTransitionTime: NOW,
      reason: 'CommonEncodingVersionSet',
      message: 'Common encoding version set',
    },
  ]);
  assert.deepEqual(withServer(one, server('a', 'apps/v1'), LATER), one, 'published again, nothing changes');
  const two = withServer(one, server('b', 'apps/v2'), LATER);
  assert.equal(two.commonEncodingVersion, undefined);
  assert.equal(two.conditions?.[0]?.status, 'False');
  assert.equal(two.conditions?.[0]?.lastTransitionTime, LATER);
  const upgraded = withServer(one, server('a', 'apps/v2'), LATER);
  assert.equal(upgraded.commonEncodingVersion, 'apps/v2');
  assert.equal(upgraded.conditions?.[0]?.lastTransitionTime, LATER, 'another common version is a transition');
});

const EVENTS: StoredVersions = {
  resource: { group: '', resource: 'events' },
  equivalents: [{ group: 'events.k8s.io', resource: 'events' }],
  encodingVersion: 'v1',
  decodableVersions: ['v1', 'events.k8s.io/v1'],
  servedVersions: ['v1'],
};

test('resources are pending under all their names until they are published', async () => {
  const { client, object } = fakeObjects();
  const parts = { client, serverId: 'me', now: () => NOW, log: silentLog };
  const versions = new StorageVersions({ ...parts, stored: [EVENTS], isServed: () => true });
  const [core, twin] = [EVENTS.resource, { group: 'events.k8s.io', resource: 'events' }];
  assert.ok(versions.isPending(core));
  assert.ok(versions.isPending(twin));
  assert.ok(!versions.isPending({ group: '', resource: 'bindings' }));
  const stop = new AbortController();
  await versions.keep(stop.signal);
  stop.abort();
  assert.ok(versions.completed);
  assert.ok(!versions.isPending(twin));
  const { status } = object('core.events') as StorageVersion;
  assert.deepEqual(status.storageVersions, [
    { apiServerID: 'me', encodingVersion: 'v1', decodableVersions: ['v1', 'events.k8s.io/v1'], servedVersions: ['v1'] },
  ]);
});

test('without the API nothing can be published, and everything stays pending with the reason', async () => {
  const { client, names } = fakeObjects();
  const parts = { client, serverId: 'me', now: () => NOW, log: logTo(() => stop.abort()) };
  const stop = new AbortController();
  const versions = new StorageVersions({ ...parts, stored: [EVENTS], isServed: () => false });
  await versions.keep(stop.signal);
  assert.ok(!versions.completed);
  assert.equal(versions.lastError(EVENTS.resource), 'the server could not find the requested resource');
  assert.deepEqual(names(), []);
});
