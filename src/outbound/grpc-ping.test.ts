import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import http2 from 'node:http2';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { GrpcConnection } from './grpc.js';

test('a connection is pinged while it has calls, and not without', async (context) => {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'grpc-ping-'));
  const server = http2.createServer();
  const unixPath = path.join(folder, 'socket');
  server.listen(unixPath);
  await once(server, 'listening');
  const opened = once(server, 'session') as Promise<[http2.ServerHttp2Session]>;
  context.mock.timers.enable({ apis: ['setInterval'] });
  const connection = await GrpcConnection.open({ unixPath });
  context.after(async () => {
    connection.close();
    server.close();
    await fs.rm(folder, { recursive: true });
  });
  const [session] = await opened;
  const heard: string[] = [];
  session.on('ping', () => heard.push('ping'));
  server.on('stream', () => heard.push('call'));
  context.mock.timers.tick(60_000);
  // What was sent before the call would have been heard before it.
  const began = once(server, 'stream');
  connection.stream(
    '/a.B/C',
    () => undefined,
    () => undefined,
  );
  await began;
  assert.deepEqual(heard, ['call']);
  const pinged = once(session, 'ping');
  context.mock.timers.tick(30_000);
  await pinged;
  assert.deepEqual(heard, ['call', 'ping']);
});
