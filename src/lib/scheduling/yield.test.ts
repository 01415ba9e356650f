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

test('however many tasks work on something large, an iteration is not much longer than one slice', async () => {
  let inThisIteration = 0;
  let most = 0;
  let ended = false;
  const count = (): void => {
    inThisIteration = 0;
    if (!ended) setImmediate(count);
  };
  setImmediate(count);
  const order: number[] = [];
  const work = async (name: number): Promise<void> => {
    for (let part = 0; part < 3; part++) {
      await yieldToEventLoop();
      order.push(name);
      most = Math.max(most, ++inThisIteration);
      for (const untilMs = performance.now() + 6; performance.now() < untilMs;);
    }
  };
  const names = Array.from({ length: 10 }, (_, i) => i);
  await Promise.all(names.map(work));
  ended = true;
  assert.ok(most <= 2, `${most} in one iteration`);
  assert.deepEqual(order, [...names, ...names, ...names]);
});
