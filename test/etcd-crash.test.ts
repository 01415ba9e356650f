// runs-on: every-node
// `binnacle etcd` under writers and a watch is killed at random moments, ten times, by hand BINNACLE_CRASH_ROUNDS. What was answered
// is there, in order, once; the watch goes on across all of it, without a gap.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openEtcdStore } from '../src/kv/etcd/etcd.js';
import { KvError, type KeyValueStore, type KvEvent, type WriteResult } from '../src/kv/kv.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { directDialer } from '../src/outbound/dialer.js';
import { startEtcd } from './etcd-process.js';
import { ownEtcd } from './support/own-etcd.js';

const ROUNDS = Number(process.env['BINNACLE_CRASH_ROUNDS'] ?? 10);
const WRITERS = 16;

it('loses no answered write to kill -9, and no event', { timeout: 900_000 }, async () => {
  const etcd = await startEtcd(ownEtcd());
  const open = (): KeyValueStore => openEtcdStore({ dialer: directDialer, servers: [etcd.url] });
  const watching = open();
  const events = new Map<number, KvEvent>();
  let last = 1;
  let failure: KvError | undefined;
  await watching.revision();
  watching.watch(
    { prefix: '/', startRevision: 2, previous: true },
    {
      events: (batch) => {
        for (const event of batch) {
          assert.equal(event.revision, last + 1, 'revisions have no gap');
          last = event.revision;
          events.set(event.revision, event);
        }
      },
      progress: () => undefined,
      failed: (error) => (failure = error),
    },
  );
  const answered = new Map<number, string>();
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const kv = open();
      const writing = new Writing(kv, answered);
      const before = answered.size;
      await pollUntil(() => answered.size > before + 20);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 200));
      await etcd.kill();
      await writing.stop();
      await kv.close();
      await etcd.start();
    }
    const kv = open();
    const revision = await kv.revision();
    await pollUntil(() => last >= revision);
    assert.deepEqual([last, failure], [revision, undefined]);
    for (const [at, entry] of answered) {
      const event = events.get(at);
      assert.equal(event && `${event.key} ${event.value.toString()}`, entry, `revision ${at}`);
    }
    const state = new Map<string, string>();
    for (const event of events.values()) {
      assert.equal(event.previous?.value.toString(), state.get(event.key));
      if (event.type === 'put') state.set(event.key, event.value.toString());
      else state.delete(event.key);
    }
    const { kvs } = await kv.range({ start: '/', end: '0' });
    assert.deepEqual(new Map(kvs.map(({ key, value }) => [key, value.toString()])), state);
    await kv.close();
  } finally {
    await watching.close();
    await etcd.remove();
  }
});

class Writing {
  #isOver = false;
  readonly #writers: Promise<void>[];

  constructor(
    private readonly kv: KeyValueStore,
    private readonly answered: Map<number, string>,
  ) {
    this.#writers = Array.from({ length: WRITERS }, (_, writer) => this.#write(writer));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#writers);
  }

  async #write(writer: number): Promise<void> {
    const key = `/w${writer}`;
    for (let n = 0; !this.#isOver; n++) {
      try {
        const current = await this.kv.get(key);
        const value = `${writer}-${n}-${'x'.repeat(Math.floor(Math.random() * 3000))}`;
        const remove = current !== undefined && n % 7 === 6;
        const result = remove
          ? await this.kv.delete(key, current.modRevision)
          : await this.#put(key, current?.modRevision ?? 0, value);
        assert.ok(result.done, 'nobody else writes this key');
        assert.ok(!this.answered.has(result.revision), 'a revision is answered once');
        this.answered.set(result.revision, `${key} ${remove ? '' : value}`);
      } catch (error) {
        // The server is gone: whether it wrote is not known.
        if (!(error instanceof KvError)) throw error;
      }
    }
  }

  #put(key: string, modRevision: number, value: string): Promise<WriteResult> {
    const bytes = Buffer.from(value);
    return modRevision === 0 ? this.kv.create(key, bytes) : this.kv.update(key, modRevision, bytes);
  }
}
