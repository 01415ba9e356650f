import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Options } from '../options.js';
import { storeErrors } from './store.js';

const errorsOf = (set: object, embeddedStore = true): string[] => {
  const binnacle = { storeListenUrl: '', storeClientCaFile: '', storeAccess: 'read-only', storeQuotaBytes: 0, ...set };
  return storeErrors({ binnacle, embeddedStore } as unknown as Options);
};

test('a quota of the embedded store has room for a server, and is for the embedded store alone', () => {
  assert.deepEqual(errorsOf({ storeQuotaBytes: 0 }), []);
  assert.deepEqual(errorsOf({ storeQuotaBytes: 16 * 1024 * 1024 }), []);
  for (const storeQuotaBytes of [-1, 1, 16 * 1024 * 1024 - 1]) {
    const expected = `--store-quota-bytes is 0 or at least 16777216, not ${storeQuotaBytes}`;
    assert.deepEqual(errorsOf({ storeQuotaBytes }), [expected]);
  }
  assert.match(errorsOf({ storeQuotaBytes: 2 ** 30 }, false).join(), /there is none with --etcd-servers/);
});

test('the store is served on a socket, or on loopback to who has a certificate', () => {
  assert.deepEqual(errorsOf({ storeListenUrl: 'unix:///run/store.sock' }), []);
  assert.match(errorsOf({ storeListenUrl: 'https://192.0.2.1:2379' }).join(), /a loopback address/);
  assert.match(errorsOf({ storeListenUrl: 'https://127.0.0.1:2379' }).join(), /--store-client-ca-file is required/);
  assert.match(errorsOf({ storeAccess: 'all' }).join(), /read-only or read-write, not all/);
});
