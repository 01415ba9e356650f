import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WatchBuffers } from './watch-buffers.js';

/** A client that accepts one write and no more, until it reads. */
class Client {
  readonly got: string[] = [];
  readonly signal = new AbortController().signal;
  readonly pendingBytes = 0;
  #reads: () => void = () => undefined;
  #drained = Promise.resolve();
  fast = false;

  write(event: Buffer | string): boolean {
    this.got.push(event.toString());
    if (!this.fast) this.#drained = new Promise((resolve) => (this.#reads = resolve));
    return this.fast;
  }
  drained(): Promise<void> {
    return this.#drained;
  }
  async read(): Promise<void> {
    this.#reads();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const MEGABYTE = 1024 * 1024;

test('events wait for their client in order, and what it has read is held no more', async () => {
  const all = new WatchBuffers();
  const client = new Client();
  const output = all.open(client, () => undefined);
  for (const event of ['a', 'b', 'c']) output.write(Buffer.from(event));
  assert.deepEqual([client.got, all.bytes], [['a'], 3]);
  let empty = false;
  const drained = output.drained().then(() => (empty = true));
  await client.read();
  assert.deepEqual([client.got, all.bytes, empty], [['a', 'b'], 2, false]);
  client.fast = true;
  await client.read();
  await drained;
  assert.deepEqual([client.got, all.bytes], [['a', 'b', 'c'], 0]);
});

test('an event that many wait for is counted once, beside the copies of their connections', async () => {
  const all = new WatchBuffers();
  const outputs = Array.from({ length: 10 }, () => all.open(new Client(), () => undefined));
  for (const output of outputs) output.write(Buffer.from('own'));
  const event = Buffer.alloc(1000);
  for (const output of outputs) output.write(event);
  assert.equal(all.bytes, 10 * 3 + 1000);
  for (const output of outputs) output.end();
  assert.equal(all.bytes, 0);
});

test('when all together hold too much the slowest end first, and release everything', () => {
  const all = new WatchBuffers(10 * MEGABYTE);
  const [slow, slower, ready] = [
    all.open(new Client(), () => undefined),
    all.open(new Client(), () => undefined),
    all.open(new Client(), () => undefined),
  ];
  slow.write(Buffer.alloc(MEGABYTE));
  slower.write(Buffer.alloc(MEGABYTE));
  for (let i = 0; i < 3; i++) slow.write(Buffer.alloc(MEGABYTE));
  for (let i = 0; i < 6; i++) slower.write(Buffer.alloc(MEGABYTE));
  assert.deepEqual([slow.over, slower.over, ready.over], [false, true, false]);
  assert.equal(all.bytes, 4 * MEGABYTE);
  assert.equal(slower.unreadBytes, 0);
});

test('one that is far behind ends, however little the others hold', () => {
  const all = new WatchBuffers();
  let ends = 0;
  const output = all.open(new Client(), () => ends++);
  for (let i = 0; i < 40; i++) output.write(Buffer.alloc(MEGABYTE));
  assert.deepEqual([output.over, ends, all.bytes], [true, 1, 0]);
});
