// runs-on: every-node
// Connections take what their socket has read without its queue, while it is empty (src/wire/direct-reads.ts).
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import net, { type AddressInfo, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import tls from 'node:tls';
import { onDirectData } from '../src/wire/direct-reads.js';
import { createAuthority } from './support/certificates.js';

const BYTES = 4 * 1024 * 1024;
/** More than a socket's queue has room for lies in one of them. */
const PAUSED_EVERY = 128 * 1024;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-reads-'));
after(() => fs.rmSync(folder, { recursive: true }));
const { cert, key } = createAuthority(folder, 'reads').issue('server', 'server');
const identity = { cert: fs.readFileSync(cert), key: fs.readFileSync(key) };

const transports = {
  TLS: {
    server: () => tls.createServer(identity),
    event: 'secureConnection',
    connect: (port: number) => tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false }),
  },
  TCP: {
    server: () => net.createServer(),
    event: 'connection',
    connect: (port: number) => net.connect(port, '127.0.0.1'),
  },
};

for (const [name, { server: create, event, connect }] of Object.entries(transports)) {
  test(`${name}: all that is sent is taken in order, through pauses, and then the end comes`, async () => {
    const { client, socket, close } = await connected(create(), event, connect);
    let at = 0;
    let pauses = 0;
    let resumed = true;
    onDirectData(socket, (bytes) => {
      assert.ok(resumed, 'taken while paused');
      for (const byte of bytes) if (byte !== at++ % 251) assert.fail(`another byte at ${at - 1}`);
      if (at < pauses * PAUSED_EVERY) return;
      pauses++;
      resumed = false;
      socket.pause();
      afterTurns(1 + (pauses % 5), () => {
        resumed = true;
        socket.resume();
      });
    });
    client.end(Buffer.from(Array.from({ length: BYTES }, (_, i) => i % 251)));
    await once(socket, 'end');
    assert.equal(at, BYTES);
    assert.ok(pauses > 1);
    close();
  });

  test(`${name}: a piece that comes alone does not pass through the queue`, async () => {
    const { client, socket, close } = await connected(create(), event, connect);
    const taken: string[] = [];
    let listener: (() => void) | undefined;
    onDirectData(socket, (bytes) => {
      taken.push(String(bytes));
      listener?.();
    });
    let queued = 0;
    socket.on('data', () => queued++);
    for (const piece of ['one', 'two', 'three']) {
      const came = new Promise<void>((resolve) => (listener = resolve));
      client.write(piece);
      await came;
    }
    assert.deepEqual(taken, ['one', 'two', 'three']);
    assert.equal(queued, 0);
    close();
  });
}

async function connected(server: net.Server, event: string, connect: (port: number) => Socket) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port);
  const [socket] = (await once(server, event)) as [Socket];
  const close = (): void => {
    client.destroy();
    socket.destroy();
    server.close();
  };
  return { client, socket, close };
}

function afterTurns(turns: number, run: () => void): void {
  setImmediate(() => (turns > 1 ? afterTurns(turns - 1, run) : run()));
}
