// runs-on: every-node
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { test } from 'node:test';
import zlib from 'node:zlib';
import { testRequest } from '../../filters/testing.js';
import { isStream, type ResponseBody, type ResponseStream } from '../../lib/http/http.js';
import { compressed, neverCompress } from './compress.js';

const request = testRequest('GET', '/', { headers: { 'accept-encoding': 'gzip' } });
const SIZE = 4 * 1024 * 1024;

function gzipped(body: ResponseBody): ResponseStream {
  const response = compressed(request, { status: 200, headers: {}, body }, SIZE);
  assert.ok(isStream(response.body));
  return response.body;
}

test('a slow client gets everything, in whatever form the answer came', async () => {
  const bytes = crypto.randomBytes(SIZE);
  const half = SIZE / 2;
  const bodies: ResponseBody[] = [
    bytes,
    [bytes.subarray(0, half), bytes.subarray(half)],
    {
      async stream(sink) {
        for (let at = 0; at < SIZE; at += 65_536)
          if (!sink.write(bytes.subarray(at, at + 65_536))) await sink.drained();
      },
    },
  ];
  for (const body of bodies) {
    const chunks: Buffer[] = [];
    const sink = {
      write: (chunk: Buffer | string) => chunks.push(Buffer.from(chunk)) < 0,
      drained: () => new Promise<void>((resolve) => setImmediate(resolve)),
      pendingBytes: 0,
      signal: new AbortController().signal,
    };
    await gzipped(body).stream(sink);
    assert.ok(zlib.gunzipSync(Buffer.concat(chunks)).equals(bytes));
  }
});

test('a client that goes away ends the work', async () => {
  const gone = new AbortController();
  let pieces = 0;
  const endless: ResponseStream = {
    async stream(sink) {
      while (!sink.signal.aborted) {
        pieces++;
        if (!sink.write(crypto.randomBytes(65_536))) await sink.drained();
      }
    },
  };
  let written = 0;
  const sink = {
    write: () => {
      if (++written === 3) gone.abort();
      return false;
    },
    drained: () => new Promise<void>((resolve) => (gone.signal.aborted ? undefined : setImmediate(resolve))),
    pendingBytes: 0,
    signal: gone.signal,
  };
  await gzipped(endless).stream(sink);
  assert.ok(pieces < 100);
});

test('an answer to a request that was spared is sent as it is', () => {
  const spared = testRequest('GET', '/', { headers: { 'accept-encoding': 'gzip' } });
  neverCompress(spared);
  const response = { status: 200, headers: {}, body: Buffer.alloc(SIZE) };
  assert.equal(compressed(spared, response, SIZE), response);
});
