// runs-on: every-node
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http2 from 'node:http2';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openEtcdStore } from '../src/kv/etcd/etcd.js';
import { directDialer } from '../src/outbound/dialer.js';
import { collect, kvContract } from '../src/kv/kv.contract.js';
import { type KeyValueStore, prefixEnd } from '../src/kv/kv.js';
import { type EtcdProcess, etcdPrograms, startEtcd } from './etcd-process.js';
import { freePort } from './support/free-port.js';
import { ownEtcd } from './support/own-etcd.js';

const programs = etcdPrograms();
if (programs.length === 0) it('etcd', { skip: 'no etcd program at hand' }, () => undefined);

for (const { name, program } of [...programs, { name: 'binnacle etcd', program: ownEtcd() }]) {
  describe(name, () => {
    let etcd: EtcdProcess;
    before(async () => {
      etcd = await startEtcd(program);
    });
    after(() => etcd.remove());
    const open = async (servers = [etcd.url]): Promise<KeyValueStore> => {
      const kv = openEtcdStore({ dialer: directDialer, servers });
      await kv.revision();
      return kv;
    };

    kvContract(`${name} contract`, { open, close: (kv) => kv.close() });

    it('leaves a server that does not answer for one that does', async () => {
      const kv = await open([`http://127.0.0.1:${await freePort()}`, etcd.url]);
      assert.ok((await kv.revision()) > 0);
      await kv.health({ timeoutMs: 2000 });
      await kv.close();
    });

    it('reads ten thousand keys in one range', { timeout: 120_000 }, async () => {
      const kv = await open();
      const folder = `/many-${process.pid}/`;
      const value = Buffer.alloc(1024, 'v');
      const keyOf = (i: number): string => `${folder}${String(i).padStart(5, '0')}`;
      for (let i = 0; i < 10_000; i += 100) {
        await Promise.all(Array.from({ length: 100 }, (_, k) => kv.create(keyOf(i + k), value)));
      }
      const { kvs, count } = await kv.range({ start: folder, end: prefixEnd(folder) });
      assert.equal(count, 10_000);
      assert.ok(kvs.every((one, i) => one.key === keyOf(i) && one.value.equals(value)));
      await kv.close();
    });

    it('resumes a watch after a restart without a gap', { timeout: 30_000 }, async () => {
      const kv = await open();
      const folder = `/restart-${process.pid}/`;
      const events = collect(kv, { prefix: folder });
      await kv.create(`${folder}a`, Buffer.from('1'));
      assert.equal((await events.take(1))[0]?.key, `${folder}a`);
      await etcd.kill();
      await assert.rejects(kv.health({ timeoutMs: 500 }));
      await etcd.start();
      const other = await open();
      await other.create(`${folder}b`, Buffer.from('2'));
      await other.close();
      const [event] = await events.take(1);
      assert.equal(event?.key, `${folder}b`);
      await kv.close();
    });

    it('speaks TLS with certificates from files, and refuses a server it does not trust', async (context) => {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-etcd-tls-'));
      if (!makeCertificates(folder)) return context.skip('no openssl at hand');
      const file = (base: string): string => path.join(folder, base);
      const secure = await startEtcd(program, { ca: file('ca.crt'), cert: file('leaf.crt'), key: file('leaf.key') });
      try {
        const tls = { caFile: file('ca.crt'), certFile: file('leaf.crt'), keyFile: file('leaf.key') };
        const kv = openEtcdStore({ dialer: directDialer, servers: [secure.url], ...tls });
        assert.equal((await kv.create('/tls', Buffer.from('1'))).done, true);
        await kv.close();
        const stranger = openEtcdStore({
          dialer: directDialer,
          servers: [secure.url],
          certFile: tls.certFile,
          keyFile: tls.keyFile,
        });
        await assert.rejects(stranger.revision(), /certificate/);
        await stranger.close();
      } finally {
        await secure.remove();
        fs.rmSync(folder, { recursive: true, force: true });
      }
    });

    it('agrees with another server on who compacts', async () => {
      let now = 0;
      const timers: (() => void)[] = [];
      const clock = { now: () => now, after: (_ms: number, call: () => void) => (timers.push(call), () => undefined) };
      const one = openEtcdStore({ dialer: directDialer, servers: [etcd.url], compactionIntervalMs: 1000, clock });
      const two = openEtcdStore({ dialer: directDialer, servers: [etcd.url], compactionIntervalMs: 1000, clock });
      const made = await one.create(`/compact-${process.pid}/a`, Buffer.from('1'));
      for (let round = 0; round < 3; round++) {
        now += 1000;
        for (const call of timers.splice(0)) call();
        while (timers.length < 2) await new Promise((resolve) => setImmediate(resolve));
        await one.update(
          `/compact-${process.pid}/a`,
          (await one.get(`/compact-${process.pid}/a`))?.modRevision ?? 0,
          Buffer.from(String(round)),
        );
      }
      assert.ok(Math.max(one.compactedRevision(), two.compactedRevision()) >= made.revision);
      await assert.rejects(one.get('/x', { revision: made.revision - 1 }), /compacted/);
      await one.close();
      await two.close();
    });
  });
}

/** An authority and one certificate of it for 127.0.0.1, good for both ends. */
function makeCertificates(folder: string): boolean {
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  try {
    openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=ca', '-days', '2');
    openssl('req', ...key, '-keyout', 'leaf.key', '-out', 'leaf.csr', '-subj', '/CN=leaf');
    fs.writeFileSync(path.join(folder, 'san'), 'subjectAltName=IP:127.0.0.1\n');
    const sign = ['-req', '-in', 'leaf.csr', '-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2'];
    openssl('x509', ...sign, '-extfile', 'san', '-out', 'leaf.crt');
    return true;
  } catch {
    return false;
  }
}

describe('an etcd that is not there', () => {
  const reached = async (port: number, withinMs: number): Promise<boolean | undefined> => {
    const kv = openEtcdStore({ dialer: directDialer, servers: [`http://127.0.0.1:${port}`] });
    try {
      return await kv.reached?.(withinMs);
    } finally {
      await kv.close();
    }
  };

  it('is not reached', async () => assert.equal(await reached(await freePort(), 100), false));

  it('is waited for', async () => {
    const port = await freePort();
    const waiting = reached(port, 30_000);
    const server = http2.createServer();
    server.listen(port, '127.0.0.1');
    assert.equal(await waiting, true);
    server.close();
  });
});
