// Clients that watch and never read must not fill the server's memory. By hand, for figures:
//
//   BINNACLE_SLOW_WATCHES=200 BINNACLE_SLOW_OBJECTS=60 node tools/test.mjs test/attack/slow-watchers.test.ts
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import tls from 'node:tls';
import { test } from 'node:test';
import { startTestServer, type TestServer } from '../support/server.js';

const WATCHES = Number(process.env['BINNACLE_SLOW_WATCHES'] ?? 40);
const OBJECTS = Number(process.env['BINNACLE_SLOW_OBJECTS'] ?? 40);
const OBJECT_BYTES = 250_000;
/** For each watch: an event and its encrypted copy, and what a connection costs. Its share of the state is 10 MB. */
const MOST_OF_ONE_MB = 2.5;
const MAPS = '/api/v1/namespaces/default/configmaps';

async function residentMb(server: TestServer): Promise<number> {
  const { body } = await server.request('GET', '/metrics');
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(body)?.[1]) / 1e6;
}

/** Resolves when the first bytes have come; reads no further. */
async function watchWithoutReading(server: TestServer): Promise<tls.TLSSocket> {
  const pki = (name: string): Buffer => fs.readFileSync(path.join(server.folder, 'pki', name));
  const { hostname, port } = new URL(server.url);
  const identity = { ca: pki('ca.crt'), cert: pki('admin.crt'), key: pki('admin.key') };
  const socket = tls.connect({ host: hostname, port: Number(port), ...identity, ALPNProtocols: ['http/1.1'] });
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  socket.write(`GET ${MAPS}?watch=true HTTP/1.1\r\nHost: a\r\n\r\n`);
  await new Promise((resolve) => socket.once('data', resolve));
  socket.pause();
  return socket;
}

test('watches that never read hold a few events each, and others are served', { timeout: 120_000 }, async () => {
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
    const mostMb = WATCHES * MOST_OF_ONE_MB + (3 * OBJECTS * OBJECT_BYTES) / 1e6 + 50;
    assert.ok(heldMb < mostMb, `${Math.round(heldMb)} MB are held, expected at most ${Math.round(mostMb)}`);
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
});
