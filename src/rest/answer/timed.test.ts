import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMaps } from '../../apis/core/configmap/definition.js';
import { namespaces } from '../../apis/core/namespace/definition.js';
import type { KindDefinition } from '../../registry/kind.js';
import { TestApi } from '../../server/testing/test-api.js';
import { timedRead } from './timed.js';

const MAPS = '/api/v1/namespaces/n/configmaps';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

test('a recorded request shows where its time went, and one whose bytes were at hand nothing', async () => {
  const api = new TestApi({ kinds: [configMaps, namespaces] as readonly KindDefinition[] });
  assert.deepEqual((await api.post(MAPS, { metadata: { name: 'a' } })).layers, ['etcd']);
  assert.deepEqual((await api.get(`${MAPS}/a`)).layers, []);
  assert.deepEqual((await api.get(`${MAPS}/a?resourceVersion=1`)).layers, ['etcd']);
  assert.deepEqual((await api.get(MAPS)).layers, ['etcd']);
  assert.deepEqual((await api.get(`${MAPS}/a`, { accept: TABLE })).layers, ['transform-response-object']);
  assert.deepEqual((await api.get(`${MAPS}/a`, { accept: PROTOBUF })).layers, ['serialize-response-object']);
  assert.deepEqual((await api.get(MAPS, { accept: TABLE })).layers, ['etcd', 'transform-response-object']);
});

test('so is a write whose answer is not JSON', async () => {
  const api = new TestApi({ kinds: [configMaps, namespaces] as readonly KindDefinition[] });
  const layersOf = async (request: string, accept: string, body = '{}', type = 'application/json') => {
    const [method = '', target = ''] = request.split(' ');
    const { layers } = await api.send(method, target, { headers: { accept, 'content-type': type }, body });
    return layers.filter((layer) => layer !== 'etcd');
  };
  const map = '{"metadata":{"name":"a"}}';
  const serialized = ['serialize-response-object'];
  assert.deepEqual(await layersOf(`POST ${MAPS}`, PROTOBUF, map), serialized);
  assert.deepEqual(await layersOf(`PUT ${MAPS}/a`, PROTOBUF, map), serialized);
  assert.deepEqual(await layersOf(`PUT ${MAPS}/a`, TABLE, map), ['transform-response-object']);
  const merge = 'application/merge-patch+json';
  assert.deepEqual(await layersOf(`PATCH ${MAPS}/a`, PROTOBUF, '{"data":{"k":"v"}}', merge), serialized);
  assert.deepEqual(await layersOf(`PUT ${MAPS}/a`, 'application/json', map), []);
});

test('of a request that is not audited, what takes long is recorded', async (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const spent: [layer: string, ms: number][] = [];
  const request = { spent: (layer: string, ms: number) => void spent.push([layer, ms]) };
  const readFor = (ms: number): Promise<number> =>
    timedRead(request, async () => {
      nowMs += ms;
      return ms;
    });
  assert.equal(await readFor(9), 9);
  assert.deepEqual(spent, []);
  await readFor(830);
  assert.deepEqual(spent, [['etcd', 830]]);
  await assert.rejects(
    timedRead(request, async () => {
      nowMs += 40;
      throw new Error('unavailable');
    }),
  );
  assert.deepEqual(spent.at(-1), ['etcd', 40]);
});
