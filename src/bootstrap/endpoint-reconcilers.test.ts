import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaseReconciler, masterCountReconciler, type MasterLeases } from './endpoint-reconcilers.js';
import type { ServerEndpoints, Subsets } from './server-endpoints.js';

const PORTS = [{ name: 'https', port: 6443, protocol: 'TCP' }];
const OTHER_PORTS = [{ name: 'https', port: 443, protocol: 'TCP' }];
const subset = (addresses: string[], ports = PORTS): Subsets => [{ addresses: addresses.map((ip) => ({ ip })), ports }];

function endpoints(subsets?: Subsets): ServerEndpoints & { kept: Subsets | undefined } {
  return {
    ports: PORTS,
    kept: subsets,
    async keep(change) {
      this.kept = change(this.kept);
    },
  };
}

const leasesOf = (own: string, alive: Set<string>): MasterLeases => ({
  renew: async () => void alive.add(own),
  addresses: async () => [...alive],
  remove: async () => alive.delete(own),
});

test('with leases the endpoints are the servers alive, in order', async () => {
  const kept = endpoints();
  const alive = new Set(['10.0.0.9']);
  const reconciler = leaseReconciler(kept, leasesOf('10.0.0.2', alive));
  await reconciler.reconcile();
  assert.deepEqual(kept.kept, subset(['10.0.0.2', '10.0.0.9']));
  alive.delete('10.0.0.9');
  await reconciler.reconcile();
  assert.deepEqual(kept.kept, subset(['10.0.0.2']));
});

test('with leases ports that somebody set stay while the server runs, and are mended when it ends', async () => {
  const kept = endpoints(subset(['10.0.0.2'], OTHER_PORTS));
  const alive = new Set(['10.0.0.9']);
  const reconciler = leaseReconciler(kept, leasesOf('10.0.0.2', alive));
  await reconciler.reconcile();
  assert.deepEqual(kept.kept, subset(['10.0.0.2', '10.0.0.9'], OTHER_PORTS));
  reconciler.stop();
  await reconciler.remove();
  assert.deepEqual(kept.kept, subset(['10.0.0.9']));
});

test('with leases the last server to end leaves no endpoints, and a store that lists none erases nothing', async () => {
  const kept = endpoints(subset(['10.0.0.2']));
  const alive = new Set(['10.0.0.2']);
  const reconciler = leaseReconciler(kept, leasesOf('10.0.0.2', alive));
  const forgetful = leaseReconciler(kept, { ...leasesOf('10.0.0.2', alive), addresses: async () => [] });
  await assert.rejects(() => forgetful.reconcile(), /refusing to erase all endpoints/);
  assert.deepEqual(kept.kept, subset(['10.0.0.2']));
  reconciler.stop();
  await reconciler.remove();
  assert.deepEqual(kept.kept, []);
  await reconciler.reconcile();
  assert.deepEqual([...alive], [], 'a reconciler that was stopped renews nothing');
});

test('with leases what has not the expected form is made anew', async () => {
  const kept = endpoints([...subset(['1.1.1.1']), ...subset(['2.2.2.2'], OTHER_PORTS)]);
  await leaseReconciler(kept, leasesOf('10.0.0.2', new Set())).reconcile();
  assert.deepEqual(kept.kept, subset(['10.0.0.2']));
});

test('counted servers add their address and push out the ones behind it when they are too many', async () => {
  const rows: [count: number, had: string[] | undefined, own: string, has: string[]][] = [
    [1, undefined, 'b', ['b']],
    [2, ['a'], 'b', ['a', 'b']],
    [2, ['a', 'b'], 'b', ['a', 'b']],
    [2, ['a', 'c'], 'b', ['a', 'b']],
    [2, ['a', 'b'], 'c', ['b', 'c']],
    [1, ['a', 'b'], 'c', ['c']],
    [1, ['a', 'b', 'c'], 'c', ['c']],
    [3, ['a', 'b'], 'b', ['a', 'b']],
  ];
  for (const [count, had, own, has] of rows) {
    const kept = endpoints(had && subset(had));
    await masterCountReconciler(kept, own, count).reconcile();
    assert.deepEqual(kept.kept, subset(has), `${count} of ${had?.join()} with ${own}`);
  }
});

test('a counted server removes its address when it ends, and nothing after that', async () => {
  const kept = endpoints(subset(['a', 'b']));
  const reconciler = masterCountReconciler(kept, 'b', 2);
  reconciler.stop();
  await reconciler.remove();
  assert.deepEqual(kept.kept, subset(['a']));
  await reconciler.reconcile();
  assert.deepEqual(kept.kept, subset(['a']));
  await masterCountReconciler(kept, 'a', 2).remove();
  assert.deepEqual(kept.kept, []);
});
