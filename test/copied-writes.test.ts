// runs-on: every-node
// Connections reuse the memory of a write to TLS as soon as it has returned (src/wire/copied-writes.ts).
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import tls from 'node:tls';
import { copiesNextWrite } from '../src/wire/copied-writes.js';
import { createAuthority } from './support/certificates.js';

const WRITES = 200;
const MAX_BYTES = 160 * 1024;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-writes-'));
after(() => fs.rmSync(folder, { recursive: true }));

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`${version} has copied what it is given when write returns, even for a client that does not read`, async () => {
    const { cert, key } = createAuthority(folder, version).issue('server', 'server');
    const server = tls.createServer({ cert: fs.readFileSync(cert), key: fs.readFileSync(key), maxVersion: version });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const client = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false, minVersion: 'TLSv1.2' });
    const [socket] = (await once(server, 'secureConnection')) as [tls.TLSSocket];
    const sent = writeAll(socket);
    let at = 0;
    let write = 0;
    // Much of it lies in the kernel and in TLS by now, and the server waits.
    await new Promise((resolve) => setImmediate(resolve));
    for await (const chunk of client as AsyncIterable<Buffer>) {
      for (let from = 0; from < chunk.length;) {
        const end = Math.min(chunk.length, from + sizeOf(write) - at);
        assert.ok(
          chunk.subarray(from, end).every((byte) => byte === write % 256),
          `write ${write} was overwritten`,
        );
        at += end - from;
        from = end;
        if (at === sizeOf(write)) {
          at = 0;
          write++;
        }
      }
    }
    await sent;
    assert.equal(write, WRITES);
    server.close();
  });
}

test('a write behind another is not copied', async () => {
  const { cert, key } = createAuthority(folder, 'behind').issue('server', 'server');
  const server = tls.createServer({ cert: fs.readFileSync(cert), key: fs.readFileSync(key) });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = tls.connect({ port: (server.address() as AddressInfo).port, rejectUnauthorized: false });
  const [socket] = (await once(server, 'secureConnection')) as [tls.TLSSocket];
  assert.ok(copiesNextWrite(socket));
  socket.write('first');
  assert.ok(!copiesNextWrite(socket));
  client.destroy();
  socket.destroy();
  server.close();
});

const sizeOf = (write: number): number => 1 + ((write * 7919) % MAX_BYTES);

async function writeAll(socket: tls.TLSSocket): Promise<void> {
  const memory = Buffer.alloc(MAX_BYTES);
  for (let write = 0; write < WRITES; write++) {
    memory.fill(write % 256);
    assert.ok(copiesNextWrite(socket));
    const written = new Promise((resolve) => socket.write(memory.subarray(0, sizeOf(write)), resolve));
    memory.fill(0xee);
    await written;
  }
  socket.end();
}
