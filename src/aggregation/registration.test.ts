import { silentLog } from '../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiextensionsKinds } from '../apis/apiextensions/index.js';
import { apiregistrationKinds } from '../apis/apiregistration/index.js';
import { createServerClient } from '../registry/server-client.js';
import { systemClock } from '../lib/async/clock.js';
import { directDialer } from '../outbound/dialer.js';
import { resolveByClusterIp } from '../registry/service-address.js';
import { API_SERVICES, ApiServices } from './api-services.js';
import { RemoteDiscovery } from './remote-discovery.js';
import { RemoteOpenApi } from './remote-openapi.js';
import { RemoteServers } from './remote-servers.js';
import { MetricRegistry } from '../lib/telemetry/metrics.js';
import type { APIService } from '../schema/generated/apiregistration.v1.js';
import { type Body, TestApi, type TestWatch } from '../server/testing/test-api.js';
import { type Aggregation, createAggregation } from './hooks.js';
import { nextStep, type Past } from './registration.js';
import { AUTO_MANAGED } from './wanted-services.js';

const SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const BUILT_IN = [
  { group: '', version: 'v1' },
  { group: 'apps', version: 'v1' },
  { group: 'apps', version: 'v1' },
  { group: 'apiregistration.k8s.io', version: 'v1' },
];

function service(managed: 'onstart' | 'true' | undefined, versionPriority = 15): APIService {
  return {
    metadata: { name: 'v1.g', ...(managed !== undefined && { labels: { [AUTO_MANAGED]: managed } }) },
    spec: { group: 'g', version: 'v1', groupPriorityMinimum: 100, versionPriority },
    status: {},
  };
}

test('only what the server marked is changed, and what it looks after at the start only then', () => {
  const first: Past = { lookedBefore: false, atStart: true };
  const came: Past = { lookedBefore: false, atStart: false };
  const later: Past = { lookedBefore: true, atStart: true };
  const [onStart, always, people] = [service('onstart'), service('true'), service(undefined)];
  const other = (managed: 'onstart' | 'true' | undefined): APIService => service(managed, 9);
  const cases: [APIService | undefined, APIService | undefined, Past, string][] = [
    [undefined, undefined, first, 'nothing'],
    [undefined, onStart, first, 'create'],
    [undefined, onStart, later, 'nothing'],
    [undefined, always, later, 'create'],
    [people, undefined, first, 'nothing'],
    [other(undefined), always, first, 'nothing'],
    [onStart, undefined, first, 'delete'],
    [onStart, undefined, came, 'nothing'],
    [onStart, undefined, later, 'nothing'],
    [other('onstart'), onStart, first, 'update'],
    [other('onstart'), always, later, 'nothing'],
    [always, undefined, later, 'delete'],
    [other('true'), onStart, first, 'update'],
    [other('true'), onStart, later, 'nothing'],
    [other('true'), always, later, 'update'],
    [always, always, later, 'nothing'],
  ];
  for (const [i, [current, wanted, past, step]] of cases.entries()) {
    assert.equal(nextStep(current, wanted, past), step, `case ${i}`);
  }
});

function start(api: TestApi): { readonly aggregation: Aggregation; readonly stop: AbortController } {
  const stop = new AbortController();
  const { operations, lookup } = api.resources;
  const services = new ApiServices(api.resources.store(API_SERVICES), silentLog);
  const resolve = resolveByClusterIp(lookup);
  const servers = new RemoteServers({ resolve, dialer: directDialer, identity: () => ({}) });
  const aggregation = createAggregation({
    services,
    servers,
    remote: new RemoteDiscovery(services, servers, systemClock),
    openApi: new RemoteOpenApi(services, servers, () => new Date()),
    client: createServerClient({ operations, lookup, context: api.context }),
    lookup,
    storeOf: (resource) => api.resources.store(resource),
    builtIn: BUILT_IN,
    metrics: new MetricRegistry(),
    clock: systemClock,
    log: silentLog,
  });
  for (const hook of [...aggregation.hooks, ...aggregation.writers]) void hook.run(stop.signal);
  return { aggregation, stop };
}

async function next(watch: TestWatch, count: number): Promise<Body[]> {
  const seen: Body[] = [];
  while (seen.length < count) seen.push((await watch.next()).object);
  return seen;
}

const definition = (served: boolean) => ({
  metadata: { name: 'widgets.example.test' },
  spec: {
    group: 'example.test',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      { name: 'v2', served, storage: false, schema: { openAPIV3Schema: { type: 'object' } } },
    ],
  },
});

test('versions are registered with their place and mark, and a second start writes nothing', async () => {
  const api = new TestApi({ kinds: [...apiregistrationKinds, ...apiextensionsKinds()] });
  const watch = await api.watch(`${SERVICES}?watch=1`);
  const { aggregation, stop } = start(api);
  assert.equal(aggregation.completion(), 'missing APIService: [v1. v1.apps]');
  const services = await next(watch, 2);
  const apps = services.find(({ metadata }) => metadata.name === 'v1.apps');
  assert.deepEqual(apps?.spec, { group: 'apps', version: 'v1', groupPriorityMinimum: 17800, versionPriority: 15 });
  assert.deepEqual(apps?.metadata.labels, { [AUTO_MANAGED]: 'onstart' });
  assert.equal(apps?.metadata.managedFields?.[0]?.manager, 'kube-apiserver');
  // The registration sees them in the same tick as this watch, or in the next.
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(aggregation.completion(), undefined);
  stop.abort();

  const second = start(api);
  await api.post(DEFINITIONS, definition(false));
  assert.deepEqual((await next(watch, 1))[0]?.metadata.name, 'v1.example.test');
  second.stop.abort();
  watch.stop();
});

test('versions of custom resources come and go with their CRDs, and come back when deleted', async () => {
  const api = new TestApi({ kinds: [...apiregistrationKinds, ...apiextensionsKinds()] });
  const { stop } = start(api);
  const watch = await api.watch(`${SERVICES}?watch=1`);
  await next(watch, 2);
  const { body } = await api.post(DEFINITIONS, definition(false));
  const [v1] = await next(watch, 1);
  assert.deepEqual(v1?.metadata.labels, { [AUTO_MANAGED]: 'true' });
  const spec = { group: 'example.test', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 };
  assert.deepEqual(v1?.spec, spec);
  await api.delete(`${SERVICES}/v1.example.test`);
  assert.deepEqual([(await watch.next()).type, (await watch.next()).type], ['DELETED', 'ADDED']);

  const put = (served: boolean, { metadata }: Body) =>
    api.put(`${DEFINITIONS}/widgets.example.test`, { ...definition(served), metadata });
  const changed = await put(true, body);
  assert.equal(changed.status, 200, changed.bytes.toString());
  assert.deepEqual((await next(watch, 1))[0]?.metadata.name, 'v2.example.test');
  await put(false, changed.body);
  const gone = await watch.next();
  assert.deepEqual([gone.type, gone.object.metadata.name], ['DELETED', 'v2.example.test']);
  stop.abort();
  watch.stop();
});
