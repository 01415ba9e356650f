import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditBackend } from './backend.js';
import type { AuditEvent } from './event.js';
import { lossesOf, testEvent } from './testing.js';
import { truncating } from './truncating.js';

const big = Buffer.from(JSON.stringify('x'.repeat(2000)));

function truncated(maxEventBytes: number, maxBatchBytes: number) {
  const batches: (readonly AuditEvent[])[] = [];
  const { losses, onLost } = lossesOf();
  const backend: AuditBackend = {
    isWaitedFor: true,
    process: (events) => batches.push(events) > 0,
    close: () => Promise.resolve(),
  };
  return { backend: truncating(backend, { maxEventBytes, maxBatchBytes }, onLost), batches, losses };
}

test('an event that is too large loses its objects and says so', async () => {
  const { backend, batches, losses } = truncated(1000, 10_000);
  const annotations = new Map([['a', 'b']]);
  const event = testEvent('1', { level: 'Request', requestObject: big, annotations });
  assert.equal(await backend.process([event]), true);
  const [kept] = batches[0] ?? [];
  assert.equal(kept?.requestObject, undefined);
  assert.deepEqual(
    [...(kept?.annotations ?? [])],
    [
      ['a', 'b'],
      ['audit.k8s.io/truncated', 'true'],
    ],
  );
  assert.deepEqual([losses, annotations.size], [[], 1]);
});

test('what is too large without objects is lost, and does not refuse the request', async () => {
  const { backend, batches, losses } = truncated(300, 10_000);
  assert.equal(await backend.process([testEvent('1', { objectRef: `"name":"${'n'.repeat(300)}"` })]), true);
  assert.deepEqual([batches, losses], [[], ['truncate: 1']]);
});

test('events that are too large together are handed on in parts', async () => {
  const { backend, batches } = truncated(1000, 1000);
  await backend.process(['1', '2', '3'].map((id) => testEvent(id)));
  assert.deepEqual(
    batches.map((batch) => batch.map(({ auditId }) => auditId)),
    [['1', '2'], ['3']],
  );
});
