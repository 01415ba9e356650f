import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { ManualClock } from '../../lib/testing/manual-clock.js';
import { pollUntil } from '../../lib/testing/poll-until.js';
import { openEmbeddedStore } from '../embedded/embedded.js';
import { kvContract } from '../kv.contract.js';
import type { KeyValueStore, KvError, KvEvent } from '../kv.js';
import { LEASE_MS } from './lease.js';
import { shareStore, type StoreOwner } from './owner.js';
import { openReplicaStore } from './replica.js';
import { type TestConnection, testConnection } from './testing.js';

const folders: string[] = [];
after(() => folders.forEach((folder) => fs.rmSync(folder, { recursive: true, force: true })));

interface Replica {
  readonly store: KeyValueStore;
  readonly connections: TestConnection[];
  hang(hangs: boolean): void;
}

async function share(replicas: number, leased: readonly number[] = []) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-shared-'));
  folders.push(folder);
  const clock = new ManualClock();
  const store = await openEmbeddedStore({ folder });
  const owner = shareStore({ store, leased, clock, onError: (error) => assert.fail(String(error)) });
  const opened: Replica[] = [];
  for (let i = 0; i < replicas; i++) opened.push(await open(owner, clock, i));
  const close = async (): Promise<void> => {
    for (const replica of opened) await replica.store.close();
    owner.close();
    await store.close();
  };
  return { store, owner, clock, replicas: opened, close };
}

async function open(owner: StoreOwner, clock: ManualClock, pid: number): Promise<Replica> {
  const connections: TestConnection[] = [];
  let isHung = false;
  const store = await openReplicaStore({
    pid,
    clock,
    connect: async () => {
      const connection = testConnection();
      connection.hang('replica', isHung);
      connections.push(connection);
      owner.accept(connection.owner);
      return connection.replica;
    },
  });
  const hang = (hangs: boolean): void => {
    isHung = hangs;
    for (const connection of connections) connection.hang('replica', hangs);
  };
  return { store, connections, hang };
}

const ignoreClose = ({ code }: KvError): void => assert.equal(code, 'closed');
const bytes = (text: string): Buffer => Buffer.from(text);

/** Whether a promise is settled after everything that can happen has happened. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(
    () => (settled = true),
    () => (settled = true),
  );
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
  return !settled;
}

{
  let shared: Awaited<ReturnType<typeof share>>;
  kvContract('a store that another process has', {
    async open() {
      shared = await share(1);
      return (shared.replicas[0] as Replica).store;
    },
    close: () => shared.close(),
  });
}

test('a write is answered, wherever it is made, when every replica has received it', async () => {
  const { store, replicas, close } = await share(2);
  const [one, two] = replicas as [Replica, Replica];
  for (const writer of [store, one.store]) {
    two.hang(true);
    const write = writer.create(`/a/${writer === store}`, bytes('1'));
    await pollUntil(async () => (await isPending(write)) && (writer === store || one.store.isBehind?.('/a/') === true));
    assert.equal(one.store.isBehind?.('/b/'), false, 'nothing is on its way there');
    two.hang(false);
    assert.equal((await write).done, true);
  }
  await close();
});

test('nobody sees a change before every replica has received it, and then everybody does', async () => {
  const { store, replicas, close } = await share(2);
  const [one, two] = replicas as [Replica, Replica];
  const seen: string[] = [];
  for (const [name, kv] of [
    ['owner', store],
    ['one', one.store],
    ['two', two.store],
  ] as const) {
    kv.watch(
      { prefix: '/a/' },
      {
        events: (batch: readonly KvEvent[]) => void seen.push(...batch.map(({ key }) => `${name} ${key}`)),
        progress: () => undefined,
        failed: ignoreClose,
      },
    );
  }
  two.hang(true);
  const write = one.store.create('/a/x', bytes('1'));
  const read = store.get('/a/x');
  assert.equal(await isPending(write), true);
  assert.equal(seen.length, 0);
  const late = store.get('/a/x');
  assert.equal(await isPending(late), true, 'it is on disk, and must not be known');
  await read;
  const revision = one.store.revision();
  assert.equal(await isPending(revision), true);
  two.hang(false);
  const { revision: written } = await write;
  assert.equal(seen.includes('one /a/x'), true, 'the process that wrote it has it before the answer');
  assert.equal(await revision, written);
  assert.equal((await late)?.modRevision, written);
  assert.equal(await two.store.revision(), written);
  assert.deepEqual(seen.sort(), ['one /a/x', 'owner /a/x', 'two /a/x']);
  await close();
});

test('a replica that hangs is left behind when its lease is over, and by then answers no consistent read', async () => {
  const { store, clock, replicas, close } = await share(2);
  const [one, two] = replicas as [Replica, Replica];
  await one.store.revision();
  await two.store.revision();
  two.hang(true);
  const write = one.store.create('/a/x', bytes('1'));
  let answered = false;
  void write.then(() => (answered = true));
  for (let ms = 0; ms < 3 * LEASE_MS; ms += 50) {
    assert.equal(answered && two.store.isBehind?.('/a/') === false, false, `after ${ms} ms`);
    await clock.move(50);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(answered, true);
  assert.equal((await store.create('/a/y', bytes('2'))).done, true, 'the next one does not wait for it');
  const read = two.store.revision();
  assert.equal(await isPending(read), true);
  two.hang(false);
  let revision: number | undefined;
  void read.then((reached) => (revision = reached));
  await pollUntil(async () => {
    await clock.move(100);
    return revision !== undefined;
  });
  assert.equal(revision, await store.revision());
  await close();
});

test('a write of a replica that is left behind is answered when the replica goes on', async () => {
  const { store, clock, replicas, close } = await share(1);
  const [one] = replicas as [Replica];
  await one.store.revision();
  const before = await store.revision();
  one.hang(true);
  const write = one.store.create('/a/x', bytes('1'));
  await pollUntil(async () => {
    await clock.move(100);
    return (await store.revision()) > before;
  });
  one.hang(false);
  const { revision } = await write;
  assert.equal(one.connections.length, 1);
  assert.equal(await one.store.revision(), revision);
  await close();
});

test('a replica that was away receives what it missed, once and in order', async () => {
  const { store, replicas, close, clock } = await share(1);
  const [one] = replicas as [Replica];
  const keys: string[] = [];
  one.store.watch(
    { prefix: '/a/' },
    {
      events: (batch) => void keys.push(...batch.map(({ key }) => key)),
      progress: () => undefined,
      failed: ignoreClose,
    },
  );
  await store.create('/a/0', bytes('0'));
  one.connections[0]?.replica.destroy();
  for (let i = 1; i < 30; i++) await store.create(`/a/${i}`, bytes('x'.repeat(100_000)));
  await pollUntil(async () => {
    await clock.move(20);
    return keys.length === 30;
  });
  assert.deepEqual(
    keys,
    Array.from({ length: 30 }, (_, i) => `/a/${i}`),
  );
  assert.equal((await one.store.create('/a/30', bytes('0'))).done, true);
  assert.equal(keys.at(-1), '/a/30');
  await close();
});

test('a replica that was away for too long begins anew: its watches fail, and reads go on', async () => {
  const { store, replicas, close, clock } = await share(1);
  const [one] = replicas as [Replica];
  await store.create('/a/0', bytes('0'));
  const failed: string[] = [];
  one.store.watch(
    { prefix: '/a/' },
    { events: () => undefined, progress: () => undefined, failed: ({ code }) => failed.push(code) },
  );
  one.connections[0]?.replica.destroy();
  const { revision } = await store.create('/a/1', bytes('1'));
  await store.create('/a/2', bytes('1'));
  await store.compact(revision);
  await pollUntil(async () => {
    await clock.move(20);
    return failed.length > 0;
  });
  assert.deepEqual(failed, ['compacted']);
  const newest = await one.store.revision();
  assert.equal(newest, revision + 1);
  assert.equal(one.store.compactedRevision(), revision);
  await close();
});

test('a new owner serves when those with a lease of the one before have come, or their leases are over', async () => {
  const started = await share(0, [7, 8]);
  assert.equal(await isPending(started.owner.mayServe), true);
  const seven = open(started.owner, started.clock, 7);
  assert.equal(await isPending(seven), true, 'it is welcome when the other cannot answer any more');
  const eight = open(started.owner, started.clock, 8);
  await started.owner.mayServe;
  for (const replica of [await seven, await eight]) await replica.store.close();
  await started.close();
});
