// Two servers on one etcd: what one writes, the other reads, at once with a quorum read.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openEtcdStore } from '../src/kv/etcd/etcd.js';
import { directDialer } from '../src/outbound/dialer.js';
import type { KeyValueStore } from '../src/kv/kv.js';
import type { KubeObject } from '../src/machinery/object.js';
import { createResourceStore } from '../src/storage/create-store.js';
import type { ListRequest, ManagedResourceStore } from '../src/storage/store.js';
import { type EtcdProcess, etcdPrograms, startEtcd } from './etcd-process.js';

const newest: ListRequest = { namespace: '', resourceVersion: '', resourceVersionMatch: '', limit: 0, continue: '' };
const pod = (name: string, note = ''): KubeObject =>
  ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace: 'n', uid: name, creationTimestamp: 't' },
    note,
  }) as KubeObject;

const WRITES_OF_EACH = Number(process.env['BINNACLE_SHARED_WRITES'] ?? 40);

for (const { name, program } of etcdPrograms()) {
  describe(`two servers on ${name}`, () => {
    let etcd: EtcdProcess;
    const opened: { kv: KeyValueStore; store: ManagedResourceStore }[] = [];
    before(async () => {
      etcd = await startEtcd(program);
    });
    after(async () => {
      for (const { kv, store } of opened) {
        store.close();
        await kv.close();
      }
      await etcd.remove();
    });
    const open = (cache = true): ManagedResourceStore => {
      const kv = openEtcdStore({ dialer: directDialer, servers: [etcd.url] });
      const encode = (object: KubeObject): Buffer => Buffer.from(JSON.stringify(object));
      const decode = (bytes: Buffer): KubeObject => JSON.parse(bytes.toString()) as KubeObject;
      const store = createResourceStore({
        kv,
        cache,
        options: {
          resource: { group: '', resource: 'pods' },
          prefix: '/registry/pods/',
          namespaced: true,
          codec: { encodeJson: encode, decodeJson: decode, encodeStorage: encode, decodeStorage: decode },
          fieldsOf: () => ({}),
        },
      });
      opened.push({ kv, store });
      return store;
    };

    it('read and watch each other’s writes', { timeout: 20_000 }, async () => {
      const [one, two, uncached] = [open(), open(), open(false)];
      assert.deepEqual((await two.list(newest)).items, []);
      const seen: string[] = [];
      let notify = (): void => undefined;
      const { signal } = new AbortController();
      await two.watch(
        { namespace: 'n', resourceVersion: '', resourceVersionMatch: '', allowBookmarks: false, signal },
        (events) => {
          for (const event of events) if (event.type !== 'BOOKMARK') seen.push(`${event.type} ${event.object.key}`);
          notify();
          return true;
        },
      );
      for (let i = 0; i < 20; i++) {
        const made = await one.create(`n/p${i}`, pod(`p${i}`));
        const list = await two.list(newest);
        assert.equal(list.items.length, i + 1, 'a list of the newest shows what was answered before');
        assert.ok(list.revision >= made.revision);
        assert.deepEqual((await uncached.get(`n/p${i}`, ''))?.json, made.json);
        assert.deepEqual((await two.get(`n/p${i}`, String(made.revision)))?.json, made.json);
      }
      const current = await two.get('n/p0', '');
      await two.update('n/p0', current?.revision ?? 0, pod('p0', 'changed'));
      await assert.rejects(one.update('n/p0', current?.revision ?? 0, pod('p0', 'late')), /is at revision/);
      await one.delete('n/p1', (await one.get('n/p1', ''))?.revision ?? 0);
      while (seen.length < 22) await new Promise<void>((resolve) => (notify = resolve));
      assert.deepEqual(seen.slice(20), ['MODIFIED n/p0', 'DELETED n/p1']);
      // The count is the cache's, which knows of the deletion once a list of the newest has been answered.
      assert.equal((await one.list(newest)).items.length, 19);
      assert.equal(await one.count(), 19);
      const page = await two.list({ ...newest, limit: 5 });
      const rest = await one.list({ ...newest, continue: page.continue });
      assert.deepEqual([page.items.length, page.remainingItemCount, rest.items.length], [5, 14, 14]);
    });

    it('never read anything older than what either had answered before', { timeout: 180_000 }, async () => {
      const servers = [open(), open()];
      /** Of each key the revision that its last write was answered with. */
      const answered = new Map<string, number>();
      const check = async (store: ManagedResourceStore, key: string, byList: boolean): Promise<void> => {
        const known = answered.get(key) ?? 0;
        const found = byList
          ? (await store.list(newest)).items.find((item) => item.key === key)
          : await store.get(key, '');
        assert.ok((found?.revision ?? 0) >= known, `${key}: read ${found?.revision}, answered ${known}`);
      };
      const write = async (store: ManagedResourceStore, podName: string): Promise<void> => {
        const key = `n/${podName}`;
        let { revision } = await store.create(key, pod(name));
        for (let i = 0; i < WRITES_OF_EACH; i++) {
          ({ revision } = await store.update(key, revision, pod(podName, String(i))));
          answered.set(key, revision);
          // What the other has under way at this moment may have been carried out before.
          await Promise.all(servers.map((other) => check(other, key, i % 16 === 15)));
        }
      };
      const podNames = Array.from({ length: 8 }, (_, i) => `shared-${i}`);
      await Promise.all(servers.flatMap((store, i) => podNames.map((podName) => write(store, `${podName}-${i}`))));
    });
  });
}
