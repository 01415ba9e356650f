// What is changed while a server with two worker processes runs is in effect in both, and in those that replace them.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import type { ClientHttp2Session } from 'node:http2';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { startTestServer, type TestServer } from './support/server.js';
import { connectToBoth, workerPids } from './support/worker-processes.js';

const SECRETS = '/api/v1/namespaces/default/secrets';

describe('changes while two workers serve', { timeout: 120_000 }, () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-reload-'));
  const sessions: ClientHttp2Session[] = [];
  let server: TestServer;

  const write = (name: string, text: string): string => {
    const file = path.join(folder, name);
    fs.writeFileSync(`${file}.next`, text);
    fs.renameSync(`${file}.next`, file);
    return file;
  };
  const authorizers = (...types: readonly string[]): string => {
    const rows = types.map((type) => `- {type: ${type}, name: ${type.toLowerCase()}}\n`).join('');
    const header = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n';
    return write('authorization.yaml', header + rows);
  };
  const encryption = (secret: string): string => {
    const key = Buffer.from(secret.padEnd(32)).toString('base64');
    return write(
      'encryption.yaml',
      `apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [secrets]\n  providers:\n  - aescbc: {keys: [{name: ${secret}, secret: ${key}}]}\n  - identity: {}\n`,
    );
  };
  before(async () => {
    server = await startTestServer({
      flags: [
        '--workers=2',
        `--token-auth-file=${write('tokens.csv', 'reading,reader,r\n')}`,
        `--authorization-config=${authorizers('RBAC')}`,
        `--encryption-provider-config=${encryption('one')}`,
        '--encryption-provider-config-automatic-reload=true',
      ],
      authorizationModes: [],
    });
    await pollUntil(() => server.log().includes('All worker processes have started'));
  });
  after(async () => {
    for (const session of sessions) session.destroy();
    await server?.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  const both = async (): Promise<readonly [ClientHttp2Session, ClientHttp2Session]> => {
    await pollUntil(() => workerPids(server.pid).length === 2);
    const opened = await connectToBoth(server);
    sessions.push(...opened);
    return opened;
  };
  const get = (session: ClientHttp2Session, at: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const stream = session.request({ ':path': at, authorization: 'Bearer reading' });
      stream.on('response', (headers) => resolve(Number(headers[':status'])));
      stream.on('error', reject);
      stream.resume();
    });

  it('an authorization configuration is in effect in both', async () => {
    const workers = await both();
    for (const worker of workers) assert.equal(await get(worker, SECRETS), 403);
    authorizers('RBAC', 'AlwaysAllow');
    for (const worker of workers) await pollUntil(async () => (await get(worker, SECRETS)) === 200);
    authorizers('RBAC');
    for (const worker of workers) await pollUntil(async () => (await get(worker, SECRETS)) === 403);
  });

  it('an encryption configuration is in effect in both', async () => {
    const hashes = async (): Promise<readonly string[]> => {
      const { body } = await server.request('GET', '/metrics');
      const info = /^apiserver_encryption_config_controller_last_config_info\{.*[{,]hash="([^"]+)".*\} 1$/gm;
      return Array.from(body.matchAll(info), ([, hash = '']) => hash);
    };
    const [old] = await hashes();
    encryption('two');
    // While one of them has the old file there are two.
    await pollUntil(async () => {
      const shown = await hashes();
      return shown.length === 1 && shown[0] !== old;
    });
    const { body } = await server.request('GET', '/metrics');
    assert.match(body, /^apiserver_encryption_config_controller_automatic_reloads_total\{.*status="success".*\} 1$/m);
  });

  it('serving certificates are in effect in both', async () => {
    const file = path.join(server.folder, 'pki', 'apiserver.crt');
    const served = async (): Promise<readonly string[]> =>
      (await both()).map((session) => (session.socket as TLSSocket).getPeerX509Certificate()?.fingerprint256 ?? '');
    const old = new X509Certificate(fs.readFileSync(file)).fingerprint256;
    assert.deepEqual(await served(), [old, old]);
    const replace = (end: 'crt' | 'key', content: Buffer): void => {
      const next = path.join(server.folder, 'pki', `next.${end}`);
      fs.writeFileSync(next, content);
      fs.renameSync(next, path.join(server.folder, 'pki', `apiserver.${end}`));
    };
    const pki = (name: string): Buffer => fs.readFileSync(path.join(server.folder, 'pki', name));
    const kept = [pki('apiserver.crt'), pki('apiserver.key')] as const;
    // The administrator's certificate is as good as any other pair of files, until clients look at what it is for.
    for (const [crt, key] of [[pki('admin.crt'), pki('admin.key')] as const, kept]) {
      replace('crt', crt);
      replace('key', key);
      const wanted = new X509Certificate(crt).fingerprint256;
      await pollUntil(async () => (await served()).every((fingerprint) => fingerprint === wanted));
    }
  });

  it('the verbosity of the log is set in both, and in one that is started later', async () => {
    const logged = (pid: number): boolean => new RegExp(` ${pid} http-log.ts\\] "HTTP" verb="GET"`).test(server.log());
    assert.ok(!workerPids(server.pid).some(logged));
    const answer = await server.send('PUT', '/debug/flags/v', '3', { 'content-type': 'text/plain' });
    assert.deepEqual([answer.status, answer.body], [200, 'successfully set klog.logging.verbosity to 3\n']);
    for (const worker of await both()) await get(worker, '/version');
    await pollUntil(() => workerPids(server.pid).every(logged));
    const victim = workerPids(server.pid)[1] ?? 0;
    process.kill(victim, 'SIGKILL');
    await pollUntil(() => workerPids(server.pid).length === 2 && !workerPids(server.pid).includes(victim));
    await pollUntil(async () => {
      for (const worker of await both()) await get(worker, '/version').catch(() => undefined);
      return workerPids(server.pid).every(logged);
    });
    assert.equal((await server.send('PUT', '/debug/flags/v', '0', { 'content-type': 'text/plain' })).status, 200);
  });

  it('profiles are of the worker that is named', async () => {
    for (const index of [0, 1]) {
      const { body } = await server.request('GET', `/debug/pprof/goroutine?worker=${index}`);
      assert.match(body, new RegExp(`worker process ${index} of 2, pid ${workerPids(server.pid)[index]}\n$`));
      const profile = await server.request('GET', `/debug/pprof/profile?seconds=0.1&worker=${index}`);
      assert.match(String(profile.headers['content-disposition']), new RegExp(`profile-worker-${index}"`));
    }
    assert.equal((await server.request('GET', '/debug/pprof/goroutine?worker=2')).status, 404);
  });

  it('a worker that cannot be replaced, for a file that is invalid, does not end the server', async () => {
    authorizers('Nobody');
    const victim = workerPids(server.pid)[1] ?? 0;
    process.kill(victim, 'SIGKILL');
    await pollUntil(() => server.log().includes('A worker process could not start and is started again later'));
    assert.equal((await server.request('GET', SECRETS)).status, 200);
    assert.equal((await server.request('GET', '/readyz')).status, 200);
    authorizers('RBAC');
    for (const worker of await both()) assert.equal(await get(worker, SECRETS), 403);
  });
});
