// An etcd that leaves connections by GOAWAY while calls are under way: those it has begun are answered, the others go elsewhere.
import assert from 'node:assert/strict';
import net, { type AddressInfo } from 'node:net';
import { it } from 'node:test';
import { openEtcdStore } from '../src/kv/etcd/etcd.js';
import { collect } from '../src/kv/kv.contract.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { directDialer } from '../src/outbound/dialer.js';
import { etcdPrograms, startEtcd } from './etcd-process.js';

const [newest] = etcdPrograms();
const ROUNDS = 4;
const PREFACE_BYTES = 24;
const HEAD_BYTES = 9;
const HEADERS = 1;
const GOAWAY = 7;

it(
  'an etcd that leaves connections in the middle of calls costs no write and no event, and nothing happens twice',
  { timeout: 120_000, skip: newest === undefined && 'no etcd program at hand' },
  async () => {
    const etcd = await startEtcd(newest?.program ?? '');
    const proxy = new LeavingProxy(etcd.port);
    const kv = openEtcdStore({ dialer: directDialer, servers: [`http://127.0.0.1:${await proxy.listen()}`] });
    try {
      await kv.revision();
      const events = collect(kv, { prefix: '/leaves/' });
      const written: string[] = [];
      let isOver = false;
      const writers = Array.from({ length: 16 }, async (_, writer) => {
        for (let i = 0; !isOver; i++) {
          const key = `/leaves/${writer}-${i}`;
          assert.equal((await kv.create(key, Buffer.from('1'))).done, true, key);
          assert.equal((await kv.get(key))?.key, key);
          written.push(key);
        }
      });
      const all = Promise.all(writers);
      for (let round = 0; round < ROUNDS; round++) {
        const count = written.length;
        await Promise.race([proxy.leave(), all]);
        await Promise.race([pollUntil(() => written.length > count + 100), all]);
        proxy.closeLeft();
      }
      isOver = true;
      await all;
      const seen: string[] = [];
      while (seen.length < written.length) seen.push(...(await events.take(1)).map(({ key }) => key));
      assert.deepEqual(seen.toSorted(), written.toSorted());
    } finally {
      await kv.close();
      proxy.close();
      await etcd.remove();
    }
  },
);

/** Stands before etcd. A connection that it leaves answers the calls that have begun, and takes no others. */
class LeavingProxy {
  readonly #server = net.createServer((client) => this.#connect(client));
  readonly #connections = new Set<Relayed>();

  constructor(private readonly port: number) {}

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  /** Fulfilled when a call was refused on each connection that there is. */
  async leave(): Promise<void> {
    await Promise.all([...this.#connections].map((connection) => connection.leave()));
  }

  /** Watches go on elsewhere only when their connection ends. */
  closeLeft(): void {
    for (const connection of this.#connections) {
      if (!connection.hasLeft) continue;
      this.#connections.delete(connection);
      connection.close();
    }
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
    this.#server.close();
  }

  #connect(client: net.Socket): void {
    const connection = new Relayed(client, net.connect(this.port, '127.0.0.1'));
    this.#connections.add(connection);
    client.on('close', () => this.#connections.delete(connection));
  }
}

class Relayed {
  hasLeft = false;
  #lastStream = 0;
  #isLeaving = false;
  #refused: () => void = () => undefined;

  constructor(
    private readonly client: net.Socket,
    private readonly server: net.Socket,
  ) {
    const fromClient = new Frames(PREFACE_BYTES, (frame) => this.#fromClient(frame));
    const fromServer = new Frames(0, (frame) => void client.write(frame));
    client.on('data', (bytes) => fromClient.take(bytes, (preface) => server.write(preface)));
    server.on('data', (bytes) => fromServer.take(bytes, () => undefined));
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on('error', () => undefined);
      socket.on('close', () => other.destroy());
    }
  }

  leave(): Promise<void> {
    this.#isLeaving = true;
    return new Promise((resolve) => (this.#refused = resolve));
  }

  close(): void {
    this.client.destroy();
  }

  #fromClient(frame: Buffer): void {
    const stream = frame.readUInt32BE(5);
    if (this.#isLeaving && stream > this.#lastStream) return this.#refuse();
    if (frame[3] === HEADERS) this.#lastStream = stream;
    this.server.write(frame);
  }

  #refuse(): void {
    if (this.hasLeft) return;
    this.hasLeft = true;
    const goaway = Buffer.alloc(HEAD_BYTES + 8);
    goaway[2] = 8;
    goaway[3] = GOAWAY;
    goaway.writeUInt32BE(this.#lastStream, HEAD_BYTES);
    this.client.write(goaway);
    this.#refused();
  }
}

/** Divides one direction of HTTP/2 into frames. */
class Frames {
  #bytes = Buffer.alloc(0);

  constructor(
    private before: number,
    private readonly each: (frame: Buffer) => void,
  ) {}

  take(bytes: Buffer, first: (bytes: Buffer) => void): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    if (this.#bytes.length < this.before) return;
    if (this.before > 0) first(this.#bytes.subarray(0, this.before));
    let at = this.before;
    this.before = 0;
    while (this.#bytes.length - at >= HEAD_BYTES) {
      const end = at + HEAD_BYTES + this.#bytes.readUIntBE(at, 3);
      if (end > this.#bytes.length) break;
      this.each(this.#bytes.subarray(at, end));
      at = end;
    }
    this.#bytes = this.#bytes.subarray(at);
  }
}
