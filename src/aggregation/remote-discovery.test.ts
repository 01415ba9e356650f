import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../lib/clock.js';
import { directDialer } from '../outbound/dialer.js';
import type { ApiServices } from './api-services.js';
import { RemoteDiscovery } from './remote-discovery.js';
import { RemoteServers } from './remote-servers.js';

const service = (group: string, version: string, groupPriorityMinimum: number, versionPriority: number) => ({
  spec: { group, version, groupPriorityMinimum, versionPriority, service: { name: 'ext', namespace: 'n' } },
});
const SERVICES: Readonly<Record<string, ReturnType<typeof service>>> = {
  'v1.wares.test': service('wares.test', 'v1', 10, 20),
  'v2.wares.test': service('wares.test', 'v2', 2000, 5),
};
const services = {
  generation: 1,
  remoteNames: () => Object.keys(SERVICES),
  get: (name: string) => SERVICES[name],
  hasGroup: (group: string) => group === 'wares.test' || group === 'apps',
} as unknown as ApiServices;
const servers = new RemoteServers({
  resolve: () => ({ host: '127.0.0.1', port: 1 }),
  dialer: directDialer,
  identity: () => ({}),
});
const discovery = new RemoteDiscovery(services, servers, systemClock);

test('a group ranks by the highest of its versions, a version by its own', () => {
  assert.equal(discovery.groupRank('wares.test'), 2000);
  assert.equal(discovery.groupRank('apps'), undefined);
  assert.ok(discovery.versionRank('wares.test', 'v1') > discovery.versionRank('wares.test', 'v2'));
});

test('groups that are registered no more are not listed, but where registrations are made always is', () => {
  assert.deepEqual(
    ['apps', 'batch', 'apiregistration.k8s.io'].map((group) => discovery.isListed(group)),
    [true, false, true],
  );
});

test('it has another generation when services or what is known of them are others', async () => {
  const changing = { generation: 1 };
  const told = new RemoteDiscovery(changing as unknown as ApiServices, servers, systemClock);
  const first = told.generation;
  assert.equal(told.generation, first);
  changing.generation++;
  assert.notEqual(told.generation, first);
  const second = told.generation;
  await told.refresh({ metadata: { name: 'v1.wares.test' }, ...SERVICES['v1.wares.test'] } as never, false);
  assert.equal(told.generation, second, 'nothing was known');
});

test('of a server that does not answer nothing is known', async () => {
  await discovery.refresh({ metadata: { name: 'v1.wares.test' }, ...SERVICES['v1.wares.test'] } as never, true);
  assert.equal(discovery.resources('wares.test', 'v1'), undefined);
});
