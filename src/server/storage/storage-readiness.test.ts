import { silentLog } from '../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storageReadinessHook } from './storage-readiness.js';

const log = silentLog;
const never = { ready: () => new Promise<void>(() => undefined) };
const { signal } = new AbortController();

test('waits for every store, and tries one that fails again', async () => {
  let attempts = 0;
  const second = { ready: () => (++attempts < 3 ? Promise.reject(new Error('not yet')) : Promise.resolve()) };
  await storageReadinessHook({ stores: () => [second], timeoutMs: 60_000, log }).run(signal);
  assert.equal(attempts, 3);
});

test('goes on without a store that is not ready in time', { timeout: 5_000 }, async () => {
  await storageReadinessHook({ stores: () => [never], timeoutMs: 20, log }).run(signal);
});
