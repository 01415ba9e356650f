import { silentLog } from '../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiregistrationKinds } from '../apis/apiregistration/index.js';
import { discoveryKinds } from '../apis/discovery/index.js';
import { createServerClient } from '../registry/server-client.js';
import { systemClock } from '../lib/async/clock.js';
import { MetricRegistry } from '../lib/telemetry/metrics.js';
import type { Lookup } from '../registry/kind.js';
import type { APIServiceCondition } from '../schema/generated/apiregistration.v1.js';
import type { Service } from '../schema/generated/core.v1.js';
import { type Body, TestApi, type TestWatch } from '../server/testing/test-api.js';
import { API_SERVICES, ApiServices } from './api-services.js';
import { createAvailabilityMetrics } from './availability-metrics.js';
import { type AvailabilityOptions, keepLocalAvailable, keepRemoteAvailability } from './availability.js';

const SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
const SLICES = { group: 'discovery.k8s.io', resource: 'endpointslices' };
const spec = { group: 'example.test', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10 };
const remote = { ...spec, insecureSkipTLSVerify: true, service: { namespace: 'n', name: 'ext' } };
const apiService = (of: object) => ({ metadata: { name: 'v1.example.test' }, spec: of });

const conditionOf = ({ status }: Body): APIServiceCondition | undefined =>
  (status as { conditions?: APIServiceCondition[] }).conditions?.[0];

async function until(watch: TestWatch, reason: string): Promise<Body> {
  for (;;) {
    const { object } = await watch.next();
    if (conditionOf(object)?.reason === reason) return object;
  }
}

async function open(
  stop: AbortController,
): Promise<{ api: TestApi; registry: MetricRegistry; options: AvailabilityOptions }> {
  const api = new TestApi({ kinds: [...apiregistrationKinds, ...discoveryKinds] });
  const { operations, lookup } = api.resources;
  const registry = new MetricRegistry();
  const services = new ApiServices(api.resources.store(API_SERVICES), silentLog);
  await services.follow(stop.signal);
  const client = createServerClient({ operations, lookup, context: api.context });
  const clock = { ...systemClock, now: () => api.nowMs };
  const metrics = createAvailabilityMetrics(registry);
  return { api, registry, options: { services, client, metrics, clock, signal: stop.signal, log: silentLog } };
}

test('what this server serves is available, whatever is written', async () => {
  const stop = new AbortController();
  const { api, options } = await open(stop);
  keepLocalAvailable(options);
  const watch = await api.watch(`${SERVICES}?watch=1`);
  await api.post(SERVICES, apiService(spec));
  await until(watch, 'Local');
  const lie = { status: { conditions: [{ type: 'Available', status: 'False', reason: 'Lie' }] } };
  await api.patch(`${SERVICES}/v1.example.test/status`, 'application/merge-patch+json', lie);
  await until(watch, 'Lie');
  const { metadata } = await until(watch, 'Local');
  const writers = metadata.managedFields?.map(({ manager, subresource }) => `${manager} ${subresource}`);
  assert.ok(writers?.includes('kube-apiserver status'), String(writers));
  stop.abort();
  watch.stop();
});

test('what another server serves is judged anew when its endpoints change', async () => {
  const stop = new AbortController();
  const { api, registry, options } = await open(stop);
  let service: Service | undefined;
  const judged = new Set<string | undefined>();
  const lookup: Lookup = { ...api.resources.lookup, get: async () => service };
  keepRemoteAvailability({
    ...options,
    lookup,
    storeOf: () => api.resources.store(SLICES),
    check: async () => ({ type: 'Available', status: 'True', reason: 'Passed', message: 'all checks passed' }),
    judged: async (_service, { reason }) => void judged.add(reason),
    forget: () => undefined,
  });
  const watch = await api.watch(`${SERVICES}?watch=1`);
  await api.post(SERVICES, apiService(remote));
  const missing = conditionOf(await until(watch, 'ServiceNotFound'));
  assert.equal(missing?.message, 'service/ext in "n" is not present');

  service = {
    metadata: {},
    spec: { type: 'ClusterIP', ports: [{ port: 443, targetPort: 443 }] },
    status: {},
  } as Service;
  api.nowMs += 5000;
  const made = await api.post('/apis/discovery.k8s.io/v1/namespaces/n/endpointslices', {
    metadata: { name: 'ext-1', labels: { 'kubernetes.io/service-name': 'ext' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.2.3'] }],
    ports: [{ port: 6443 }],
  });
  assert.equal(made.status, 201, made.bytes.toString());
  const found = conditionOf(await until(watch, 'Passed'));
  assert.notEqual(found?.lastTransitionTime, missing?.lastTransitionTime);
  // The status that was written is looked at, too: by then the service may be there, and its endpoints not yet.
  judged.delete('EndpointsNotFound');
  assert.deepEqual([...judged], ['ServiceNotFound', 'Passed']);
  assert.match(registry.text(), /^aggregator_unavailable_apiservice\{name="v1.example.test"\} 0$/m);
  await api.delete(`${SERVICES}/v1.example.test`);
  while ((await watch.next()).type !== 'DELETED');
  await new Promise((resolve) => setImmediate(resolve));
  assert.doesNotMatch(registry.text(), /v1\.example\.test/);
  stop.abort();
  watch.stop();
});

test('one of a definition that says it is remote is about to be undone, and not judged', async () => {
  const stop = new AbortController();
  const { api, options } = await open(stop);
  const passed = { type: 'Available', status: 'True', reason: 'Passed', message: 'all checks passed' } as const;
  const checked: (string | undefined)[] = [];
  keepRemoteAvailability({
    ...options,
    lookup: { ...api.resources.lookup, get: async () => ({ metadata: {}, spec: { type: 'ExternalName' } }) as never },
    storeOf: () => api.resources.store(SLICES),
    check: async ({ metadata }) => {
      checked.push(metadata.name);
      return passed;
    },
    judged: async () => undefined,
    forget: () => undefined,
  });
  const watch = await api.watch(`${SERVICES}?watch=1`);
  const labelled = (version: string, value: string) => ({
    metadata: { name: `${version}.example.test`, labels: { 'kube-aggregator.kubernetes.io/automanaged': value } },
    spec: { ...remote, version },
  });
  await api.post(SERVICES, labelled('v1', 'true'));
  await api.post(SERVICES, labelled('v2', 'onstart'));
  assert.equal((await until(watch, 'Passed')).metadata.name, 'v2.example.test');
  assert.deepEqual(checked, ['v2.example.test']);
  stop.abort();
  watch.stop();
});
