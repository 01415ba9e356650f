import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lossesOf, testEvent } from './testing.js';
import { createWebhookBackend } from './webhook-backend.js';

function webhook(failures: number) {
  const bodies: string[] = [];
  const pausesMs: number[] = [];
  const { losses, onLost } = lossesOf();
  const backend = createWebhookBackend({
    post: async (body) => {
      bodies.push(Buffer.concat(body).toString());
      if (bodies.length <= failures) throw new Error('away');
    },
    initialBackoffMs: 100,
    pause: async (ms) => void pausesMs.push(Math.round(ms)),
    random: () => 0,
    onLost,
  });
  return { backend, bodies, pausesMs, losses };
}

test('events are sent as one list, without kinds of their own', async () => {
  const { backend, bodies } = webhook(0);
  const object = Buffer.from('{"a":"é"}');
  assert.equal(
    await backend.process([testEvent('1'), testEvent('2', { level: 'Request', requestObject: object })]),
    true,
  );
  const { items, ...head } = JSON.parse(bodies[0] ?? '') as { items: Record<string, unknown>[] };
  assert.deepEqual(head, { kind: 'EventList', apiVersion: 'audit.k8s.io/v1', metadata: {} });
  assert.deepEqual(
    items.map(({ auditID, kind }) => [auditID, kind]),
    [
      ['1', undefined],
      ['2', undefined],
    ],
  );
  assert.deepEqual(items[1]?.requestObject, { a: 'é' });
});

test('a call that fails is made again, each time later; after five its events are lost', async () => {
  const twice = webhook(2);
  assert.equal(await twice.backend.process([testEvent('1')]), true);
  assert.deepEqual([twice.bodies.length, twice.pausesMs, twice.losses], [3, [100, 150], []]);
  const ever = webhook(100);
  assert.equal(await ever.backend.process([testEvent('1'), testEvent('2')]), false);
  assert.deepEqual([ever.bodies.length, ever.pausesMs, ever.losses], [5, [100, 150, 225, 338], ['webhook: 1 2']]);
});
