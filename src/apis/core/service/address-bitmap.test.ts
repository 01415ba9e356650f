import { logTo } from '../../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseCidr } from '../../../lib/values/ip-address.js';
import type { RangeAllocation, Service } from '../../../schema/generated/core.v1.js';
import { type AddressBitmap, addressBitmaps, createBitmapAllocator, takenInBoth } from './address-bitmap.js';
import { type AddressAllocator, AllocationError } from './allocators.js';
import { Bits, type RangeStore } from './range-bitmap.js';
import { createAddressBitmapRepair } from './range-repair.js';
import { MemoryRanges } from './testing.js';

const service = (name: string, clusterIPs: string[]): Service =>
  ({ metadata: { name, namespace: 'ns' }, spec: { clusterIP: clusterIPs[0], clusterIPs }, status: {} }) as Service;
const NONE = service('s', []);

function bitmapsOf(store: RangeStore, ...texts: string[]): AddressBitmap[] {
  const ranges = texts.map((text) => {
    const cidr = parseCidr(text);
    assert.ok(cidr);
    return cidr;
  });
  return addressBitmaps(ranges, store, () => 0);
}

test('addresses are allocated from the range, each once, and stored as older servers store them', async () => {
  const store = new MemoryRanges();
  const allocator = createBitmapAllocator(bitmapsOf(store, '10.0.0.0/24', 'fd00::/108'));
  assert.equal(await allocator.takeNext('IPv4', NONE, false), '10.0.0.17');
  await allocator.take('IPv4', '10.0.0.1', NONE, false);
  await allocator.take('IPv6', 'fd00::1', NONE, false);
  await assert.rejects(
    allocator.take('IPv4', '10.0.0.17', NONE, false),
    new AllocationError('provided IP is already allocated'),
  );
  for (const outside of ['10.0.0.0', '10.0.0.255', '10.0.1.1']) {
    await assert.rejects(
      allocator.take('IPv4', outside, NONE, true),
      new AllocationError(
        `the provided IP (${outside}) is not in the valid range. The range of valid IPs is 10.0.0.0/24`,
      ),
    );
  }
  const noted = (key: string): unknown => store.objects.get(key)?.object();
  const expected = (range: string, data: string): RangeAllocation => {
    return { kind: 'RangeAllocation', apiVersion: 'v1', metadata: {}, range, data };
  };
  // The addresses .1 and .17 are bits 0 and 16.
  assert.deepEqual(noted('serviceips'), expected('10.0.0.0/24', Buffer.from('010001', 'hex').toString('base64')));
  assert.deepEqual(noted('secondaryserviceips'), expected('fd00::/108', Buffer.from('01', 'hex').toString('base64')));
  await allocator.release('10.0.0.17');
  assert.equal(await allocator.takeNext('IPv4', NONE, false), '10.0.0.17');
});

test('a range is full when all of it is allocated; two servers never allocate the same address', async () => {
  const store = new MemoryRanges();
  const one = createBitmapAllocator(bitmapsOf(store, '10.0.0.0/29'));
  const other = createBitmapAllocator(bitmapsOf(store, '10.0.0.0/29'));
  store.meanwhile = () => new Promise((resolve) => setImmediate(resolve));
  const allocations = [one, other, one, other, one, other].map((each) => each.takeNext('IPv4', NONE, false));
  assert.equal(new Set(await Promise.all(allocations)).size, 6);
  await assert.rejects(one.takeNext('IPv4', NONE, false), new AllocationError('range is full'));
});

test('repair marks what services have and releases in the third round what none has', async () => {
  const store = new MemoryRanges();
  const bitmaps = bitmapsOf(store, '10.0.0.0/24');
  const allocator = createBitmapAllocator(bitmaps);
  await allocator.take('IPv4', '10.0.0.99', NONE, false);
  const logged: string[] = [];
  const services = [service('a', ['10.0.0.7']), service('b', ['10.0.0.7']), service('c', ['10.9.0.1', 'fd00::1'])];
  const [bitmap] = bitmaps;
  assert.ok(bitmap);
  const parts = { services: async () => services, log: logTo((message: string) => logged.push(message)) };
  const repair = createAddressBitmapRepair(bitmap, parts);
  for (let round = 0; round < 3; round++) await repair();
  assert.deepEqual(logged.slice(0, 3), [
    'the cluster IP 10.0.0.7 for service a/ns is not allocated; repairing',
    'the cluster IP 10.0.0.7 for service b/ns was assigned to multiple services; please recreate',
    'the cluster IP 10.9.0.1 for service c/ns is not within the service range; please recreate',
  ]);
  assert.equal(logged.at(-1), 'the cluster IP 10.0.0.99 appears to have leaked: cleaning up');
  await assert.rejects(allocator.take('IPv4', '10.0.0.7', NONE, false), {
    message: 'provided IP is already allocated',
  });
  await allocator.take('IPv4', '10.0.0.99', NONE, false);
});

test('written in both ways, what the objects refuse is free in the bitmap again', async () => {
  const store = new MemoryRanges();
  const bitmaps = bitmapsOf(store, '10.0.0.0/24');
  const allocated: string[] = [];
  const objects: AddressAllocator = {
    take: async (_family, ip) => {
      if (ip === '10.0.0.9') throw new AllocationError('no');
      allocated.push(ip);
    },
    takeNext: async () => '10.8.0.1',
    release: async (ip) => void allocated.splice(allocated.indexOf(ip), 1),
  };
  const both = takenInBoth(bitmaps, objects);
  const old = createBitmapAllocator(bitmaps);
  assert.equal(await both.takeNext('IPv4', NONE, false), '10.0.0.17');
  await both.take('IPv4', '10.7.0.1', NONE, false);
  assert.deepEqual(allocated, ['10.0.0.17', '10.7.0.1']);
  await assert.rejects(both.take('IPv4', '10.0.0.9', NONE, false), { message: 'no' });
  await old.take('IPv4', '10.0.0.9', NONE, false);
  await both.release('10.0.0.17');
  assert.deepEqual(allocated, ['10.7.0.1']);
  await old.take('IPv4', '10.0.0.17', NONE, false);
});

test('a bitmap is the same set after it was encoded and decoded', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 70 }), fc.array(fc.nat(80)), (size, offsets) => {
      const bits = new Bits(size);
      for (const offset of offsets) bits.add(offset);
      const set = [...new Set(offsets)].filter((offset) => offset < size).sort((a, b) => a - b);
      assert.deepEqual([...new Bits(size, bits.bigEndian())], set);
      const number = set.reduce((sum, offset) => sum | (1n << BigInt(offset)), 0n);
      const hex = bits.bigEndian().toString('hex');
      assert.equal(hex === '' ? 0n : BigInt(`0x${hex}`), number);
      for (const offset of set) bits.remove(offset);
      assert.deepEqual([...bits], []);
    }),
  );
});
