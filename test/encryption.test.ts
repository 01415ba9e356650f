// runs-on: every-node
// Keys of encryption at rest, rotated on a running server that is killed in the middle, on both stores.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type EtcdProcess, etcdPrograms, startEtcd } from './etcd-process.js';
import { startTestServer, type TestServer } from './support/server.js';

const SECRETS = 60;
const SECRETS_PATH = '/api/v1/namespaces/default/secrets';
const WORD = 'swordfish-in-the-cellar';
const root = process.env['BINNACLE_ROOT'] ?? process.cwd();
const [etcdProgram] = etcdPrograms();
const noEtcd = etcdProgram === undefined && 'there is no etcd: run `node tools/fetch-test-binaries.mjs`';

const key = (name: string) => ({ name, secret: Buffer.alloc(32, name).toString('base64') });
const configuration = (...providers: unknown[]): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers }],
  });
const gcm = (...names: string[]) => ({ aesgcm: { keys: names.map(key) } });

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function command(server: TestServer, ...words: string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const args = ['encryption', ...words, `--kubeconfig=${server.kubeconfig}`];
    execFile(path.join(root, 'bin', 'binnacle'), args, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

/** Every file below the folder, as it lies on the disk. */
const bytesOf = (folder: string): Buffer[] =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => fs.readFileSync(path.join(entry.parentPath ?? entry.path, entry.name)));

const kubeconfigOf = (server: TestServer): string =>
  JSON.stringify({
    clusters: [{ name: 'c', cluster: { server: server.url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token: 'admin-token' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });

for (const store of ['embedded', 'etcd'] as const) {
  const skip = store === 'etcd' && noEtcd;
  describe(`encryption at rest, ${store} store`, { skip, timeout: 120_000 }, () => {
    let etcd: EtcdProcess | undefined;
    let server: TestServer | undefined;
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-encryption-'));
    const tokenKey = path.join(folder, 'service-accounts.key');
    before(async () => {
      if (store === 'etcd') etcd = await startEtcd(etcdProgram?.program ?? '');
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      fs.writeFileSync(tokenKey, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    });
    after(async () => {
      await server?.stop();
      await etcd?.remove();
      fs.rmSync(folder, { recursive: true });
    });
    const start = async (text: string, data?: string): Promise<TestServer> => {
      const file = path.join(folder, 'encryption.json');
      fs.writeFileSync(file, text);
      const flags = [`--encryption-provider-config=${file}`];
      if (etcd !== undefined) {
        flags.push(
          `--etcd-servers=${etcd.url}`,
          `--service-account-key-file=${tokenKey}`,
          `--service-account-signing-key-file=${tokenKey}`,
          '--service-account-issuer=https://kubernetes.default.svc',
        );
      }
      const again = data === undefined ? {} : { folder: data };
      const started = await startTestServer({ flags, adminToken: 'admin-token', ...again });
      fs.writeFileSync(started.kubeconfig, kubeconfigOf(started));
      return (server = started);
    };

    it('rotates a key, with a crash in the middle, until it may be removed', async () => {
      let running = await start(configuration(gcm('one')));
      const words = async (): Promise<Set<string>> => {
        const { status, body } = await running.request('GET', SECRETS_PATH);
        assert.equal(status, 200, body);
        const { items } = JSON.parse(body) as { items: { data: { word: string } }[] };
        assert.equal(items.length, SECRETS);
        return new Set(items.map(({ data }) => Buffer.from(data.word, 'base64').toString()));
      };
      const data = running.folder;
      for (let i = 0; i < SECRETS; i++) {
        const secret = { metadata: { name: `s${i}` }, stringData: { word: WORD } };
        assert.equal((await running.request('POST', SECRETS_PATH, secret)).status, 201);
      }
      assert.equal((await running.request('DELETE', `${SECRETS_PATH}/s0`)).status, 200);
      assert.equal(
        (await running.request('POST', SECRETS_PATH, { metadata: { name: 's0' }, stringData: { word: WORD } })).status,
        201,
      );
      await running.kill();
      if (etcd === undefined) {
        const encoded = Buffer.from(WORD).toString('base64');
        const files = bytesOf(data);
        assert.ok(files.some((bytes) => bytes.includes('k8s:enc:aesgcm:v1:one:')));
        for (const bytes of files) assert.ok(!bytes.includes(WORD) && !bytes.includes(encoded));
      }

      running = await start(configuration(gcm('two', 'one')), data);
      const atFirst = await command(running, 'status');
      assert.equal(atFirst.err, '');
      assert.match(atFirst.out, /^secrets\n +0 {2}aesgcm:v1:two {2}writes\n +60 {2}aesgcm:v1:one\n$/);
      const no = await command(running, 'may-remove', 'aesgcm:v1:one');
      assert.equal(no.code, 1);
      assert.match(no.out, /^no: 60 objects are encrypted with it\n {2}\/registry\/secrets\/default\/s0\n/);

      await running.request('POST', '/debug/encryption/rewrite?objectsPerSecond=50');
      const some = async (): Promise<number> =>
        (JSON.parse((await running.request('GET', '/debug/encryption/rewrite')).body) as { rewritten: number })
          .rewritten;
      while ((await some()) < 5);
      await running.kill();

      running = await start(configuration(gcm('two', 'one')), data);
      const middle = await command(running, 'status');
      const [, moved, left] =
        /^secrets\n +(\d+) {2}aesgcm:v1:two {2}writes\n +(\d+) {2}aesgcm:v1:one\n$/.exec(middle.out) ?? [];
      assert.ok(Number(moved) >= 5 && Number(left) > 0 && Number(moved) + Number(left) === SECRETS, middle.out);
      const done = await command(running, 'rewrite', '--rate=2000');
      assert.deepEqual([done.code, done.err], [0, '']);
      assert.match(done.out, new RegExp(`\\ndone: ${left} of 60 rewritten, 0 failed\\n$`));
      const yes = await command(running, 'may-remove', 'aesgcm:v1:one');
      assert.deepEqual([yes.code, yes.out], [0, 'yes: no stored object is encrypted with it\n']);
      assert.equal((await command(running, 'may-remove', 'aesgcm:v1:two')).code, 1);
      await running.kill();

      running = await start(configuration(gcm('two')), data);
      assert.deepEqual(await words(), new Set([WORD]));
    });
  });
}
