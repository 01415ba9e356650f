import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPeerAddress } from './peer-address.js';

test('an address is split into host and port, of whichever family', () => {
  assert.deepEqual(readPeerAddress('127.0.0.1:4711'), { host: '127.0.0.1', port: 4711 });
  assert.deepEqual(readPeerAddress('[::1]:4711'), { host: '::1', port: 4711 });
  assert.deepEqual(readPeerAddress('::1'), { host: '::1', port: 0 });
  assert.deepEqual(readPeerAddress('name'), { host: 'name', port: 0 });
});
