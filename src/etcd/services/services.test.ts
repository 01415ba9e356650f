// etcd's services on a store, without sockets.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { Decoded, Encodable } from '../../lib/protobuf/message.js';
import { SLICE_MS } from '../../lib/scheduling/time-slice.js';
import { ManualClock } from '../../lib/testing/manual-clock.js';
import { pollUntil } from '../../lib/testing/poll-until.js';
import { CommitGate } from '../../kv/shared/commit-gate.js';
import { type EmbeddedStore, openEmbeddedStore } from '../../kv/embedded/embedded.js';
import {
  COMPACTION_REQUEST,
  COMPARE_RESULT,
  COMPARE_TARGET,
  DELETE_RANGE_REQUEST,
  DELETE_RANGE_RESPONSE,
  PUT_REQUEST,
  PUT_RESPONSE,
  RANGE_REQUEST,
  RANGE_RESPONSE,
  type RequestOp,
  TXN_REQUEST,
  TXN_RESPONSE,
} from '../../kv/etcd/messages/kv.js';
import {
  LEASE_GRANT_REQUEST,
  LEASE_GRANT_RESPONSE,
  LEASE_ID,
  LEASE_TIME_TO_LIVE_REQUEST,
  LEASE_TIME_TO_LIVE_RESPONSE,
} from '../../kv/etcd/messages/lease.js';
import { HEADER_ONLY } from '../../kv/etcd/messages/maintenance.js';
import { EVENT_TYPE, WATCH_FILTER, WATCH_REQUEST, WATCH_RESPONSE } from '../../kv/etcd/messages/watch.js';
import { GrpcFault } from '../grpc/fault.js';
import type { GrpcService, ServerCall } from '../grpc/server.js';
import { SpaceAlarm } from '../space-alarm.js';
import { readOnly } from '../read-only.js';
import { etcdServices } from '../services.js';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-etcd-services-'));
after(() => fs.rmSync(root, { recursive: true, force: true }));
let folders = 0;

const b = (text: string): Buffer => Buffer.from(text);
type Put = Encodable<typeof PUT_REQUEST>;
type Range = Encodable<typeof RANGE_REQUEST>;
type Txn = Encodable<typeof TXN_REQUEST>;

class Etcd {
  private constructor(
    readonly store: EmbeddedStore,
    readonly services: Readonly<Record<string, GrpcService>>,
    readonly alarm: SpaceAlarm,
    readonly clock: ManualClock,
  ) {}

  static async open(quotaBytes?: number): Promise<Etcd> {
    const clock = new ManualClock();
    const folder = path.join(root, String(++folders));
    const store = await openEmbeddedStore({ folder, historyMs: 0, clock, quotaBytes });
    const alarm = new SpaceAlarm(store.mvcc, { stays: true });
    let ids = 0n;
    const services = etcdServices({
      store,
      alarm,
      clock,
      member: { name: 'm', clientUrls: [], peerUrls: [] },
      newLeaseId: () => ++ids,
      maxRequestBytes: 10_000,
      maxTxnOps: 6,
      progressPeriodMs: 60_000,
      scratchFolder: root,
      isHealthy: async () => true,
    });
    return new Etcd(store, services, alarm, clock);
  }

  async call(service: string, method: string, message: Buffer): Promise<Buffer> {
    const found = this.services[`etcdserverpb.${service}`]?.unary[method];
    assert.ok(found, method);
    const answer = await found(message);
    return Buffer.isBuffer(answer) ? answer : Buffer.concat(answer);
  }

  async put(key: string, value: string, more: Put = {}): Promise<Decoded<typeof PUT_RESPONSE>> {
    const message = PUT_REQUEST.encode({ key: b(key), value: b(value), ...more });
    return PUT_RESPONSE.decode(await this.call('KV', 'Put', message));
  }

  async range(key: string, rangeEnd = '', more: Range = {}): Promise<Decoded<typeof RANGE_RESPONSE>> {
    const message = RANGE_REQUEST.encode({ key: b(key), rangeEnd: b(rangeEnd), ...more });
    return RANGE_RESPONSE.decode(await this.call('KV', 'Range', message));
  }

  async keys(key: string, rangeEnd = '', more: Range = {}): Promise<string> {
    const { kvs } = await this.range(key, rangeEnd, more);
    return kvs.map((kv) => `${kv.key.toString()}=${kv.value.toString()}`).join(' ');
  }

  async txn(request: Txn): Promise<Decoded<typeof TXN_RESPONSE>> {
    return TXN_RESPONSE.decode(await this.call('KV', 'Txn', TXN_REQUEST.encode(request)));
  }

  async grant(ttl: number, id = 0n): Promise<bigint> {
    const answer = await this.call('Lease', 'LeaseGrant', LEASE_GRANT_REQUEST.encode({ ttl, id }));
    return LEASE_GRANT_RESPONSE.decode(answer).id;
  }

  watch(): WatchCall {
    return new WatchCall(this);
  }
}

/** A stream of the Watch service. */
class WatchCall {
  readonly answers: Decoded<typeof WATCH_RESPONSE>[] = [];
  pendingBytes = 0;
  readonly #abort = new AbortController();
  #waiting: Buffer[] = [];
  #wake = (): void => undefined;
  #drained = (): void => undefined;
  #noted = (): void => undefined;
  readonly ended: Promise<void>;

  constructor({ services }: Etcd) {
    const next = async (): Promise<Buffer> => {
      while (this.#waiting.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
      return this.#waiting.shift() ?? Buffer.alloc(0);
    };
    const messages = async function* (): AsyncIterable<Buffer> {
      for (;;) yield await next();
    };
    const pending = (): number => this.pendingBytes;
    const call: ServerCall = {
      messages: messages(),
      send: (pieces) => {
        this.answers.push(WATCH_RESPONSE.decode(Buffer.concat(pieces)));
        this.#noted();
        return true;
      },
      get pendingBytes() {
        return pending();
      },
      drained: () => new Promise((resolve) => (this.#drained = resolve)),
      signal: this.#abort.signal,
    };
    this.ended = services['etcdserverpb.Watch']?.streams?.['Watch']?.(call) ?? Promise.resolve();
  }

  send(request: Encodable<typeof WATCH_REQUEST>): void {
    this.#waiting.push(WATCH_REQUEST.encode(request));
    this.#wake();
  }

  drain(): void {
    this.pendingBytes = 0;
    this.#drained();
  }

  async take(count: number): Promise<Decoded<typeof WATCH_RESPONSE>[]> {
    while (this.answers.length < count) await new Promise<void>((resolve) => (this.#noted = resolve));
    return this.answers.splice(0, count);
  }
}

const failsWith = (status: number, message: string) => (error: unknown) =>
  error instanceof GrpcFault && error.status === status && error.message === message;

describe("etcd's KV service", () => {
  let etcd: Etcd;
  before(async () => {
    etcd = await Etcd.open();
    for (const [key, value] of [
      ['a', '3'],
      ['b', '1'],
      ['c', '2'],
      ['b', '0'],
    ]) {
      await etcd.put(key as string, value as string);
    }
  });
  after(() => etcd.store.close());

  it('ranges over keys, with limits, counts, orders and filters', async () => {
    assert.equal(await etcd.keys('a', 'c'), 'a=3 b=0');
    assert.equal(await etcd.keys('b', '\0'), 'b=0 c=2');
    assert.equal(await etcd.keys('c', 'a'), '');
    const { more, count, kvs } = await etcd.range('a', '\0', { limit: 2 });
    assert.deepEqual([more, count, kvs.length], [true, 3, 2]);
    assert.equal((await etcd.range('a', '\0', { limit: 3 })).more, false);
    const counted = await etcd.range('a', '\0', { countOnly: true });
    assert.deepEqual([counted.count, counted.kvs.length], [3, 0]);
    assert.equal(await etcd.keys('a', '\0', { keysOnly: true }), 'a= b= c=');
    assert.equal(await etcd.keys('a', '\0', { sortOrder: 2 }), 'c=2 b=0 a=3');
    assert.equal(await etcd.keys('a', '\0', { sortTarget: 4 }), 'b=0 c=2 a=3');
    assert.equal(await etcd.keys('a', '\0', { sortTarget: 3, sortOrder: 2, limit: 1 }), 'b=0');
    assert.equal(await etcd.keys('a', '\0', { minModRevision: 3, maxModRevision: 4 }), 'c=2');
    assert.equal(await etcd.keys('a', '\0', { minCreateRevision: 3, maxCreateRevision: 3 }), 'b=0');
    assert.equal(await etcd.keys('a', '\0', { revision: 3 }), 'a=3 b=1');
  });

  it('counts versions, and keeps keys of any bytes', async () => {
    const [found] = (await etcd.range('b')).kvs;
    assert.deepEqual([found?.version, found?.createRevision, found?.modRevision], [2, 3, 5]);
    const key = Buffer.from([0xff, 0x00, 0xc3, 0x28]);
    await etcd.put('', 'odd', { key });
    const { kvs } = RANGE_RESPONSE.decode(
      await etcd.call('KV', 'Range', RANGE_REQUEST.encode({ key, rangeEnd: b('\0') })),
    );
    assert.deepEqual(
      kvs.map((kv) => kv.key),
      [key],
    );
  });

  it('refuses what etcd refuses, in its words', async () => {
    const invalid = (text: string) => failsWith(3, `etcdserver: ${text}`);
    await assert.rejects(etcd.put('', ''), invalid('key is not provided'));
    await assert.rejects(etcd.range(''), invalid('key is not provided'));
    await assert.rejects(etcd.range('a', '', { sortTarget: 9 }), invalid('invalid sort option'));
    await assert.rejects(etcd.put('a', '1', { ignoreValue: true }), invalid('value is provided'));
    await assert.rejects(etcd.put('none', '', { ignoreValue: true }), invalid('key not found'));
    await assert.rejects(etcd.put('a', '1', { ignoreLease: true, lease: 1n }), invalid('lease is provided'));
    await assert.rejects(etcd.put('a', '1', { lease: 99n }), failsWith(5, 'etcdserver: requested lease not found'));
    await assert.rejects(etcd.put('a', 'x'.repeat(10_000)), invalid('request is too large'));
    await assert.rejects(etcd.put('k'.repeat(2_000), ''), invalid('request is too large'));
    const future = failsWith(11, 'etcdserver: mvcc: required revision is a future revision');
    await assert.rejects(etcd.range('a', '', { revision: 1_000 }), future);
    await assert.rejects(etcd.call('KV', 'Compact', COMPACTION_REQUEST.encode({ revision: 1_000 })), future);
  });

  it('deletes ranges, and answers what was there', async () => {
    const first = await etcd.put('d/1', 'x');
    await etcd.put('d/2', 'y', { prevKv: true });
    const request = DELETE_RANGE_REQUEST.encode({ key: b('d/'), rangeEnd: b('d0'), prevKv: true });
    const { deleted, prevKvs, header } = DELETE_RANGE_RESPONSE.decode(await etcd.call('KV', 'DeleteRange', request));
    assert.deepEqual([deleted, prevKvs.map((kv) => kv.value.toString())], [2, ['x', 'y']]);
    assert.equal(header?.revision, (first.header?.revision ?? 0) + 2, 'both in one revision');
    const again = DELETE_RANGE_RESPONSE.decode(await etcd.call('KV', 'DeleteRange', request));
    assert.deepEqual([again.deleted, again.header?.revision], [0, header?.revision]);
  });

  it('does the operations of a transaction in one revision, each seeing those before it', async () => {
    const answer = await etcd.txn({
      compare: [{ target: COMPARE_TARGET.version, key: b('t/a'), version: 0 }],
      success: [
        { requestPut: { key: b('t/a'), value: b('1') } },
        { requestRange: { key: b('t/'), rangeEnd: b('t0') } },
        { requestTxn: { compare: [], success: [putOp('t/b', '2')], failure: [] } },
        { requestDeleteRange: { key: b('t/none') } },
      ],
    });
    const [, read] = answer.responses;
    assert.deepEqual([answer.succeeded, read?.responseRange?.kvs.length], [true, 1]);
    const { kvs } = await etcd.range('t/', 't0');
    assert.deepEqual(new Set(kvs.map((kv) => kv.modRevision)), new Set([answer.header?.revision]));
    assert.equal(kvs.length, 2);
    const refused = await etcd.txn({
      compare: [{ target: COMPARE_TARGET.version, key: b('t/a'), version: 0 }],
      success: [{ requestPut: { key: b('t/a'), value: b('1') } }],
      failure: [{ requestRange: { key: b('t/a'), revision: 2 } }, { requestRange: { key: b('t/a') } }],
    });
    assert.deepEqual(
      [refused.succeeded, refused.header?.revision, ...refused.responses.map((r) => r.responseRange?.kvs.length)],
      [false, answer.header?.revision, 0, 1],
    );
  });

  it('compares every target, of a key and of all keys of a range', async () => {
    await etcd.put('r/1', 'm');
    await etcd.put('r/2', 'm');
    const holds = async (compare: NonNullable<Txn['compare']>[number]): Promise<boolean> =>
      (await etcd.txn({ compare: [{ key: b('r/'), rangeEnd: b('r0'), ...compare }] })).succeeded;
    const { equal, greater, less, notEqual } = COMPARE_RESULT;
    const { version, create, mod, value, lease } = COMPARE_TARGET;
    assert.equal(await holds({ target: value, result: equal, value: b('m') }), true);
    assert.equal(await holds({ target: value, result: less, value: b('m') }), false);
    assert.equal(await holds({ target: value, result: greater, value: b('a') }), true);
    assert.equal(await holds({ target: value, result: notEqual, value: b('a') }), true);
    assert.equal(await holds({ target: version, result: equal, version: 1 }), true);
    assert.equal(await holds({ target: create, result: greater, createRevision: 1 }), true);
    assert.equal(await holds({ target: mod, result: less, modRevision: 2 }), false);
    assert.equal(await holds({ target: lease, result: equal, lease: 0n }), true);
    // Nothing is there: all numbers are 0, and no value is equal to it.
    assert.equal(await holds({ key: b('n/'), rangeEnd: b('n0'), target: mod, result: equal, modRevision: 0 }), true);
    assert.equal(await holds({ key: b('n/'), rangeEnd: b('n0'), target: value, result: equal, value: b('') }), false);
  });

  it('refuses transactions that change a key twice, or have too many operations, and changes nothing', async () => {
    const { header } = await etcd.range('a');
    const duplicate = failsWith(3, 'etcdserver: duplicate key given in txn request');
    const twice = [{ requestPut: put('x', '1') }, { requestPut: put('x', '2') }];
    await assert.rejects(etcd.txn({ success: twice }), duplicate);
    const both = [{ requestPut: put('x', '1') }, { requestDeleteRange: { key: b('w'), rangeEnd: b('z') } }];
    await assert.rejects(etcd.txn({ success: both }), duplicate);
    const within = { requestTxn: { compare: [], success: [putOp('x', '1')], failure: [] } };
    await assert.rejects(etcd.txn({ success: [within, { requestPut: put('x', '1') }] }), duplicate);
    const many = Array.from({ length: 7 }, (_, i) => ({ requestPut: put(`x${i}`, '') }));
    await assert.rejects(etcd.txn({ success: many }), failsWith(3, 'etcdserver: too many operations in txn request'));
    const late = [{ requestPut: put('x', '1') }, { requestPut: { ...put('y', '1'), lease: 99n } }];
    await assert.rejects(etcd.txn({ success: late }), failsWith(5, 'etcdserver: requested lease not found'));
    assert.deepEqual(
      [(await etcd.range('x')).kvs.length, (await etcd.range('a')).header?.revision],
      [0, header?.revision],
    );
  });
});

const put = (key: string, value: string): Decoded<typeof PUT_REQUEST> =>
  PUT_REQUEST.decode(PUT_REQUEST.encode({ key: b(key), value: b(value) }));

const putOp = (key: string, value: string): RequestOp => ({
  requestRange: undefined,
  requestPut: put(key, value),
  requestDeleteRange: undefined,
  requestTxn: undefined,
});

describe('commits that are held back', () => {
  it('are known to nobody before their release: reads wait for it, and watches have their events then', async () => {
    const etcd = await Etcd.open();
    const hold = new CommitGate(etcd.clock);
    etcd.store.holdCommits(hold);
    await etcd.put('a', '1');
    const watch = etcd.watch();
    watch.send({ createRequest: { key: b('a') } });
    await pollUntil(() => watch.answers.some(({ created }) => created));
    // A worker process that does not acknowledge.
    let isHeld = true;
    const committed = new Promise<void>((resolve) => {
      hold.join({
        acknowledged: 0,
        leaseUntilMs: Infinity,
        isBehind: false,
        sendEvents: () => resolve(),
        sendRelease: () => undefined,
      });
    });
    const heldAtAnswer = <T>(work: Promise<T>): Promise<readonly [T, boolean]> =>
      work.then((result) => [result, isHeld]);
    const written = heldAtAnswer(etcd.put('a', '2'));
    await committed;
    const reads = [etcd.keys('a'), etcd.keys('a', 'b'), etcd.txn({ success: [{ requestRange: { key: b('a') } }] })];
    const answers = reads.map((read) => heldAtAnswer<unknown>(read));
    await new Promise(setImmediate);
    const events = (): number => watch.answers.reduce((sum, answer) => sum + answer.events.length, 0);
    assert.equal(events(), 0);
    isHeld = false;
    hold.close();
    assert.equal((await written)[1], false);
    const [one, range] = await Promise.all(answers);
    assert.deepEqual(
      [one, range],
      [
        ['a=2', false],
        ['a=2', false],
      ],
    );
    await Promise.all(answers);
    await pollUntil(() => events() === 1);
    await etcd.store.close();
  });
});

describe("etcd's Lease service", () => {
  it('deletes the keys of a lease with it, in one revision, and keeps what was written without it', async () => {
    const etcd = await Etcd.open();
    const id = await etcd.grant(60);
    for (const key of ['a', 'b', 'kept']) await etcd.put(key, '1', { lease: id });
    await etcd.put('kept', '2');
    const ttl = LEASE_TIME_TO_LIVE_RESPONSE.decode(
      await etcd.call('Lease', 'LeaseTimeToLive', LEASE_TIME_TO_LIVE_REQUEST.encode({ id, keys: true })),
    );
    assert.deepEqual([ttl.grantedTtl, ttl.keys.map((key) => key.toString())], [60, ['a', 'b']]);
    const { header } = HEADER_ONLY.decode(await etcd.call('Lease', 'LeaseRevoke', LEASE_ID.encode({ id })));
    assert.equal(header?.revision, 6);
    assert.equal(await etcd.keys('a', '\0'), 'kept=2');
    const gone = etcd.call('Lease', 'LeaseRevoke', LEASE_ID.encode({ id }));
    await assert.rejects(gone, failsWith(5, 'etcdserver: requested lease not found'));
    await etcd.store.close();
  });

  it('ends leases in their time, unless they are kept alive, and begins anew after a restart', async () => {
    const etcd = await Etcd.open();
    const [kept, gone] = [await etcd.grant(10, 7n), await etcd.grant(10)];
    await assert.rejects(etcd.grant(5, 7n), failsWith(9, 'etcdserver: lease already exists'));
    await etcd.put('kept', '1', { lease: kept });
    await etcd.put('gone', '1', { lease: gone });
    const deleted = new Promise<void>((resolve) => {
      etcd.store.mvcc.follow({ start: 'gone', end: 'gone\0', startRevision: 0 }, () => resolve());
    });
    await etcd.clock.move(6_000);
    assert.equal(etcd.store.mvcc.leases.keepAlive(kept), 10);
    await etcd.clock.move(6_000);
    await deleted;
    assert.equal(await etcd.keys('a', '\0'), 'kept=1');
    await etcd.store.close();
    const again = await openEmbeddedStore({
      folder: path.join(root, String(folders)),
      historyMs: 0,
      clock: etcd.clock,
    });
    assert.deepEqual([[...again.mvcc.leases.ids], again.mvcc.leases.find(kept)?.remainingMs], [[kept], 10_000]);
    await again.close();
  });
});

describe("etcd's Watch service", () => {
  it('sends what happened and what happens, filtered, with what was there before', async () => {
    const etcd = await Etcd.open();
    await etcd.put('a', '1');
    await etcd.put('a', '2');
    const call = etcd.watch();
    call.send({ createRequest: { key: b('a'), rangeEnd: b('b'), startRevision: 3, prevKv: true } });
    const [created, past] = await call.take(2);
    assert.deepEqual([created?.watchId, created?.created], [0, true]);
    assert.deepEqual(
      past?.events.map(({ kv, prevKv }) => [kv?.value.toString(), prevKv?.value.toString(), kv?.version]),
      [['2', '1', 2]],
    );
    call.send({ createRequest: { key: b('a'), startRevision: 2, filters: [WATCH_FILTER.noPut] } });
    assert.equal((await call.take(1))[0]?.watchId, 1);
    call.send({ progressRequest: {} });
    await call.take(1);
    await etcd.call('KV', 'DeleteRange', DELETE_RANGE_REQUEST.encode({ key: b('a') }));
    const deletes = (await call.take(2)).sort((x, y) => x.watchId - y.watchId);
    assert.deepEqual(
      deletes.map(({ events }) => events.map(({ type, prevKv }) => [type, prevKv?.value.toString()])),
      [[[EVENT_TYPE.delete, '2']], [[EVENT_TYPE.delete, undefined]]],
    );
    call.send({ cancelRequest: { watchId: 0 } });
    assert.equal((await call.take(1))[0]?.canceled, true);
    await etcd.put('a', '3');
    call.send({ progressRequest: {} });
    const [progress] = await call.take(1);
    assert.deepEqual([progress?.watchId, progress?.header?.revision, progress?.events.length], [-1, 5, 0]);
    await etcd.store.close();
  });

  it('reads on in history for a client that does not read, and leaves nothing out', async () => {
    const etcd = await Etcd.open();
    const call = etcd.watch();
    call.send({ createRequest: { key: b('k'), rangeEnd: b('l') } });
    await call.take(1);
    call.pendingBytes = 2 ** 30;
    for (let i = 0; i < 50; i++) await etcd.put(`k${i % 5}`, String(i));
    assert.equal(call.answers.length, 0, 'nothing is kept for it in memory');
    call.drain();
    const values: string[] = [];
    while (values.length < 50) {
      for (const { kv } of (await call.take(1))[0]?.events ?? []) values.push(kv?.value.toString() ?? '');
    }
    assert.deepEqual(
      values,
      Array.from({ length: 50 }, (_, i) => String(i)),
    );
    await etcd.store.close();
  });

  it('ends a watch of what was compacted, refuses those that cannot be, and tells how far one is now and then', async () => {
    const etcd = await Etcd.open();
    for (let i = 0; i < 3; i++) await etcd.put('a', String(i));
    await etcd.call('KV', 'Compact', COMPACTION_REQUEST.encode({ revision: 4 }));
    const call = etcd.watch();
    call.send({ createRequest: { key: b('a'), startRevision: 2 } });
    const [, ended] = await call.take(2);
    assert.deepEqual([ended?.canceled, ended?.compactRevision], [true, 4]);
    call.send({ createRequest: { key: b('b'), rangeEnd: b('a') } });
    assert.equal((await call.take(1))[0]?.cancelReason, 'mvcc: watcher range is empty');
    call.send({ createRequest: { key: b('a'), watchId: 5, progressNotify: true } });
    call.send({ createRequest: { key: b('a'), watchId: 5 } });
    const [, twice] = await call.take(2);
    assert.deepEqual(
      [twice?.watchId, twice?.cancelReason],
      [-1, 'mvcc: duplicate watch ID provided on the WatchStream'],
    );
    await etcd.clock.move(60_000);
    const [progress] = await call.take(1);
    assert.deepEqual([progress?.watchId, progress?.header?.revision], [5, 4]);
    await etcd.store.close();
  });

  it('sends large answers in fragments to those who want them so', async () => {
    const etcd = await Etcd.open();
    for (let i = 0; i < 6; i++) await etcd.put(`a${i}`, 'x'.repeat(3_000));
    const call = etcd.watch();
    call.send({ createRequest: { key: b('a'), rangeEnd: b('b'), startRevision: 2, fragment: true } });
    const [, ...fragments] = await call.take(3);
    assert.deepEqual(
      fragments.map(({ fragment, events }) => [fragment, events.length]),
      [
        [true, 3],
        [false, 3],
      ],
    );
    await etcd.store.close();
  });
});

describe('very many keys', () => {
  const MANY = 6_000;
  const name = (i: number): string => `many/${String(i).padStart(6, '0')}`;

  async function filled(): Promise<Etcd> {
    const etcd = await Etcd.open();
    for (let from = 0; from < MANY; from += 1_000) {
      await etcd.store.mvcc.transact((state) => {
        for (let i = from; i < from + 1_000; i++) state.put(name(i), b(`value ${i}`), { expiresAtMs: 0, lease: 0n });
      });
    }
    return etcd;
  }

  /** However long the machine takes, work yields whenever it looks at the clock. */
  function everyLookTakesASlice(context: TestContext): void {
    let nowMs = 0;
    context.mock.method(performance, 'now', () => (nowMs += SLICE_MS));
  }

  /** How often the event loop turned until it was there. */
  async function turnsUntil<T>(promise: Promise<T>): Promise<{ readonly result: T; readonly turns: number }> {
    let turns = 0;
    let isOver = false;
    const turn = (): void => {
      turns++;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const result = await promise.finally(() => (isOver = true));
    return { result, turns };
  }

  it('are read at one revision while others write', async (context) => {
    const etcd = await filled();
    everyLookTakesASlice(context);
    const { revision } = etcd.store.mvcc;
    const reading = turnsUntil(etcd.range('many/', 'many0'));
    const sorting = etcd.range('many/', 'many0', { sortOrder: 2, sortTarget: 0, limit: 2 });
    // The first step has read some; the others read what was there with it.
    for (const i of [1, MANY - 1]) await etcd.put(name(i), 'changed');
    const { result, turns } = await reading;
    assert.ok(turns > 2, `${turns} turns`);
    assert.deepEqual([result.header?.revision, result.count, result.more], [revision, MANY, false]);
    assert.equal(result.kvs.length, MANY);
    assert.equal(result.kvs[MANY - 1]?.value.toString(), `value ${MANY - 1}`);
    const last = (await sorting).kvs.map(({ key }) => key.toString());
    assert.deepEqual(last, [name(MANY - 1), name(MANY - 2)]);
    const past = await etcd.range('many/', 'many0', { revision, limit: MANY - 1 });
    assert.deepEqual([past.kvs.length, past.more, past.kvs[1]?.value.toString()], [MANY - 1, true, 'value 1']);
    await etcd.store.close();
  });

  it('are deleted in one revision, and watches are sent all of it', async (context) => {
    const etcd = await filled();
    everyLookTakesASlice(context);
    const { revision } = etcd.store.mvcc;
    const watch = etcd.watch();
    watch.send({ createRequest: { key: b('many/'), rangeEnd: b('many0') } });
    const all = DELETE_RANGE_REQUEST.encode({ key: b('many/'), rangeEnd: b('many0'), prevKv: true });
    const { result, turns } = await turnsUntil(etcd.call('KV', 'DeleteRange', all));
    assert.ok(turns > 2, `${turns} turns`);
    const { deleted, prevKvs, header } = DELETE_RANGE_RESPONSE.decode(result);
    assert.deepEqual([deleted, prevKvs.length, header?.revision], [MANY, MANY, revision + 1]);
    await etcd.put('many/after', 'x');
    const events = (await watch.take(3)).flatMap((answer) => answer.events);
    const seen = events.map(({ kv }) => `${kv?.modRevision} ${kv?.key.toString()}`);
    assert.deepEqual(seen, [
      ...Array.from({ length: MANY }, (_, i) => `${revision + 1} ${name(i)}`),
      `${revision + 2} many/after`,
    ]);
    assert.equal((await etcd.range('many/', 'many0', { revision, countOnly: true })).count, MANY);
    await etcd.store.close();
  });
});

describe('what is refused', () => {
  it('is every write of a client that may only look', async () => {
    const etcd = await Etcd.open();
    const services = readOnly(etcd.services);
    const kv = services['etcdserverpb.KV']?.unary ?? {};
    const denied = failsWith(7, 'etcdserver: permission denied');
    const call = async (method: string, message: Buffer): Promise<Buffer> => (await kv[method]?.(message)) as Buffer;
    await assert.rejects(call('Put', PUT_REQUEST.encode({ key: b('a') })), denied);
    const writing = TXN_REQUEST.encode({ failure: [{ requestPut: { key: b('a') } }] });
    await assert.rejects(call('Txn', writing), denied);
    const reading = TXN_REQUEST.encode({ success: [{ requestRange: { key: b('a') } }] });
    assert.equal(TXN_RESPONSE.decode(await call('Txn', reading)).succeeded, true);
    await etcd.store.close();
  });

  it('is what exceeds the quota, until somebody makes room and disarms the alarm', async () => {
    const etcd = await Etcd.open(160 * 1024);
    const noSpace = failsWith(8, 'etcdserver: mvcc: database space exceeded');
    const fill = async (): Promise<void> => {
      for (let i = 0; i < 100; i++) await etcd.put(`a${i}`, randomBytes(4_500).toString('hex'));
    };
    await assert.rejects(fill(), noSpace);
    await assert.rejects(etcd.put('a', ''), noSpace);
    assert.equal(etcd.alarm.isRaised, true);
    const all = DELETE_RANGE_REQUEST.encode({ key: b('a'), rangeEnd: b('b') });
    const { header } = DELETE_RANGE_RESPONSE.decode(await etcd.call('KV', 'DeleteRange', all));
    await etcd.call('KV', 'Compact', COMPACTION_REQUEST.encode({ revision: header?.revision ?? 0 }));
    await assert.rejects(etcd.put('a', ''), noSpace);
    etcd.alarm.disarm();
    await etcd.put('a', '');
    await etcd.store.close();
  });
});
