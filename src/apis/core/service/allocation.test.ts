import { silentLog } from '../../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCidr } from '../../../lib/values/ip-address.js';
import { StatusError } from '../../../machinery/status.js';
import type { LifeContext } from '../../../registry/kind.js';
import type { Service } from '../../../schema/generated/core.v1.js';
import type { IPAddress } from '../../../schema/generated/networking.v1.js';
import { createAddressAllocator } from './address-allocator.js';
import { allocateForCreate, allocateForUpdate, releaseAll } from './allocation.js';
import type { ServiceAllocators } from './allocators.js';
import { setServiceDefaults } from './defaults.js';
import { createNodePortAllocator, nodePortBitmap } from './node-port-allocator.js';
import { createNodePortRepair } from './range-repair.js';
import { repairAddresses } from './repair.js';
import { MemoryRanges } from './testing.js';

const RANGE = { base: 30000, size: 100 };

function pools(cidrs: readonly string[] = ['10.0.0.0/24']) {
  const addresses = new Map<string, IPAddress>();
  const store = new MemoryRanges();
  const ports = nodePortBitmap(store, RANGE, () => 0);
  const leaks: string[] = [];
  const ranges = cidrs.map((text) => {
    const cidr = parseCidr(text);
    assert.ok(cidr);
    return cidr;
  });
  const objects = {
    serviceCidrs: async () => [],
    exists: async (name: string) => addresses.has(name),
    create: async (address: IPAddress) => {
      const name = address.metadata.name ?? '';
      if (addresses.has(name)) return false;
      addresses.set(name, address);
      return true;
    },
    delete: async (name: string) => addresses.delete(name),
  };
  const allocators: ServiceAllocators = {
    families: ranges.map(({ family }) => (family === 4 ? 'IPv4' : 'IPv6')),
    addresses: createAddressAllocator({ objects, ranges, random: () => 0n }),
    nodePorts: createNodePortAllocator(ports, RANGE),
    leaked: (what) => leaks.push(what),
  };
  return { allocators, addresses, store, ports, objects, leaks };
}

function service(spec: Partial<Service['spec']>, name = 'web'): Service {
  const object: Service = {
    metadata: { name, namespace: 'ns' },
    spec: { ports: [{ port: 80, targetPort: 0 }], selector: { app: 'web' }, ...spec },
    status: { loadBalancer: {} },
  };
  setServiceDefaults(object);
  return object;
}

const context = (dryRun = false): LifeContext =>
  ({ dryRun, features: { enabled: () => false } }) as unknown as LifeContext;

const reason = (text: string) => (error: unknown) => {
  assert.ok(error instanceof StatusError);
  assert.match(error.message, new RegExp(text.replaceAll(/[()[\]]/g, '\\$&')));
  return true;
};

test('a new service gets the first address after those left for people to choose', async () => {
  const { allocators, addresses } = pools();
  const object = service({});
  await (await allocateForCreate(object, allocators, context())).commit();
  assert.deepEqual(object.spec.clusterIPs, ['10.0.0.17']);
  assert.equal(object.spec.ipFamilyPolicy, 'SingleStack');
  assert.equal(addresses.get('10.0.0.17')?.spec.parentRef?.name, 'web');
});

test('an address that is allocated or outside the range is refused', async () => {
  const { allocators } = pools();
  await allocateForCreate(service({ clusterIP: '10.0.0.5' }), allocators, context());
  const duplicate = service({ clusterIP: '10.0.0.5' }, 'other');
  await assert.rejects(allocateForCreate(duplicate, allocators, context()), reason('provided IP is already allocated'));
  const outside = service({ clusterIP: '10.9.0.5' }, 'far');
  const text = 'the provided network does not match the current range';
  await assert.rejects(allocateForCreate(outside, allocators, context()), reason(text));
  for (const clusterIP of ['10.0.0.0', '10.0.0.255']) {
    await assert.rejects(allocateForCreate(service({ clusterIP }, 'edge'), allocators, context()), reason(text));
  }
});

test('a service that no address may name as its owner finds the range full', async () => {
  const { allocators, objects } = pools();
  let calls = 0;
  objects.create = async () => {
    calls++;
    throw new StatusError(422, 'Invalid', 'IPAddress is invalid: spec.parentRef.name: Required value');
  };
  const nameless = allocateForCreate(service({}, ''), allocators, context());
  await assert.rejects(nameless, reason('failed to allocate a serviceIP: range is full'));
  assert.equal(calls, 1);
});

test('a dry run allocates nothing and shows placeholders', async () => {
  const { allocators, addresses, store } = pools();
  const object = service({ type: 'NodePort' });
  await (await allocateForCreate(object, allocators, context(true))).commit();
  assert.equal(object.spec.clusterIP, '10.0.0.0');
  assert.equal(object.spec.ports?.[0]?.nodePort, 32769);
  assert.equal(addresses.size, 0);
  assert.equal(store.objects.size, 0);
});

test('what was allocated is released when the write fails', async () => {
  const { allocators, addresses } = pools();
  const object = service({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
  const transaction = await allocateForCreate(object, allocators, context());
  const port = object.spec.ports?.[0]?.nodePort ?? 0;
  assert.equal(await allocators.nodePorts.isAllocated(port), true);
  assert.equal(await allocators.nodePorts.isAllocated(object.spec.healthCheckNodePort ?? 0), true);
  await transaction.revert();
  assert.equal(addresses.size, 0);
  assert.equal(await allocators.nodePorts.isAllocated(port), false);
});

test('those who want a port at once all get one of their own, in a few writes', async () => {
  const { allocators, store } = pools();
  await allocators.nodePorts.take(30005);
  const allocations = Array.from({ length: RANGE.size - 1 }, () => allocators.nodePorts.takeNext());
  await assert.rejects(allocators.nodePorts.take(30005), /already allocated/);
  assert.equal(new Set(await Promise.all(allocations)).size, RANGE.size - 1);
  const writes = store.objects.get('servicenodeports')?.revision ?? 0;
  assert.ok(writes <= 4, `${writes} writes`);
});

test('a failure half way releases the half that was allocated', async () => {
  const { allocators, addresses } = pools();
  await allocators.nodePorts.take(30005);
  const object = service({ type: 'NodePort', ports: [{ port: 80, targetPort: 80, nodePort: 30005 }] });
  await assert.rejects(allocateForCreate(object, allocators, context()), reason('spec.ports[0].nodePort'));
  assert.equal(addresses.size, 0);
});

test('a service that becomes an ExternalName releases its address and ports once that is stored', async () => {
  const { allocators, addresses } = pools();
  const old = service({ type: 'NodePort' });
  await allocateForCreate(old, allocators, context());
  const port = old.spec.ports?.[0]?.nodePort ?? 0;
  const object = service({ type: 'ExternalName', externalName: 'example.com' });
  const transaction = await allocateForUpdate(object, old, allocators, context());
  assert.equal(addresses.size, 1);
  await transaction.commit();
  assert.equal(addresses.size, 0);
  assert.equal(await allocators.nodePorts.isAllocated(port), false);
});

test('sending the manifest again keeps what the server added', async () => {
  const { allocators } = pools();
  const old = service({ type: 'NodePort' });
  await allocateForCreate(old, allocators, context());
  const again = service({ type: 'NodePort' });
  await allocateForUpdate(again, old, allocators, context());
  assert.equal(again.spec.clusterIP, old.spec.clusterIP);
  assert.equal(again.spec.ports?.[0]?.nodePort, old.spec.ports?.[0]?.nodePort);
});

test('two families: requested, added later, and removed', async () => {
  const { allocators, addresses } = pools(['10.0.0.0/24', 'fd00::/112']);
  const single = service({});
  await allocateForCreate(single, allocators, context());
  const dual = service({ ipFamilyPolicy: 'RequireDualStack' });
  await (await allocateForUpdate(dual, single, allocators, context())).commit();
  assert.deepEqual(dual.spec.ipFamilies, ['IPv4', 'IPv6']);
  assert.deepEqual([...addresses.keys()], ['10.0.0.17', 'fd00::101']);
  const back = service({ ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4', 'IPv6'] });
  await (await allocateForUpdate(back, dual, allocators, context())).commit();
  assert.deepEqual(back.spec.clusterIPs, ['10.0.0.17']);
  assert.deepEqual([...addresses.keys()], ['10.0.0.17']);
});

test('two families on a cluster of one are refused', async () => {
  const { allocators } = pools();
  const object = service({ ipFamilyPolicy: 'RequireDualStack' });
  const text = 'this cluster is not configured for dual-stack services';
  await assert.rejects(allocateForCreate(object, allocators, context()), reason(text));
});

test('a deleted service leaves nothing behind', async () => {
  const { allocators, addresses, store } = pools();
  const object = service({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
  await allocateForCreate(object, allocators, context());
  await releaseAll(object, allocators);
  assert.equal(addresses.size, 0);
  const left = store.objects.get('servicenodeports')?.object() as { data?: string | null } | undefined;
  assert.equal(left?.data, null);
});

test('a service whose release fails is deleted all the same', async () => {
  const { allocators, objects, leaks } = pools();
  const object = service({});
  await allocateForCreate(object, allocators, context());
  objects.delete = () => Promise.reject(new Error('no store'));
  await releaseAll(object, allocators);
  assert.deepEqual(leaks, ['cluster IP 10.0.0.17']);
});

test('repair allocates the port of a service that lost it and releases a leaked one in the third round', async () => {
  const { allocators, ports } = pools();
  await allocators.nodePorts.take(30050);
  const object = service({ type: 'NodePort', ports: [{ port: 80, targetPort: 80, nodePort: 30007 }] });
  const repair = createNodePortRepair(ports, RANGE, { services: async () => [object], log: silentLog });
  await repair();
  assert.equal(await allocators.nodePorts.isAllocated(30007), true);
  await repair();
  assert.equal(await allocators.nodePorts.isAllocated(30050), true);
  await repair();
  assert.equal(await allocators.nodePorts.isAllocated(30050), false);
});

test('repair makes the missing address of a service and removes one whose service is gone', async () => {
  const { allocators, addresses, objects } = pools();
  const gone = service({}, 'gone');
  await allocateForCreate(gone, allocators, context());
  for (const address of addresses.values()) address.metadata.creationTimestamp = '2020-01-01T00:00:00Z';
  const kept = service({ clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9'] });
  const parts = { ...objects, addresses: async () => [...addresses.values()], log: silentLog };
  await repairAddresses({ ...parts, services: async () => [kept], now: () => new Date('2020-01-01T00:02:00Z') });
  assert.deepEqual([...addresses.keys()], ['10.0.0.9']);
});
