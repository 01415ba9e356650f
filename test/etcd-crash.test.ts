// runs-on: every-node
// `binnacle etcd` under writers and a watch is killed at random moments, ten times, by hand BINNACLE_CRASH_ROUNDS. The watch goes on
// across all of it, without a gap.
import { it } from 'node:test';
import { openEtcdStore } from '../src/kv/etcd/etcd.js';
import { KvError, type KeyValueStore } from '../src/kv/kv.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { directDialer } from '../src/outbound/dialer.js';
import { startEtcd } from './etcd-process.js';
import { Answers, SeenEvents, writeHard } from './support/crash-writers.js';
import { ownEtcd } from './support/own-etcd.js';
import { testRandom } from './support/test-random.js';

const ROUNDS = Number(process.env['BINNACLE_CRASH_ROUNDS'] ?? 10);

it('loses no answered write to kill -9, and no event', { timeout: 900_000 }, async () => {
  const etcd = await startEtcd(ownEtcd());
  const open = (): KeyValueStore => openEtcdStore({ dialer: directDialer, servers: [etcd.url] });
  const watching = open();
  const seen = new SeenEvents();
  const answers = new Answers();
  const random = testRandom();
  await watching.revision();
  watching.watch({ prefix: '/', startRevision: 2, previous: true }, seen);
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const kv = open();
      let isOver = false;
      const writing = writeHard(kv, {
        run: String(round),
        answered: (revision, entry) => answers.add(revision, entry),
        mayFail: (error) => error instanceof KvError,
        isOver: () => isOver,
      });
      const enough = answers.size + random.between(20, 200);
      await pollUntil(() => answers.size >= enough);
      await etcd.kill();
      isOver = true;
      await writing;
      await kv.close();
      await etcd.start();
    }
    const kv = open();
    const revision = await kv.revision();
    await pollUntil(() => seen.last >= revision);
    await seen.check(kv, answers);
    await kv.close();
  } finally {
    await watching.close();
    await etcd.remove();
  }
});
