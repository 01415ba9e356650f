// runs-on: every-node
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { beforeEach, test, type TestContext } from 'node:test';
import { type Clock, systemClock } from '../../lib/async/clock.js';
import { ManualClock } from '../../lib/testing/manual-clock.js';
import { pollUntil } from '../../lib/testing/poll-until.js';
import { Handshakes } from './handshakes.js';

const NEVER_MS = 600_000;

let begun: Socket[] = [];
let failures: string[] = [];

beforeEach(() => {
  [begun, failures] = [[], []];
});

const handshakesWithin = (timeoutMs: number, clock: Clock = systemClock): Handshakes =>
  new Handshakes({
    begin: (socket) => begun.push(socket),
    onFailure: (_socket, why) => failures.push(why),
    timeoutMs,
    clock,
  });

/** A client that is there. */
class TestClient extends PassThrough {
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

/** How many have begun after each event loop iteration, when each takes so long in the tick after it began. */
async function begunByIteration(
  clients: readonly TestClient[],
  costMs: number,
  onBegin = (): void => undefined,
): Promise<number[]> {
  let nowMs = 0;
  const handshakes = new Handshakes({
    begin: (socket) => {
      begun.push(socket);
      onBegin();
      process.nextTick(() => (nowMs += costMs));
    },
    onFailure: (_socket, why) => failures.push(why),
    timeoutMs: NEVER_MS,
    nowMs: () => nowMs,
  });
  for (const client of clients) {
    client.write('hello');
    handshakes.accept(client.asSocket());
  }
  const counts: number[] = [];
  while (begun.length + failures.length < clients.length) {
    await new Promise((resolve) => setImmediate(resolve));
    if (begun.length > (counts.at(-1) ?? 0)) counts.push(begun.length);
  }
  return counts;
}

const newClients = (count: number): TestClient[] => Array.from({ length: count }, () => new TestClient());

test('begins with what the client said, for a few milliseconds of an iteration', async () => {
  assert.deepEqual(await begunByIteration(newClients(12), 1), [5, 10, 12]);
  assert.deepEqual(new Set(begun.map((socket) => String(socket.read()))), new Set(['hello']));
  assert.deepEqual(failures, []);
});

test('begins one in an iteration when each takes long', async () => {
  assert.deepEqual(await begunByIteration(newClients(4), 600), [1, 2, 3, 4]);
});

test('counts who left while waiting, and goes on with the next', async () => {
  const clients = newClients(4);
  assert.deepEqual(await begunByIteration(clients, 600, () => void clients[1]?.destroy()), [1, 2, 3]);
  assert.deepEqual(failures, ['EOF']);
});

test('begins with what came over a connection', async (t) => {
  const client = await (await listening(t, NEVER_MS))();
  client.write('hello');
  await pollUntil(() => begun.length === 1);
  const said = String(begun[0]?.read());
  for (const socket of [client, ...begun]) socket.destroy();
  assert.equal(said, 'hello');
});

test('reports a client that leaves without a word', async (t) => {
  const come = await listening(t, NEVER_MS);
  (await come()).end();
  await pollUntil(() => failures.length === 1);
  (await come()).resetAndDestroy();
  await pollUntil(() => failures.length === 2);
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
  const clock = new ManualClock();
  const [client, silent] = newClients(2);
  for (const one of [client, silent]) handshakesWithin(NEVER_MS, clock).accept(one!.asSocket());
  client!.write('hello');
  await pollUntil(() => begun.length === 1);
  await clock.move(NEVER_MS);
  assert.equal(client!.destroyed, false);
  assert.equal(silent!.destroyed, true);
  assert.deepEqual(failures, ['i/o timeout']);
});
