// runs-on: every-node
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { beforeEach, test, type TestContext } from 'node:test';
import { until } from '../lib/until.js';
import { Handshakes, MOST_BEGUN } from './handshakes.js';

const NEVER_MS = 600_000;

let begun: Socket[] = [];
let failures: string[] = [];

beforeEach(() => {
  [begun, failures] = [[], []];
});

const handshakesWithin = (timeoutMs: number): Handshakes =>
  new Handshakes({
    begin: (socket) => begun.push(socket),
    onFailure: (_socket, why) => failures.push(why),
    timeoutMs,
  });

/** A client that is there, and whose time is over when the test says so. */
class TestClient extends PassThrough {
  timeOver: (() => void) | undefined;

  setTimeout(ms: number, timeOver: () => void): this {
    this.timeOver = ms === 0 ? undefined : timeOver;
    return this;
  }

  asSocket(): Socket {
    return this as unknown as Socket;
  }
}

/** How to connect to a server that leaves silent clients after that time. */
async function listening(t: TestContext, timeoutMs: number): Promise<() => Promise<Socket>> {
  const handshakes = handshakesWithin(timeoutMs);
  const server = net.createServer((socket) => handshakes.accept(socket.on('error', () => undefined)));
  t.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return async () => {
    const client = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(
      client.on('error', () => undefined),
      'connect',
    );
    return client;
  };
}

test('begins with what the client said, and with a few clients in a turn', async () => {
  const handshakes = handshakesWithin(NEVER_MS);
  const clients = Array.from({ length: 5 * MOST_BEGUN }, () => new TestClient());
  for (const client of clients) {
    client.write('hello');
    handshakes.accept(client.asSocket());
  }
  const afterTurns: number[] = [];
  while (begun.length < clients.length) {
    await new Promise((resolve) => setImmediate(resolve));
    if (begun.length > 0) afterTurns.push(begun.length);
  }
  assert.deepEqual(
    afterTurns,
    [1, 2, 3, 4, 5].map((turns) => turns * MOST_BEGUN),
  );
  assert.deepEqual(new Set(begun.map((socket) => String(socket.read()))), new Set(['hello']));
  assert.deepEqual(failures, []);
});

test('begins with what came over a connection', async (t) => {
  const client = await (await listening(t, NEVER_MS))();
  client.write('hello');
  await until(() => begun.length === 1);
  const said = String(begun[0]?.read());
  for (const socket of [client, ...begun]) socket.destroy();
  assert.equal(said, 'hello');
});

test('tells of who leaves without a word', async (t) => {
  const come = await listening(t, NEVER_MS);
  (await come()).end();
  await until(() => failures.length === 1);
  (await come()).resetAndDestroy();
  await until(() => failures.length === 2);
  assert.deepEqual(failures, ['EOF', 'EOF']);
  assert.equal(begun.length, 0);
});

test('leaves who is silent', async (t) => {
  const silent = await (await listening(t, 20))();
  await once(silent.resume(), 'close');
  assert.deepEqual(failures, ['i/o timeout']);
  assert.equal(begun.length, 0);
});

test('leaves a client that has begun to its handshake, however long it takes', async () => {
  const client = new TestClient();
  handshakesWithin(NEVER_MS).accept(client.asSocket());
  assert.ok(client.timeOver);
  client.write('hello');
  await until(() => begun.length === 1);
  assert.equal(client.timeOver, undefined);
  assert.equal(client.destroyed, false);
  assert.deepEqual(failures, []);
});
