// runs-on: every-node
// Clients that watch and never read must not fill the server's memory. By hand, for figures:
//
//   BINNACLE_SLOW_WATCHES=200 BINNACLE_SLOW_OBJECTS=60 node tools/test.mjs test/attack/slow-watchers.test.ts
import assert from 'node:assert/strict';
import tls from 'node:tls';
import { test } from 'node:test';
import { FrameType } from '../../src/wire/http2/frames.js';
import { frame, GET, headers, settings, uint32 } from '../../src/wire/http2/testing.js';
import { connectionTo } from '../support/connection-to.js';
import { speakHttp2 } from '../support/http2-wire.js';
import { startTestServer, type TestServer } from '../support/server.js';

const WATCHES = Number(process.env['BINNACLE_SLOW_WATCHES'] ?? 40);
const OBJECTS = Number(process.env['BINNACLE_SLOW_OBJECTS'] ?? 40);
const OBJECT_BYTES = 250_000;
/** For each watch: an event and its encrypted copy, and what a connection costs. Its share of the state is 10 MB. */
const MAX_OF_ONE_MB = 2.5;
const MAPS = '/api/v1/namespaces/default/configmaps';

async function residentMb(server: TestServer): Promise<number> {
  const { body } = await server.request('GET', '/metrics');
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(body)?.[1]) / 1e6;
}

/** Each resolves when the first bytes have come, and reads no further. */
const WITHOUT_READING = { 'HTTP/1.1': watchOverHttp1, 'HTTP/2': watchOverHttp2 };

async function watchOverHttp2(server: TestServer): Promise<tls.TLSSocket> {
  const wire = await speakHttp2({ ...connectionTo(server), servername: 'localhost' });
  // Windows as wide as can be: only the socket holds the server back.
  wire.send(settings({ 4: 0x7fffffff }), frame(FrameType.windowUpdate, 0, 0, uint32(0x70000000)));
  const first = wire.until((type) => type === FrameType.data);
  wire.send(headers(1, [...GET.slice(0, 2), [':path', `${MAPS}?watch=true`], ...GET.slice(3)]));
  await first;
  wire.socket.pause();
  return wire.socket;
}

async function watchOverHttp1(server: TestServer): Promise<tls.TLSSocket> {
  const socket = tls.connect({ ...connectionTo(server), ALPNProtocols: ['http/1.1'] });
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  socket.write(`GET ${MAPS}?watch=true HTTP/1.1\r\nHost: a\r\n\r\n`);
  await new Promise((resolve) => socket.once('data', resolve));
  socket.pause();
  return socket;
}

for (const [protocol, watchWithoutReading] of Object.entries(WITHOUT_READING)) {
  test(`${protocol}: watches that never read hold a few events each, and others are served`, { timeout: 120_000 }, () =>
    slowWatches(watchWithoutReading),
  );
}

async function slowWatches(watchWithoutReading: (server: TestServer) => Promise<tls.TLSSocket>): Promise<void> {
  const server = await startTestServer();
  try {
    const made = (name: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: { x: 'x'.repeat(OBJECT_BYTES) },
    });
    for (let i = 0; i < OBJECTS; i++) {
      assert.equal((await server.request('POST', MAPS, made(`before-${i}`))).status, 201);
    }
    const beforeMb = await residentMb(server);
    const sockets: tls.TLSSocket[] = [];
    for (let i = 0; i < WATCHES; i++) sockets.push(await watchWithoutReading(server));
    for (let i = 0; i < OBJECTS; i++)
      assert.equal((await server.request('POST', MAPS, made(`while-${i}`))).status, 201);
    const heldMb = (await residentMb(server)) - beforeMb;
    console.log(`${WATCHES} watches of ${OBJECTS} objects of ${OBJECT_BYTES} bytes: ${Math.round(heldMb)} MB more`);
    // The objects written meanwhile are held once for all, by the cache.
    const maxMb = WATCHES * MAX_OF_ONE_MB + (3 * OBJECTS * OBJECT_BYTES) / 1e6 + 50;
    assert.ok(heldMb < maxMb, `${Math.round(heldMb)} MB are held, expected at most ${Math.round(maxMb)}`);
    const seen = new Set<string>();
    const stop = new AbortController();
    await new Promise<void>((resolve, reject) => {
      server
        .watch(`${MAPS}?watch=true`, stop.signal, ({ object }) => {
          seen.add((object as { metadata: { name: string } }).metadata.name);
          if (seen.size >= 2 * OBJECTS) resolve();
        })
        .catch(reject);
    });
    stop.abort();
    for (const socket of sockets) socket.destroy();
  } finally {
    await server.stop();
  }
}
