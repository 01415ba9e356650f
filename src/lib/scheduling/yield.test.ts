// runs-on: every-node
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import test from 'node:test';
import { yieldToEventLoop } from './yield.js';

test('what has arrived is read before work resumes, also when this iteration began with a read', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = connect(port, '127.0.0.1');
  const [[peer]] = await Promise.all([accepted, once(client, 'connect')]);
  let answered = false;
  client.once('data', () => {
    answered = true;
  });

  client.write('a question');
  await once(peer, 'data');
  // It lies in the kernel when write returns; nothing has looked there yet.
  peer.write('an answer');
  await yieldToEventLoop();
  assert.equal(answered, true);

  client.destroy();
  peer.destroy();
  server.close();
});
