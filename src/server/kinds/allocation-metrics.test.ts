import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAddressAllocator, ipAddress } from '../../apis/core/service/address-allocator.js';
import { createNodePortAllocator, nodePortBitmap } from '../../apis/core/service/node-port-allocator.js';
import { parseCidr } from '../../lib/values/ip-address.js';
import { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { Service } from '../../schema/generated/core.v1.js';
import { StorageError, type StoredObject } from '../../storage/store.js';
import { createAddressMetrics, createNodePortMetrics } from './allocation-metrics.js';

const service = { metadata: { name: 'a', namespace: 'n' }, spec: {} } as Service;

function shownIn(registry: MetricRegistry): (prefix: string) => string[] {
  return (prefix) => {
    const lines = registry.text().split('\n');
    return lines.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length));
  };
}

test('addresses are counted by their block, and by how they were requested', async () => {
  const registry = new MetricRegistry();
  const shown = shownIn(registry);
  const metrics = createAddressMetrics(registry, () => 0);
  const block = parseCidr('10.0.0.0/29');
  assert.ok(block);
  const names = new Set<string>();
  const allocator = createAddressAllocator({
    ranges: [block],
    random: () => 0n,
    metrics,
    objects: {
      serviceCidrs: async () => [],
      exists: async (name) => names.has(name),
      create: async ({ metadata: { name = '' } }) => !names.has(name) && names.add(name) !== undefined,
      delete: async (name) => names.delete(name),
    },
  });
  await allocator.take('IPv4', '10.0.0.3', service, false);
  const next = await allocator.takeNext('IPv4', service, false);
  await assert.rejects(allocator.take('IPv4', '10.0.0.3', service, false), /already allocated/);
  await assert.rejects(allocator.take('IPv4', '10.0.0.7', service, false), /does not match the current range/);
  await allocator.take('IPv4', '10.0.0.5', service, true);
  const name = 'kube_apiserver_clusterip_allocator_';
  assert.deepEqual(shown(`${name}allocation_total`), [
    '{cidr="10.0.0.0/29",scope="dynamic"} 1',
    '{cidr="10.0.0.0/29",scope="static"} 1',
  ]);
  assert.deepEqual(shown(`${name}allocation_errors_total`), ['{cidr="10.0.0.0/29",scope="static"} 1']);
  assert.deepEqual(shown(`${name}allocation_duration_seconds_count`), ['{cidr="10.0.0.0/29"} 2']);
  assert.deepEqual(shown(`${name}allocated_ips`), ['{cidr="10.0.0.0/29"} 2']);
  assert.deepEqual(shown(`${name}available_ips`), ['{cidr="10.0.0.0/29"} 4']);
  await allocator.release(next);
  await allocator.release(next);
  assert.deepEqual(shown(`${name}allocated_ips`), ['{cidr="10.0.0.0/29"} 1']);
  metrics.found(['10.0.0.1', '10.0.0.2', '10.0.0.3'].map((ip) => ipAddress(ip, 'IPv4', service)));
  assert.deepEqual(shown(`${name}available_ips`), ['{cidr="10.0.0.0/29"} 3']);
});

test('node ports are counted, those in use by what is stored', async () => {
  const registry = new MetricRegistry();
  const shown = shownIn(registry);
  const range = { base: 30000, size: 10 };
  const metrics = createNodePortMetrics(registry, range.size);
  let stored: StoredObject | undefined;
  const keep = async (object: object): Promise<StoredObject> =>
    (stored = { revision: 1, object: () => object } as unknown as StoredObject);
  const bitmap = nodePortBitmap(
    {
      get: async () => stored,
      create: async (_key, object) => keep(object),
      update: async (_key, revision, object) => {
        if (revision !== 1) throw new StorageError('conflict', 'another');
        return keep(object);
      },
    },
    range,
    () => 0,
    metrics.inUse,
  );
  const allocator = createNodePortAllocator(bitmap, range, metrics);
  await allocator.take(30005);
  await allocator.takeNext();
  await assert.rejects(allocator.take(30005), /already allocated/);
  await assert.rejects(allocator.take(1), /not in the valid range/);
  const name = 'kube_apiserver_nodeport_allocator_';
  assert.deepEqual(shown(`${name}allocation_total`), ['{scope="dynamic"} 1', '{scope="static"} 1']);
  assert.deepEqual(shown(`${name}allocation_errors_total`), ['{scope="static"} 2']);
  assert.deepEqual([...shown(`${name}allocated_ports`), ...shown(`${name}available_ports`)], [' 2', ' 8']);
  await allocator.release(30005);
  assert.deepEqual([...shown(`${name}allocated_ports`), ...shown(`${name}available_ports`)], [' 1', ' 9']);
  assert.deepEqual(shown('apiserver_nodeport_repair_reconcile_errors_total'), [' 0']);
});
