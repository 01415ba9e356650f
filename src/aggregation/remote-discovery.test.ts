import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { systemClock } from '../lib/async/clock.js';
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
  const fresh = new RemoteDiscovery(changing as unknown as ApiServices, servers, systemClock);
  const first = fresh.generation;
  assert.equal(fresh.generation, first);
  changing.generation++;
  assert.notEqual(fresh.generation, first);
  const second = fresh.generation;
  await fresh.refresh({ metadata: { name: 'v1.wares.test' }, ...SERVICES['v1.wares.test'] } as never, false);
  assert.equal(fresh.generation, second, 'nothing was known');
});

test('of a server that does not answer nothing is known', async () => {
  await discovery.refresh({ metadata: { name: 'v1.wares.test' }, ...SERVICES['v1.wares.test'] } as never, true);
  assert.equal(discovery.resources('wares.test', 'v1'), undefined);
});

interface OutboundRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

const DOCUMENT = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const document = (plural: string): string =>
  JSON.stringify({
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    items: [
      {
        metadata: { name: 'wares.test' },
        versions: [
          { version: 'v1', resources: [{ resource: plural, scope: 'Namespaced', singularResource: '', verbs: [] }] },
        ],
      },
    ],
  });

/** One server, which answers what the test says now. */
function fakeServer() {
  const requests: string[] = [];
  const answer = { status: 200, etag: '', body: '' as string | Buffer, encoding: undefined as string | undefined };
  const request = async ({ url, headers }: OutboundRequest) => {
    const tag = headers['if-none-match'];
    requests.push(tag === undefined ? url.pathname : `${url.pathname} unless ${tag}`);
    return {
      status: answer.status,
      headers: { 'content-type': DOCUMENT, etag: answer.etag, 'content-encoding': answer.encoding },
      rawHeaders: [],
      body: Readable.from([Buffer.from(answer.body)]),
    };
  };
  const reached = {
    reach: async () => ({ client: { request }, origin: new URL('https://ext') }),
  } as unknown as RemoteServers;
  const fetched = new RemoteDiscovery(services, reached, systemClock);
  const refresh = (version: string, resourceVersion: string) =>
    fetched.refresh(
      { metadata: { name: `${version}.wares.test`, resourceVersion }, ...SERVICES[`${version}.wares.test`] } as never,
      true,
    );
  const names = () => fetched.resources('wares.test', 'v1')?.map((one) => (one as { resource: string }).resource);
  return { requests, answer, fetched, refresh, names };
}

test('a document is requested with its tag, also for another version of the same server', async () => {
  const { requests, answer, fetched, refresh, names } = fakeServer();
  Object.assign(answer, { etag: '"1"', body: document('crates') });
  await refresh('v1', '1');
  assert.deepEqual(names(), ['crates']);
  Object.assign(answer, { status: 304, body: '' });
  await refresh('v2', '2');
  await refresh('v1', '3');
  assert.deepEqual(names(), ['crates']);
  fetched.forget('v1.wares.test');
  await refresh('v1', '4');
  assert.deepEqual(requests, ['/apis', '/apis unless "1"', '/apis unless "1"', '/apis unless "1"']);
});

test('a registration that changed is fetched anew, one that did not only after a while', async () => {
  const { requests, answer, refresh, names } = fakeServer();
  answer.body = document('crates');
  await refresh('v1', '1');
  answer.body = document('boxes');
  await refresh('v1', '1');
  assert.deepEqual([names(), requests.length], [['crates'], 1]);
  await refresh('v1', '2');
  assert.deepEqual([names(), requests.length], [['boxes'], 2]);
});

test('a gzip document is read', async () => {
  const { answer, refresh, names } = fakeServer();
  Object.assign(answer, { body: gzipSync(document('crates')), encoding: 'gzip' });
  await refresh('v1', '1');
  assert.deepEqual(names(), ['crates']);
});

test('an empty document lists nothing, and one of another kind is refused', async () => {
  const { answer, fetched, refresh, names } = fakeServer();
  await refresh('v1', '1');
  assert.deepEqual(names(), []);
  answer.body = '{"kind":"APIGroupList","apiVersion":"v1"}';
  await refresh('v1', '2');
  assert.equal(fetched.resources('wares.test', 'v1'), undefined);
});

test('a server that calls itself unavailable is not requested in the older form, and what it said counts again later', async () => {
  const { requests, answer, refresh, names } = fakeServer();
  Object.assign(answer, { etag: '"1"', body: document('crates') });
  await refresh('v1', '1');
  answer.status = 503;
  await refresh('v1', '2');
  assert.equal(names(), undefined);
  answer.status = 304;
  await refresh('v1', '3');
  assert.deepEqual(names(), ['crates']);
  assert.deepEqual(requests, ['/apis', '/apis unless "1"', '/apis unless "1"']);
});
