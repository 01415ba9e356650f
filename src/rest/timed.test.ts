import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMaps } from '../apis/core/configmap/definition.js';
import { namespaces } from '../apis/core/namespace/definition.js';
import type { KindDefinition } from '../registry/kind.js';
import { TestApi } from '../server/testing.js';
import { timedRead } from './timed.js';

const MAPS = '/api/v1/namespaces/n/configmaps';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

test('a recorded request is told where its time went, and one whose bytes were at hand of nothing', async () => {
  const api = new TestApi({ kinds: [configMaps, namespaces] as readonly KindDefinition[] });
  assert.deepEqual((await api.post(MAPS, { metadata: { name: 'a' } })).layers, ['etcd']);
  assert.deepEqual((await api.get(`${MAPS}/a`)).layers, []);
  assert.deepEqual((await api.get(`${MAPS}/a?resourceVersion=1`)).layers, ['etcd']);
  assert.deepEqual((await api.get(MAPS)).layers, ['etcd']);
  assert.deepEqual((await api.get(`${MAPS}/a`, { accept: TABLE })).layers, ['transform-response-object']);
  assert.deepEqual((await api.get(`${MAPS}/a`, { accept: PROTOBUF })).layers, ['serialize-response-object']);
  assert.deepEqual((await api.get(MAPS, { accept: TABLE })).layers, ['etcd', 'transform-response-object']);
});

test('nobody looks at a clock for a request that is not recorded', async (t) => {
  const now = t.mock.method(performance, 'now');
  assert.equal(await timedRead({}, () => Promise.resolve(2)), 2);
  assert.equal(now.mock.callCount(), 0);
});
