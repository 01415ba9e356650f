// runs-on: every-node
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { HttpRequest } from '../../lib/http/http.js';
import type { HttpClient } from '../http-client.js';
import { passOn, requestDecompressed } from './forward.js';

const get = { method: 'GET' } as HttpRequest;
const none = (): Readable => Readable.from([]);

test('an answer without content is handed on without a length, one that nothing is new without a form, too', async () => {
  const headers = { 'content-type': 'text/plain', 'content-length': '5', etag: '"x"' };
  const reported = async (status: number) => (await passOn(get, { status, headers, body: none() })).headers;
  assert.deepEqual(await reported(204), { 'content-type': 'text/plain', etag: '"x"' });
  assert.deepEqual(await reported(304), { etag: '"x"' });
});

test('an answer that is empty is not decompressed, whatever it says of itself', async () => {
  const headers = { 'content-encoding': 'gzip', 'content-length': '0' };
  const answer = { status: 200, headers, rawHeaders: [], body: none() };
  const client = { request: async () => answer } as unknown as HttpClient;
  assert.equal(await requestDecompressed(client, { method: 'GET', url: new URL('https://x') }), answer);
});
