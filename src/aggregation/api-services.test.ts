import { silentLog } from '../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiregistrationKinds } from '../apis/apiregistration/index.js';
import { pollUntil } from '../lib/testing/poll-until.js';
import { TestApi } from '../server/testing/test-api.js';
import { API_SERVICES, ApiServices } from './api-services.js';

const SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
const service = (version: string) => ({
  metadata: { name: `${version}.example.test` },
  spec: { group: 'example.test', version, groupPriorityMinimum: 1000, versionPriority: 100 },
});

test('a group is known while any of its versions is registered, and each change is another generation', async () => {
  const api = new TestApi({ kinds: [...apiregistrationKinds] });
  const stop = new AbortController();
  const services = new ApiServices(api.resources.store(API_SERVICES), silentLog);
  assert.equal(services.hasGroup('example.test'), true, 'until they are known all count as registered');
  const unknown = services.generation;
  await services.follow(stop.signal);
  assert.notEqual(services.generation, unknown);
  assert.equal(services.hasGroup('example.test'), false);

  const changed = async (change: () => Promise<unknown>): Promise<boolean> => {
    const before = services.generation;
    await change();
    await pollUntil(() => services.generation !== before);
    return services.hasGroup('example.test');
  };
  assert.equal(await changed(() => api.post(SERVICES, service('v1'))), true);
  assert.equal(await changed(() => api.post(SERVICES, service('v2'))), true);
  assert.equal(services.groups()?.get('example.test')?.firstService, 'v1.example.test');
  assert.equal(await changed(() => api.delete(`${SERVICES}/v1.example.test`)), true);
  assert.equal(services.groups()?.get('example.test')?.firstService, 'v2.example.test');
  assert.equal(await changed(() => api.delete(`${SERVICES}/v2.example.test`)), false);
  stop.abort();
});
