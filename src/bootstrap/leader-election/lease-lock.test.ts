import { silentLog } from '../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerClient } from '../../registry/server-client.js';
import type { Lease } from '../../schema/generated/coordination.v1.js';
import { fakeObjects, type FakeObjects } from '../testing.js';
import { leadWhileHoldingLease } from './lease-lock.js';
import { pollUntil } from '../../lib/testing/poll-until.js';

/** One that wants to lead; `led` resolves each time it begins. */
function contender(objects: FakeObjects, identity: string) {
  const stop = new AbortController();
  let began = (): void => undefined;
  const led = new Promise<void>((resolve) => (began = resolve));
  let leading: AbortSignal | undefined;
  const ended = leadWhileHoldingLease({
    client: objects.client,
    namespace: 'kube-system',
    name: 'lock',
    identity,
    leaseDurationMs: 1000,
    renewDeadlineMs: 60,
    retryPeriodMs: 5,
    lead: (signal) => ((leading = signal), began()),
    signal: stop.signal,
    log: silentLog,
  });
  return { led, leads: () => leading?.aborted === false, stop: () => (stop.abort(), ended) };
}

const spec = (objects: FakeObjects): Lease['spec'] => (objects.object('lock') as Lease).spec;

test('one leads at a time, and the next one at once when it stops', async () => {
  const objects = fakeObjects();
  const one = contender(objects, 'one');
  await one.led;
  let tries = 0;
  const counting: ServerClient = {
    ...objects.client,
    get: (...place) => (tries++, objects.client.get(...place)),
  };
  const two = contender({ ...objects, client: counting }, 'two');
  await pollUntil(() => tries > 3);
  assert.ok(one.leads());
  assert.ok(!two.leads());
  assert.equal(spec(objects).holderIdentity, 'one');
  assert.equal(spec(objects).leaseTransitions, 0);
  await one.stop();
  assert.ok(!one.leads());
  await two.led;
  assert.equal(spec(objects).holderIdentity, 'two');
  assert.equal(spec(objects).leaseTransitions, 1);
  await two.stop();
  assert.equal(spec(objects).holderIdentity, '');
  assert.equal(spec(objects).leaseDurationSeconds, 1);
});

test('a leader whose lease another acquired stops leading', async () => {
  const objects = fakeObjects();
  const one = contender(objects, 'one');
  await one.led;
  const { client } = objects;
  const lease = objects.object('lock');
  assert.ok(lease);
  const theirs = { holderIdentity: 'other', leaseDurationSeconds: 3600, renewTime: '2030-01-01T00:00:00.000000Z' };
  await client.update({
    resource: { group: '', resource: '' },
    object: lease,
    change: (object) => ({ ...object, spec: theirs }),
    manager: '',
  });
  await pollUntil(() => !one.leads());
  await one.stop();
  assert.equal(spec(objects).holderIdentity, 'other', 'what is not held is not released');
});
