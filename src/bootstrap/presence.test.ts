import { logTo } from '../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPresence } from './presence.js';

const reconciler = { reconcile: async () => undefined, remove: async () => undefined, stop: () => undefined };

function presenceOf(failures: number) {
  const seen = { attempts: 0, waits: 0, log: [] as string[] };
  const presence = createPresence({
    what: 'it',
    async ensure() {
      seen.attempts += 1;
      if (seen.attempts <= failures) throw new Error('no namespace yet');
    },
    reconciler,
    isReady: async () => false,
    log: logTo((message) => seen.log.push(message)),
    wait: async () => void (seen.waits += 1),
  });
  return { presence, seen };
}

test('what must be there is there once the presence has started, also where it fails at first', async () => {
  const { presence, seen } = presenceOf(3);
  await presence.start(new AbortController().signal);
  assert.equal(seen.attempts, 4);
  assert.deepEqual(seen.log, []);
  await presence.stop();
});

test('what cannot be made does not hold up the start for ever, and is logged', async () => {
  const { presence, seen } = presenceOf(Infinity);
  await presence.start(new AbortController().signal);
  assert.equal(seen.attempts, 20);
  assert.deepEqual(seen.log, ['unable to keep it: no namespace yet']);
  await presence.stop();
});
