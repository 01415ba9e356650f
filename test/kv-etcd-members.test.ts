// Three members of one etcd: one that dies or hangs is left, and what it had goes on with the others.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openEtcdStore } from '../src/kv/etcd/etcd.js';
import { collect } from '../src/kv/kv.contract.js';
import type { KeyValueStore } from '../src/kv/kv.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { directDialer } from '../src/outbound/dialer.js';
import { type EtcdProcess, etcdPrograms, startEtcdCluster } from './etcd-process.js';

const [newest] = etcdPrograms();
if (newest === undefined) it('etcd', { skip: 'no etcd program at hand' }, () => undefined);
else describe(`three members of ${newest.name}`, () => members(newest.program));

function members(program: string): void {
  let cluster: readonly EtcdProcess[];
  before(async () => {
    cluster = await startEtcdCluster(program, 3);
  });
  after(() => Promise.all(cluster.map((member) => member.remove())));

  const open = async (servers = cluster.map(({ url }) => url)): Promise<KeyValueStore> => {
    const kv = openEtcdStore({ dialer: directDialer, servers });
    await pollUntil(() =>
      kv.revision().then(
        () => true,
        () => false,
      ),
    );
    return kv;
  };
  const read = async (kv: KeyValueStore, reads: number): Promise<void> => {
    for (let i = 0; i < reads; i++) await kv.get('/members/x');
  };

  for (const which of [0, 1, 2]) {
    it(`serves reads and watches while member ${which} hangs`, { timeout: 120_000 }, async () => {
      const kv = await open();
      const folder = `/members/hang-${which}/`;
      const collected = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => collect(kv, { prefix: `${folder}${name}` }));
      const member = cluster[which] as EtcdProcess;
      const writer = await open(cluster.filter((other) => other !== member).map(({ url }) => url));
      member.pause();
      try {
        // A leader that hangs is replaced by an election, during which no member answers.
        await pollUntil(() =>
          writer.create(`${folder}up`, Buffer.from('1')).then(
            () => true,
            () => false,
          ),
        );
        await read(kv, 500);
        for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await writer.create(`${folder}${name}`, Buffer.from('1'));
        for (const events of collected) assert.equal((await events.take(1)).length, 1);
      } finally {
        member.resume();
      }
      await writer.close();
      await kv.close();
    });
  }

  it('serves reads when it starts while the first member hangs', { timeout: 120_000 }, async () => {
    const [first] = cluster as [EtcdProcess, ...EtcdProcess[]];
    first.pause();
    const kv = openEtcdStore({ dialer: directDialer, servers: cluster.map(({ url }) => url) });
    try {
      assert.equal(await kv.reached?.(10_000), true);
      await pollUntil(() =>
        kv.revision().then(
          () => true,
          () => false,
        ),
      );
      await read(kv, 100);
    } finally {
      first.resume();
      await kv.close();
    }
  });

  it('loses no acknowledged write and no event when members are killed under load', { timeout: 120_000 }, async () => {
    const kv = await open();
    const folder = '/members/kill/';
    const events = collect(kv, { prefix: folder });
    const written: string[] = [];
    let over = false;
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let i = 0; !over; i++) {
        const key = `${folder}${writer}-${i}`;
        // One that failed may have been written, too: only what was acknowledged is counted.
        const done = await kv.create(key, Buffer.from('1')).catch(() => undefined);
        if (done?.done === true) written.push(key);
      }
    });
    for (const member of cluster) {
      await member.kill();
      const count = written.length;
      await pollUntil(() => written.length > count + 100);
      await member.start();
      await pollUntil(() =>
        kv.revision().then(
          () => true,
          () => false,
        ),
      );
    }
    over = true;
    await Promise.all(writers);
    const seen = new Set<string>();
    while (!written.every((key) => seen.has(key))) {
      for (const { key } of await events.take(1)) {
        assert.ok(!seen.has(key), `${key} came twice`);
        seen.add(key);
      }
    }
    await kv.close();
  });
}
