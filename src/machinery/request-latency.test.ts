import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestLatency } from './request-latency.js';

test('what runs one after the other adds up, of what runs together the longest counts', () => {
  const latency = new RequestLatency();
  latency.add('mutating-webhook', 20);
  latency.add('mutating-webhook', 30);
  latency.add('validating-webhook', 20);
  latency.add('validating-webhook', 30);
  latency.add('validating-webhook', 10);
  latency.add('etcd', 5);
  latency.add('apf-queue-wait', 0);
  assert.deepEqual(Object.fromEntries(latency.entries()), {
    'mutating-webhook': 50,
    'validating-webhook': 30,
    etcd: 5,
  });
  assert.equal(latency.ofOthersMs, 80);
});
