// runs-on: every-node
// Backups of a store that another process has open, and of a running server.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import crypto from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { openBackup } from '../src/kv/backup-file.js';
import { openEmbeddedStore } from '../src/kv/embedded/embedded.js';
import { ManualClock } from '../src/lib/testing/manual-clock.js';
import { startTestServer } from './support/server.js';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();
const program = path.join(root, 'bin', 'binnacle');
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-backups-'));
after(() => fs.rmSync(work, { recursive: true, force: true }));

const binnacle = (...args: string[]): Promise<{ code: number; out: string; err: string }> =>
  new Promise((resolve) => {
    execFile(program, args, (error, out, err) => resolve({ code: Number(error?.code ?? 0), out, err }));
  });

async function valuesIn(file: string): Promise<Map<string, Buffer>> {
  const snapshot = await openBackup(fs.createReadStream(file), file);
  const values = new Map<string, Buffer>();
  for await (const page of snapshot.pages()) for (const { key, value } of page) values.set(key, value);
  return values;
}

describe('a backup beside the process that has the store open', { timeout: 120_000 }, () => {
  it('is of one commit, whatever is written meanwhile', async () => {
    const folder = path.join(work, 'busy');
    const kv = await openEmbeddedStore({ folder });
    const keys = Array.from({ length: 300 }, (_, i) => `/k/${String(i).padStart(3, '0')}`);
    let round = 0;
    let revisions = await Promise.all(keys.map((key) => kv.create(key, Buffer.alloc(2_000, `${round},`))));
    const writing = { isOver: false };
    const write = async (): Promise<void> => {
      while (!writing.isOver) {
        round++;
        // They are committed in this order.
        revisions = await Promise.all(
          keys.map((key, i) => kv.update(key, revisions[i]?.revision ?? 0, Buffer.alloc(2_000, `${round},`))),
        );
      }
    };
    const written = write();
    try {
      for (const name of ['1', '2', '3']) {
        const file = path.join(work, `busy.${name}`);
        const { code, err } = await binnacle('backup', file, `--data-dir=${folder}`);
        assert.equal(code, 0, err);
        const rounds = [...(await valuesIn(file)).values()].map((value) => Number.parseInt(value.toString(), 10));
        assert.equal(rounds.length, keys.length);
        // A commit ends at some key: those before it are of one round, the others of the round before.
        const [first = 0] = rounds;
        const before = rounds.findIndex((one) => one !== first);
        if (before >= 0) assert.deepEqual(new Set(rounds.slice(before)), new Set([first - 1]));
      }
    } finally {
      writing.isOver = true;
      await written;
      await kv.close();
    }
    assert.ok(round > 3, 'there were commits meanwhile');
  });

  it('keeps no pages in use when it was killed', async () => {
    const folder = path.join(work, 'killed');
    const clock = new ManualClock();
    const kv = await openEmbeddedStore({ folder, clock, historyMs: 1_000 });
    const value = (): Buffer => crypto.randomBytes(100_000);
    let revision = 0;
    for (let i = 0; i < 50; i++) revision = (await kv.create(`/k/${i}`, value())).revision;
    // Nobody reads what it writes, so it waits in the middle.
    const child: ChildProcess = spawn(program, ['backup', '-', `--data-dir=${folder}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    assert.ok(child.stdout !== null);
    await once(child.stdout, 'readable');
    const overwrite = async (times: number): Promise<void> => {
      for (let i = 0; i < times; i++) {
        revision = (await kv.update('/k/49', revision, value())).revision;
        await clock.move(6_000);
      }
    };
    await overwrite(40);
    const whileRead = await kv.sizeBytes();
    child.kill('SIGKILL');
    await once(child, 'exit');
    await overwrite(80);
    assert.ok((await kv.sizeBytes()) - whileRead < 1_000_000, `${await kv.sizeBytes()} bytes after ${whileRead}`);
    await kv.close();
  });
});

interface Stored {
  readonly metadata: { readonly uid: string; readonly resourceVersion: string };
}

describe('a backup of a running server', { timeout: 120_000 }, () => {
  it('restored, has the same objects under the same identities, for the same credentials', async (context) => {
    const server = await startTestServer();
    context.after(() => server.stop());
    const maps = '/api/v1/namespaces/default/configmaps';
    const create = await server.request('POST', maps, { metadata: { name: 'kept' }, data: { a: 'b' } });
    assert.equal(create.status, 201);
    const kept = JSON.parse(create.body) as Stored;
    const file = path.join(work, 'server.backup');
    const { code, out, err } = await binnacle('backup', file, `--data-dir=${server.folder}`);
    assert.deepEqual([code, err], [0, ''], err);
    const sha256 = crypto.createHash('sha256').update(fs.readFileSync(file)).digest('hex');
    assert.ok(out.includes(sha256), out);
    await server.request('POST', maps, { metadata: { name: 'later' } });
    assert.match((await binnacle('verify', file)).out, /\n {8}\d {2}\/registry\/configmaps\n[^]*sound\n$/);

    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-restored-'));
    fs.cpSync(path.join(server.folder, 'pki'), path.join(folder, 'pki'), { recursive: true });
    assert.equal((await binnacle('restore', file, `--data-dir=${folder}`)).code, 0);
    const restored = await startTestServer({ folder });
    context.after(() => restored.stop());
    const { body } = await restored.request('GET', `${maps}/kept`);
    assert.deepEqual(JSON.parse(body), kept);
    assert.equal((await restored.request('GET', `${maps}/later`)).status, 404);
    // What was seen after the backup is too old now, and not yet to come.
    const { metadata } = JSON.parse((await server.request('GET', maps)).body) as Stored;
    const list = await restored.request('GET', `${maps}?resourceVersion=${metadata.resourceVersion}`);
    assert.equal(list.status, 200);
    const ends = await restored.request(
      'GET',
      `${maps}?watch=1&resourceVersion=${metadata.resourceVersion}&timeoutSeconds=1`,
    );
    assert.match(ends.body, /"code":410|too old resource version/);
  });
});
