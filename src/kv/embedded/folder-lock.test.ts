import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { folderHolder } from './folder-lock.js';

let folder: string;
let server: net.Server | undefined;
const sockets = new Set<net.Socket>();
beforeEach(() => (folder = fs.mkdtempSync(path.join(os.tmpdir(), 'folder-lock-'))));
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server?.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

async function listen(greet: (socket: net.Socket) => void): Promise<void> {
  server = net.createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    greet(socket);
  });
  server.listen(path.join(folder, 'lock'));
  await once(server, 'listening');
}

test('the process that listens says its number; without one there is none', async () => {
  assert.equal(await folderHolder(folder), undefined);
  assert.equal(await folderHolder(path.join(folder, 'none')), undefined);
  await listen((socket) => socket.end('4711\n'));
  assert.equal(await folderHolder(folder), 4711);
});

test('a process that listens and does not answer is waited for no longer than it is given', async () => {
  await listen(() => undefined);
  await assert.rejects(folderHolder(folder, 1), { code: 'unavailable', message: /does not answer$/ });
});
