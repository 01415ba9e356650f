import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { until } from '../lib/until.js';
import { Handshakes, MOST_BEGUN } from './handshakes.js';

const TIMEOUT_MS = 100;

let server: net.Server;
let accepted = 0;
let begun: Socket[] = [];
let failures: string[] = [];
let mostInTurn = 0;
let inTurn = 0;

before(async () => {
  const handshakes = new Handshakes({
    begin(socket) {
      if (inTurn === 0) setImmediate(() => (inTurn = 0));
      mostInTurn = Math.max(mostInTurn, ++inTurn);
      begun.push(socket);
    },
    onFailure: (_socket, why) => failures.push(why),
    timeoutMs: TIMEOUT_MS,
  });
  server = net.createServer((socket) => {
    accepted++;
    handshakes.accept(socket.on('error', () => undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
after(() => server.close());
beforeEach(() => {
  [accepted, begun, failures, mostInTurn] = [0, [], [], 0];
});

async function come(): Promise<Socket> {
  const client = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(
    client.on('error', () => undefined),
    'connect',
  );
  return client;
}

test('begins with what the client said, and with a few clients in a turn', async () => {
  const clients = await Promise.all(Array.from({ length: 5 * MOST_BEGUN }, come));
  // One in a turn is accepted.
  await until(() => accepted === clients.length);
  for (const client of clients) client.write('hello');
  await until(() => begun.length === clients.length);
  const said = new Set(begun.map((socket) => String(socket.read())));
  for (const socket of [...clients, ...begun]) socket.destroy();
  assert.equal(mostInTurn, MOST_BEGUN);
  assert.deepEqual(said, new Set(['hello']));
  assert.deepEqual(failures, []);
});

test('tells of who leaves without a word, or is silent', async () => {
  (await come()).end();
  await until(() => failures.length === 1);
  (await come()).resetAndDestroy();
  await until(() => failures.length === 2);
  const silent = await come();
  await once(silent.resume(), 'close');
  assert.deepEqual(failures, ['EOF', 'EOF', 'i/o timeout']);
  assert.equal(begun.length, 0);
});

test('leaves a client that has begun to its handshake, however long it takes', async () => {
  const client = await come();
  client.write('hello');
  await until(() => begun.length === 1);
  await new Promise((resolve) => setTimeout(resolve, 2 * TIMEOUT_MS));
  const stays = begun[0]?.destroyed === false;
  client.destroy();
  begun[0]?.destroy();
  assert.ok(stays);
  assert.deepEqual(failures, []);
});
