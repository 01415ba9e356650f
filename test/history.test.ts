// The history checker: writers, readers and watchers at once, with faults, and then the question whether what they
// saw can have happened. BINNACLE_HISTORY_WRITES makes it run longer.
//
// Every change has a revision, so the order is known and the checks are:
//   - an answered write is in the log of events once, with its value, and right after the version it expected;
//   - a write that was not answered is there at most once; nothing else is there;
//   - a write or read that began after another write was answered comes after it;
//   - every watch saw the log from its start on, in order, without gap or repeat;
//   - a list shows just the state of the log at its revision.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { it } from 'node:test';
import { openEmbeddedStore } from '../src/kv/embedded/embedded.js';
import { openEtcdStore } from '../src/kv/etcd/etcd.js';
import { directDialer } from '../src/outbound/dialer.js';
import { type KeyValueStore, KvError, type KvEvent } from '../src/kv/kv.js';
import { createResourceStore } from '../src/storage/create-store.js';
import type { KubeObject } from '../src/machinery/object.js';
import { StorageError } from '../src/storage/store.js';
import { type EtcdProcess, etcdPrograms, startEtcd } from './etcd-process.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { faultTime } from './support/fault-time.js';
import { testRandom } from './support/test-random.js';
import type { Random } from './torture/random.js';

const WRITES = Number(process.env['BINNACLE_HISTORY_WRITES'] ?? 1500);
const TIMEOUT_MS = 60_000 + 60 * WRITES;
const WRITERS = 8;
const READERS = 2;
const KEYS = 12;
const PREFIX = '/registry/history/';

it('embedded store: what clients saw can have happened', { timeout: TIMEOUT_MS }, async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-history-'));
  const kv = await openEmbeddedStore({ folder });
  await checkHistory({
    open: () => kv,
    fault: undefined,
  });
  await kv.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

const [program] = etcdPrograms();
it(
  'etcd with faults: what clients saw can have happened',
  {
    timeout: TIMEOUT_MS,
    skip: program === undefined && 'no etcd program at hand',
  },
  async () => {
    const etcd = await startEtcd(program?.program ?? '');
    const proxy = await startProxy(etcd.port);
    const stores: KeyValueStore[] = [];
    try {
      await checkHistory({
        open: () => {
          const kv = openEtcdStore({ dialer: directDialer, servers: [`http://127.0.0.1:${proxy.port}`] });
          stores.push(kv);
          return kv;
        },
        fault: (random) => etcdFault(etcd, proxy, random),
      });
    } finally {
      for (const kv of stores) await kv.close();
      proxy.close();
      await etcd.remove();
    }
  },
);

interface Write {
  readonly key: string;
  readonly expected: number;
  /** Absent for a delete. */
  readonly value: string | undefined;
  readonly beganAt: number;
  endedAt: number;
  /** Absent when there was no answer. */
  revision: number | undefined;
}

interface Read {
  readonly key: string;
  readonly beganAt: number;
  readonly modRevision: number;
}

interface List {
  readonly beganAt: number;
  readonly revision: number;
  readonly items: readonly string[];
}

interface Seen {
  readonly writes: Write[];
  readonly reads: Read[];
  readonly lists: List[];
  readonly watches: { startRevision: number; events: KvEvent[] }[];
}

/** The moments of a run, which are counted, and its end. */
class Course {
  #moment = 0;
  #answered = 0;
  #waiting: { readonly at: number; readonly done: () => void }[] = [];

  constructor(readonly random: Random) {}

  /** The next moment. */
  tick = (): number => ++this.#moment;

  get isGoing(): boolean {
    return this.#answered < WRITES;
  }

  /** A write was answered. */
  answered(): void {
    this.#answered++;
    const isOver = !this.isGoing;
    const due = this.#waiting.filter(({ at }) => isOver || at <= this.#answered);
    this.#waiting = this.#waiting.filter((one) => !due.includes(one));
    for (const { done } of due) done();
  }

  /** Resolves when so many further writes were answered, and at the end. */
  after(writes: number): Promise<void> {
    if (!this.isGoing) return Promise.resolve();
    return new Promise((done) => this.#waiting.push({ at: this.#answered + writes, done }));
  }
}

async function checkHistory(setup: {
  open: () => KeyValueStore;
  /** Brought about now and then. */
  fault: ((random: Random) => Promise<void>) | undefined;
}): Promise<void> {
  const alive = setInterval(() => undefined, 1000);
  const seen: Seen = { writes: [], reads: [], lists: [], watches: [] };
  const course = new Course(testRandom());
  const main = setup.open();
  const first = (await main.revision()) + 1;
  watch(main, first, seen);
  const store = resourceStore(main);
  const faults = (async () => {
    const random = course.random.fork('faults');
    while (course.isGoing) {
      await course.after(random.between(20, 120));
      await setup.fault?.(random);
    }
  })();
  await Promise.all([
    ...Array.from({ length: WRITERS }, (_, writer) =>
      writeOn(writer % 2 === 0 ? main : setup.open(), writer, seen, course),
    ),
    ...Array.from({ length: READERS }, () => resumeReading(main, seen, course)),
    listOn(store, seen, course),
    joinWatches(setup.open(), seen, course),
  ]);
  await faults;
  await settled(main, seen);
  store.close();
  clearInterval(alive);
  check(seen, first);
}

async function writeOn(kv: KeyValueStore, writer: number, seen: Seen, course: Course): Promise<void> {
  const { tick } = course;
  const random = course.random.fork(`writer ${writer}`);
  for (let n = 0; course.isGoing; n++) {
    const key = `${PREFIX}k${random.between(0, KEYS - 1)}`;
    const current = await answered(kv.get(key));
    if (current === 'no answer') continue;
    const expected = current?.modRevision ?? 0;
    const remove = expected > 0 && random.next() < 0.2;
    const value = remove
      ? undefined
      : JSON.stringify({ metadata: { name: key.slice(PREFIX.length), uid: `${writer}-${n}` } });
    const write: Write = { key, expected, value, beganAt: tick(), endedAt: Infinity, revision: undefined };
    seen.writes.push(write);
    const bytes = Buffer.from(value ?? '');
    const result = await answered(
      remove ? kv.delete(key, expected) : expected === 0 ? kv.create(key, bytes) : kv.update(key, expected, bytes),
    );
    if (result === 'no answer') continue;
    course.answered();
    write.endedAt = tick();
    if (result.done) write.revision = result.revision;
    else seen.writes.splice(seen.writes.indexOf(write), 1);
  }
}

async function resumeReading(kv: KeyValueStore, seen: Seen, course: Course): Promise<void> {
  const random = course.random.fork('reader');
  while (course.isGoing) {
    const key = `${PREFIX}k${random.between(0, KEYS - 1)}`;
    const beganAt = course.tick();
    const current = await answered(kv.get(key));
    if (current !== 'no answer') seen.reads.push({ key, beganAt, modRevision: current?.modRevision ?? 0 });
    await course.after(1);
  }
}

async function listOn(store: ReturnType<typeof resourceStore>, seen: Seen, course: Course): Promise<void> {
  while (course.isGoing) {
    const beganAt = course.tick();
    const list = await answered(
      store.list({ namespace: '', resourceVersion: '', resourceVersionMatch: '', limit: 0, continue: '' }),
    );
    if (list !== 'no answer') {
      const items = list.items.map((item) => `${item.key}@${item.revision}`);
      seen.lists.push({ beganAt, revision: list.revision, items });
    }
    await course.after(5);
  }
}

/** Watches that begin while all is going on. */
async function joinWatches(kv: KeyValueStore, seen: Seen, course: Course): Promise<void> {
  const random = course.random.fork('watches');
  while (course.isGoing) {
    const revision = await answered(kv.revision());
    if (revision !== 'no answer' && seen.watches.length < 20) watch(kv, revision - random.between(0, 2), seen);
    await course.after(WRITES / 20);
  }
}

function watch(kv: KeyValueStore, startRevision: number, seen: Seen): void {
  const events: KvEvent[] = [];
  const from = Math.max(2, startRevision);
  seen.watches.push({ startRevision: from, events });
  kv.watch(
    { prefix: PREFIX, startRevision: from, previous: true },
    {
      events: (batch) => void events.push(...batch),
      progress: () => undefined,
      failed: (error) => {
        if (error.code !== 'closed') assert.fail(error);
      },
    },
  );
}

/** Waits until every watch has seen a last write. */
async function settled(kv: KeyValueStore, seen: Seen): Promise<void> {
  const key = `${PREFIX}last`;
  let revision: number | undefined;
  while (revision === undefined) {
    const result = await answered(kv.create(key, Buffer.from('{}')));
    if (result === 'no answer') continue;
    revision = result.done ? result.revision : result.current?.modRevision;
  }
  await pollUntil(() => seen.watches.every(({ events }) => (events.at(-1)?.revision ?? 0) >= (revision ?? 0)));
}

const hasEnough = ({ watches, lists }: Seen): boolean => (watches[0]?.events.length ?? 0) > 100 && lists.length > 10;

function check(seen: Seen, first: number): void {
  const { writes, reads, lists, watches } = seen;
  const log = watches[0]?.events ?? [];
  assert.ok(hasEnough(seen), `enough happened: ${log.length} changes, ${lists.length} lists`);
  for (const { startRevision, events } of watches) {
    const expected = log.filter(({ revision }) => revision >= Math.max(startRevision, first));
    const got = events.filter(({ revision }) => revision >= first);
    assert.deepEqual(
      got.map(({ revision }) => revision),
      expected.map(({ revision }) => revision),
      'watches agree',
    );
  }
  for (const [index, event] of log.entries()) {
    assert.ok(index === 0 || event.revision > (log[index - 1]?.revision ?? 0), 'a watch is in order');
  }
  checkWrites(writes, log);
  checkOrder(writes, reads, lists, log);
  checkLists(lists, log);
}

function checkWrites(writes: readonly Write[], log: readonly KvEvent[]): void {
  const events = new Map(log.map((event) => [event.revision, event]));
  const byValue = new Map(writes.filter(({ value }) => value !== undefined).map((write) => [write.value, write]));
  for (const { revision, key, value, expected } of writes) {
    if (revision === undefined) continue;
    const event = events.get(revision);
    assert.equal(event?.key, key, `the answered write ${revision} is in the log`);
    assert.equal(event.type === 'put' ? event.value.toString() : undefined, value);
    assert.equal(event.previous?.modRevision ?? 0, expected, 'a write follows the version it expected');
  }
  const current = new Map<string, number>();
  for (const event of log) {
    assert.equal(
      event.previous?.modRevision ?? 0,
      current.get(event.key) ?? event.previous?.modRevision ?? 0,
      'versions follow each other',
    );
    current.set(event.key, event.type === 'put' ? event.revision : 0);
    if (event.key === `${PREFIX}last` || event.type === 'delete') continue;
    const write = byValue.get(event.value.toString());
    assert.ok(write, 'nothing is in the log that nobody wrote');
    assert.equal(write.revision ?? event.revision, event.revision, 'a write happens once');
    write.revision ??= event.revision;
  }
}

/** What began after a write was answered comes after it. */
function checkOrder(
  writes: readonly Write[],
  reads: readonly Read[],
  lists: readonly List[],
  log: readonly KvEvent[],
): void {
  const ended = writes.filter(({ endedAt }) => endedAt < Infinity).sort((a, b) => a.endedAt - b.endedAt);
  const latestBefore = (beganAt: number, key?: string): number => {
    let latest = 0;
    for (const write of ended) {
      if (write.endedAt >= beganAt) break;
      if (key === undefined || write.key === key) latest = Math.max(latest, write.revision ?? 0);
    }
    return latest;
  };
  for (const { beganAt, revision } of ended) {
    if (revision !== undefined) assert.ok(revision > latestBefore(beganAt), 'revisions follow real time');
  }
  const deletes = new Map<string, number[]>();
  for (const { type, key, revision } of log) {
    if (type === 'delete') deletes.set(key, [...(deletes.get(key) ?? []), revision]);
  }
  for (const { key, beganAt, modRevision } of reads) {
    const latest = latestBefore(beganAt, key);
    if (modRevision > 0) assert.ok(modRevision >= latest, 'a read is not older than what was answered before it');
    else
      assert.ok(
        latest === 0 || deletes.get(key)?.some((revision) => revision >= latest),
        'nothing read, so it was deleted',
      );
  }
  for (const { beganAt, revision } of lists) assert.ok(revision >= latestBefore(beganAt), 'a list is consistent');
}

function checkLists(lists: readonly List[], log: readonly KvEvent[]): void {
  const state = new Map<string, string>();
  let at = 0;
  for (const { revision, items } of [...lists].sort((a, b) => a.revision - b.revision)) {
    for (let event = log[at]; event !== undefined && event.revision <= revision; event = log[++at]) {
      const key = event.key.slice(PREFIX.length);
      if (event.type === 'put') state.set(key, `${key}@${event.revision}`);
      else state.delete(key);
    }
    assert.deepEqual(
      [...items],
      [...state.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item),
      `list at ${revision}`,
    );
  }
}

/** 'no answer' for a call that an outage kept from an answer. */
async function answered<T>(call: Promise<T>): Promise<T | 'no answer'> {
  try {
    return await call;
  } catch (error) {
    if ((error instanceof KvError || error instanceof StorageError) && error.code === 'unavailable') return 'no answer';
    throw error;
  }
}

function resourceStore(kv: KeyValueStore): ReturnType<typeof createResourceStore> {
  const encode = (object: KubeObject): Buffer => Buffer.from(JSON.stringify(object));
  const decode = (bytes: Buffer): KubeObject => ({ metadata: {}, ...(JSON.parse(bytes.toString()) as object) });
  return createResourceStore({
    kv,
    options: {
      resource: { group: '', resource: 'history' },
      prefix: PREFIX,
      namespaced: false,
      codec: { encodeJson: encode, decodeJson: decode, encodeStorage: encode, decodeStorage: decode },
      fieldsOf: () => ({}),
    },
    form: { kind: 'storage', mediaType: 'application/test' },
  });
}

interface Proxy {
  readonly port: number;
  /** Cuts all connections. */
  cut(): void;
  close(): void;
}

async function startProxy(target: number): Promise<Proxy> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((client) => {
    const upstream = net.connect(target, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    cut,
    close: () => {
      cut();
      server.close();
    },
  };
}

async function etcdFault(etcd: EtcdProcess, proxy: Proxy, random: Random): Promise<void> {
  const dice = random.next();
  if (dice < 0.6) proxy.cut();
  else if (dice < 0.85) {
    etcd.pause();
    await faultTime(random.between(100, 700));
    etcd.resume();
  } else {
    await etcd.kill();
    await etcd.start();
  }
}
