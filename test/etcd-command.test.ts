// `binnacle etcd` and etcdctl, by TCP, TLS and Unix sockets.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { randomBytes, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { openEtcdStore } from '../src/kv/etcd/etcd.js';
import { openEmbeddedStore } from '../src/kv/embedded/embedded.js';
import { directDialer } from '../src/outbound/dialer.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { createAuthority } from './support/certificates.js';
import { freePort } from './support/free-port.js';
import { ownEtcd } from './support/own-etcd.js';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-etcd-command-'));
const etcdctl = path.resolve(process.env['BINNACLE_ROOT'] ?? '.', '.cache', 'bin', 'etcdctl');
const skip = fs.existsSync(etcdctl) ? false : 'no etcdctl at hand';
const run = promisify(execFile);
after(() => fs.rmSync(root, { recursive: true, force: true }));

interface OwnEtcd {
  readonly urls: readonly string[];
  readonly folder: string;
  stop(): Promise<number | null>;
}

/** Fulfilled when it serves. */
async function start(name: string, flags: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<OwnEtcd> {
  const folder = path.join(root, name);
  const child: ChildProcess = spawn(ownEtcd(), ['--data-dir', folder, ...flags], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let log = '';
  const urls = await new Promise<string[]>((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      const found = /"urls":"([^"]+)"/.exec(log)?.[1];
      if (found !== undefined) resolve(found.split(','));
    });
    void ended.then(() => reject(new Error(log)));
  });
  return {
    urls,
    folder,
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

describe('etcdctl on binnacle etcd', { skip }, () => {
  let etcd: OwnEtcd;
  const ctl = async (...args: string[]): Promise<string> =>
    (await run(etcdctl, ['--endpoints', etcd.urls[0] ?? '', ...args], { env: { ...process.env, ETCDCTL_API: '3' } }))
      .stdout;
  const lines = async (...args: string[]): Promise<string> =>
    (await ctl(...args))
      .split('\n')
      .filter((line) => line !== '')
      .join(' ');

  before(async () => {
    etcd = await start('ctl', ['--listen-client-urls', 'http://127.0.0.1:0']);
  });
  after(async () => assert.equal(await etcd.stop(), 0));

  it('puts, gets and deletes', async () => {
    assert.equal(await lines('put', 'a/1', 'one'), 'OK');
    assert.equal(await lines('put', 'a/2', 'two'), 'OK');
    assert.equal(await lines('put', 'a/1', 'uno', '--prev-kv'), 'OK a/1 one');
    assert.equal(await lines('get', '--prefix', 'a/'), 'a/1 uno a/2 two');
    assert.equal(await lines('get', 'a/1', '--rev=2'), 'a/1 one');
    assert.equal(await lines('get', '--prefix', 'a/', '--keys-only', '--order=DESCEND', '--sort-by=KEY'), 'a/2 a/1');
    assert.match(await lines('get', '--prefix', '', '--count-only', '-w', 'fields'), /"Count" : 2/);
    assert.equal(await lines('del', 'a/2', '--prev-kv'), '1 a/2 two');
  });

  it('does transactions', async () => {
    const txn = (text: string, ...flags: string[]): string =>
      execFileSync(etcdctl, ['--endpoints', etcd.urls[0] ?? '', 'txn', ...flags], { input: text, encoding: 'utf8' });
    const request = 'value("a/1") = "uno"\n\nput t/1 x\nput t/2 y\nget a/1\n\nget none\n\n';
    assert.deepEqual(txn(request).split('\n').filter(Boolean), ['SUCCESS', 'OK', 'OK', 'a/1', 'uno']);
    assert.match(txn('mod("a/1") = "1"\n\nput t/3 x\n\nget t/1\n\n'), /^FAILURE\n\nt\/1\nx\n/);
    assert.match(txn('create("t/1") > "0"\n\ndel t/1\n\n\n', '--interactive'), /SUCCESS\n\n1\n/);
  });

  it('locks, and takes part in elections', async () => {
    assert.equal(await lines('lock', 'one', 'echo', 'held'), 'held');
    const child = spawn(etcdctl, ['--endpoints', etcd.urls[0] ?? '', 'elect', 'two', 'me']);
    const [first] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
    assert.match(first, /^two\/\w+\n/);
    child.kill('SIGTERM');
    await once(child, 'exit');
  });

  it('watches from a past revision', async () => {
    const child = spawn(etcdctl, [
      '--endpoints',
      etcd.urls[0] ?? '',
      'watch',
      '--prefix',
      'a/',
      '--rev=2',
      '--prev-kv',
    ]);
    const wanted = 'PUT a/1 one PUT a/2 two PUT a/1 one a/1 uno DELETE a/2 two a/2 PUT a/1 uno a/1 now';
    let text = '';
    const seen = new Promise<void>((resolve) => {
      child.stdout.setEncoding('utf8').on('data', (more: string) => {
        text += more;
        if (text.split(/\s+/).join(' ').trim() === wanted) resolve();
      });
    });
    await ctl('put', 'a/1', 'now');
    await seen;
    child.kill();
  });

  it('grants, keeps and revokes leases', async () => {
    const id = /^lease (\w+) granted with TTL\(100s\)/.exec(await ctl('lease', 'grant', '100'))?.[1] ?? '';
    await ctl('put', '--lease', id, 'leased', 'v');
    assert.match(
      await ctl('lease', 'timetolive', id, '--keys'),
      /granted with TTL\(100s\).*attached keys\(\[leased\]\)/,
    );
    assert.match(await ctl('lease', 'keep-alive', '--once', id), /keepalived with TTL\(100\)/);
    assert.match(await ctl('lease', 'list'), new RegExp(id));
    assert.match(await ctl('lease', 'revoke', id), /revoked/);
    assert.equal(await ctl('get', 'leased'), '');
  });

  it('compacts', async () => {
    assert.match(await ctl('compaction', '4'), /compacted revision 4/);
    await assert.rejects(ctl('get', 'a/1', '--rev=2'), /required revision has been compacted/);
    await assert.rejects(ctl('compaction', '4'), /required revision has been compacted/);
    await assert.rejects(ctl('compaction', '4000'), /required revision is a future revision/);
  });

  it('asks for health, status, hashes, members and alarms', async () => {
    assert.match(await ctl('endpoint', 'health', '-w', 'json'), /"health":true/);
    const [status] = JSON.parse(await ctl('endpoint', 'status', '-w', 'json')) as { Status: { version: string } }[];
    assert.equal(status?.Status.version, '3.5.16');
    assert.match(await ctl('endpoint', 'hashkv'), /, \d+/);
    assert.match(await ctl('member', 'list'), /started, default, , http:\/\/127\.0\.0\.1/);
    assert.equal(await ctl('alarm', 'list'), '');
    assert.match(await ctl('defrag'), /Finished/);
  });

  it('refuses what wants Raft or users, and says why', async () => {
    await assert.rejects(ctl('member', 'add', 'x', '--peer-urls=http://192.0.2.1:1'), /there is no Raft/);
    await assert.rejects(ctl('member', 'promote', '1'), /there is no Raft/);
    await assert.rejects(ctl('move-leader', '8e9e05c52164694d'), /bad leader transferee/);
    for (const [first = '', ...more] of [
      ['auth', 'enable'],
      ['user', 'list'],
      ['user', 'add', 'a:b'],
      ['role', 'list'],
    ]) {
      await assert.rejects(ctl(first, ...more), /it has no users and no roles/);
    }
    assert.match(await ctl('auth', 'status'), /Authentication Status: false/);
  });

  it('saves a snapshot that is a store again', async () => {
    const file = path.join(root, 'snapshot');
    await ctl('snapshot', 'save', file);
    // It is no file of etcd's, and etcd's tools say so.
    await assert.rejects(ctl('snapshot', 'status', file), /invalid database/);
    const folder = path.join(root, 'from-snapshot');
    fs.mkdirSync(folder, { mode: 0o700 });
    fs.writeFileSync(path.join(folder, 'store.mdb'), fs.readFileSync(file).subarray(0, -32), { mode: 0o600 });
    fs.writeFileSync(path.join(folder, 'FORMAT'), 'binnacle-store 4\n');
    const store = await openEmbeddedStore({ folder });
    assert.equal((await store.get('a/1'))?.value.toString(), 'now');
    await store.close();
  });

  it('answers HTTP on the same port', async () => {
    const answer = async (at: string): Promise<string> => (await fetch(`${etcd.urls[0]}${at}`)).text();
    assert.equal(await answer('/health'), '{"health":"true","reason":""}');
    assert.equal(await answer('/version'), '{"etcdserver":"3.5.16","etcdcluster":"3.5.0"}');
    assert.match(await answer('/metrics'), /\netcd_server_has_leader 1\n/);
    assert.equal((await fetch(`${etcd.urls[0]}/nothing`)).status, 404);
  });
});

describe('etcdctl on a store whose quota is used up', { skip }, () => {
  it('deletes, compacts, defragments, disarms the alarm and writes again', async (t) => {
    const etcd = await start('quota', [
      '--listen-client-urls',
      'http://127.0.0.1:0',
      `--quota-backend-bytes=${2 ** 20}`,
    ]);
    t.after(() => etcd.stop());
    const ctl = async (...args: string[]): Promise<string> =>
      (await run(etcdctl, ['--endpoints', etcd.urls[0] ?? '', ...args])).stdout;
    const kv = openEtcdStore({ dialer: directDialer, servers: etcd.urls });
    t.after(() => kv.close());
    const noise = (): Buffer => randomBytes(100_000);
    await assert.rejects(async () => {
      for (let n = 0; ; n++) await kv.create(`/n/${n}`, noise());
    }, /database space exceeded/);
    assert.match(await ctl('alarm', 'list'), /^memberID:\d+ alarm:NOSPACE/);
    await assert.rejects(ctl('put', 'a', '1'), /database space exceeded/);
    assert.match(await ctl('del', '--prefix', '/n/'), /^\d+\n/);
    await ctl('compaction', String(await kv.revision()));
    await ctl('defrag');
    assert.match(await ctl('alarm', 'disarm'), /NOSPACE/);
    assert.equal(await ctl('alarm', 'list'), '');
    assert.equal(await ctl('put', 'a', '1'), 'OK\n');
  });
});

describe('binnacle etcd', () => {
  it('wants certificates of clients where it is to', async () => {
    const authority = createAuthority(root, 'etcd-ca');
    const server = authority.issue('server', 'server', { ipAddresses: ['127.0.0.1'] });
    const client = authority.issue('client', 'client');
    const etcd = await start('tls', [
      '--listen-client-urls=https://127.0.0.1:0',
      '--listen-metrics-urls=http://127.0.0.1:0',
      `--cert-file=${server.cert}`,
      `--key-file=${server.key}`,
      `--trusted-ca-file=${authority.ca}`,
      '--client-cert-auth',
    ]);
    const open = (more: object): ReturnType<typeof openEtcdStore> =>
      openEtcdStore({ dialer: directDialer, servers: etcd.urls, caFile: authority.ca, ...more });
    const known = open({ certFile: client.cert, keyFile: client.key });
    assert.equal((await known.create('/a', Buffer.from('1'))).done, true);
    const stranger = open({});
    await assert.rejects(stranger.revision());
    await Promise.all([known.close(), stranger.close()]);
    await etcd.stop();
  });

  it('serves with a certificate that was renewed, without a restart', async () => {
    const authority = createAuthority(root, 'renewing-ca');
    const [old, renewed] = ['old', 'renewed'].map((name) =>
      authority.issue(name, 'server', { ipAddresses: ['127.0.0.1'] }),
    );
    const files = { cert: path.join(root, 'serving.crt'), key: path.join(root, 'serving.key') };
    const put = (pair: typeof old): void => {
      for (const kind of ['cert', 'key'] as const) {
        fs.copyFileSync(pair?.[kind] ?? '', `${files[kind]}.new`);
        fs.renameSync(`${files[kind]}.new`, files[kind]);
      }
    };
    put(old);
    const etcd = await start('renewed', [
      '--listen-client-urls=https://127.0.0.1:0',
      `--cert-file=${files.cert}`,
      `--key-file=${files.key}`,
    ]);
    const port = Number(new URL(etcd.urls[0] ?? '').port);
    const serial = (): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
          resolve(socket.getPeerCertificate().serialNumber);
          socket.destroy();
        });
        socket.on('error', reject);
      });
    const serialOf = (pair: typeof old): string => new X509Certificate(fs.readFileSync(pair?.cert ?? '')).serialNumber;
    assert.equal(await serial(), serialOf(old));
    put(renewed);
    await pollUntil(async () => (await serial()) === serialOf(renewed));
    await etcd.stop();
  });

  it('starts as envtest starts an etcd', async () => {
    const help = await run(ownEtcd(), ['--help']);
    assert.match(help.stdout + help.stderr, /^\s*--unsafe-no-fsync\b/m);
    const [client, peer] = [await freePort(), await freePort()].map((port) => `http://127.0.0.1:${port}`);
    const etcd = await start('envtest', [
      `--advertise-client-urls=${client}`,
      `--listen-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      '--unsafe-no-fsync=true',
    ]);
    assert.equal((await fetch(`${client}/health`)).status, 200);
    assert.equal(await etcd.stop(), 0);
  });

  it('serves on a Unix socket that is its owner’s alone, and takes flags from the environment', async () => {
    const socket = path.join(root, 'etcd.sock');
    const etcd = await start('unix', ['-name', 'one'], { ETCD_LISTEN_CLIENT_URLS: `unix://${socket}` });
    assert.equal(fs.statSync(socket).mode & 0o777, 0o600);
    const kv = openEtcdStore({ dialer: directDialer, servers: [`unix://${socket}`] });
    assert.equal((await kv.create('/a', Buffer.from('1'))).done, true);
    await kv.close();
    assert.equal(await etcd.stop(), 0);
  });

  it('refuses what it does not know', async () => {
    const refused = async (...flags: string[]): Promise<string> => {
      const error = (await run(ownEtcd(), flags).catch((failure: unknown) => failure)) as { stderr: string };
      return error.stderr;
    };
    assert.match(await refused('--data-dri=x'), /unknown flag: --data-dri\nDid you mean --data-dir\?/);
    assert.match(await refused('--listen-client-urls=ftp://127.0.0.1:1'), /URLs begin with http, https, unix or unixs/);
    assert.match(await refused('--listen-client-urls=https://127.0.0.1:1'), /--cert-file, --key-file/);
    assert.match(await refused('--listen-client-urls=http://example.test:1'), /expected IP in URL for binding/);
    assert.match(await refused('--auto-compaction-mode=never'), /periodic or revision/);
  });
});
