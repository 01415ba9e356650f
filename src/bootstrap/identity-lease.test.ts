import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../machinery/object.js';
import type { ServerClient } from '../registry/server-client.js';
import type { Lease } from '../schema/generated/coordination.v1.js';
import { fakeObjects } from './testing.js';
import { collectIdentityLeases, identityOf, renewIdentityLease } from './identity-lease.js';

function leases(...initial: KubeObject[]): {
  client: ServerClient;
  names: () => string[];
  lease: (name: string) => Lease;
} {
  const { client, names, object } = fakeObjects(...initial);
  return { client, names, lease: (name) => object(name) as Lease };
}

const at = (text: string) => (): Date => new Date(text);

test('a server is known by a name made from that of its host', () => {
  assert.equal(identityOf('node-1'), 'apiserver-lgabes5ywnaqeagh5dny4zlzs4');
});

test('a lease is made once, then renewed for the holder it had', async () => {
  const { client, lease } = leases();
  const options = { client, hostname: 'node-1', runId: 'first' };
  await renewIdentityLease({ ...options, now: at('2030-01-02T03:04:05.678Z') });
  const name = identityOf('node-1');
  assert.deepEqual(lease(name).metadata, {
    name,
    namespace: 'kube-system',
    labels: { 'apiserver.kubernetes.io/identity': 'kube-apiserver', 'kubernetes.io/hostname': 'node-1' },
  });
  const spec = { holderIdentity: `${name}_first`, leaseDurationSeconds: 3600 };
  assert.deepEqual(lease(name).spec, { ...spec, renewTime: '2030-01-02T03:04:05.678000Z' });
  await renewIdentityLease({ ...options, runId: 'second', now: at('2030-01-02T03:04:15Z') });
  assert.deepEqual(lease(name).spec, { ...spec, renewTime: '2030-01-02T03:04:15.000000Z' });
});

test('only leases of servers that stopped renewing go', async () => {
  const lease = (name: string, renewTime?: string, labels?: Record<string, string>): KubeObject => {
    const spec = { leaseDurationSeconds: 3600, ...(renewTime !== undefined && { renewTime }) };
    return { metadata: { name, namespace: 'kube-system', ...(labels && { labels }) }, spec } as KubeObject;
  };
  const mark = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' };
  const { client, names } = leases(
    lease('alive', '2030-01-02T02:30:00.000000Z', mark),
    lease('gone', '2030-01-02T01:30:00.000000Z', mark),
    lease('never-renewed', undefined, mark),
    lease('not-a-servers', '2030-01-02T01:30:00.000000Z'),
  );
  await collectIdentityLeases(client, at('2030-01-02T03:00:00Z'));
  assert.deepEqual(names(), ['alive', 'not-a-servers']);
});
