// runs-on: every-node
// What happens to the disk must not cost what was answered: it gets full, the process is killed, the file is damaged.
// By hand, for longer:
//
//   BINNACLE_KILL_ROUNDS=30 node tools/test.mjs test/attack/storage.test.ts
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { pollUntil } from '../../src/lib/testing/poll-until.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { testRandom } from '../support/test-random.js';

const ROUNDS = Number(process.env['BINNACLE_KILL_ROUNDS'] ?? 2);
const DISK_BYTES = 24 * 1024 * 1024;
const WRITERS = 8;
const FULL_ROUNDS = 6;
const MAPS = '/api/v1/namespaces/default/configmaps';
const map = (name: string, bytes: number) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { x: 'x'.repeat(bytes) },
});

async function namesIn(server: TestServer): Promise<Set<string>> {
  const { body } = await server.request('GET', MAPS);
  const { items } = JSON.parse(body) as { items: { metadata: { name: string } }[] };
  return new Set(items.map(({ metadata }) => metadata.name));
}

/** A file system of its own, which fills soon, with a folder for data. */
async function onSmallDisk(t: TestContext, run: (disk: string, folder: string) => Promise<void>): Promise<void> {
  const disk = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'binnacle-test', disk]);
  if (mounted.status !== 0) {
    fs.rmdirSync(disk);
    t.skip('mounting is not allowed here');
    return;
  }
  try {
    const folder = path.join(disk, 'data');
    fs.mkdirSync(folder);
    await run(disk, folder);
  } finally {
    spawnSync('umount', ['-l', disk]);
    fs.rmdirSync(disk);
  }
}

test(
  'a full disk refuses writes, keeps what it answered, and goes on when there is room',
  { timeout: 120_000 },
  async (t) => {
    await onSmallDisk(t, async (disk, folder) => {
      const server = await startTestServer({ folder });
      const filler = path.join(disk, 'filler');
      fillDisk(filler);
      const kept: string[] = [];
      let refusal = { status: 0, body: '' };
      for (let i = 0; i < 200 && refusal.status === 0; i++) {
        const answer = await server.request('POST', MAPS, map(`map-${i}`, 200_000));
        if (answer.status === 201) kept.push(`map-${i}`);
        else refusal = answer;
      }
      assert.ok(refusal.status >= 500, `${refusal.status} ${refusal.body}`);
      assert.match(refusal.body, /disk|space/i);
      const names = await namesIn(server);
      for (const name of kept) assert.ok(names.has(name), `${name} was answered and is not there`);
      // Whoever restarts a server by its health does not restart it for this.
      assert.equal((await server.request('GET', '/livez')).status, 200);
      fs.rmSync(filler);
      await pollUntil(async () => (await server.request('POST', MAPS, map('later', 1000))).status === 201);
      await server.kill();
      const again = await startTestServer({ folder });
      const after = await namesIn(again);
      for (const name of [...kept, 'later']) assert.ok(after.has(name), `${name} is lost`);
      await again.stop();
    });
  },
);

test(
  'a disk that fills while commits are made ends no server, and a start on it is not refused',
  { timeout: 180_000 },
  async (t) => {
    await onSmallDisk(t, async (disk, folder) => {
      const server = await startTestServer({ folder });
      let hasEnded = false;
      void server.exited.then(() => (hasEnded = true));
      const filler = path.join(disk, 'filler');
      const kept = new Set<string>();
      let refused = 0;
      let going = true;
      const writers = Array.from({ length: WRITERS }, async (_, writer) => {
        for (let i = 0; going; i++) {
          const name = `map-${writer}-${i}`;
          const answer = await server.request('POST', MAPS, map(name, 20_000));
          if (answer.status === 201) kept.add(name);
          else refused++;
          if (i % 4 !== 3 || !kept.has(`map-${writer}-${i - 3}`)) continue;
          const removed = `map-${writer}-${i - 3}`;
          assert.equal((await server.request('DELETE', `${MAPS}/${removed}`)).status, 200, 'deletes go on');
          kept.delete(removed);
        }
      });
      for (let round = 0; round < FULL_ROUNDS; round++) {
        const before = refused;
        fillDisk(filler);
        await pollUntil(() => refused > before);
        if (round < FULL_ROUNDS - 1) fs.rmSync(filler);
        const answered = kept.size;
        if (round < FULL_ROUNDS - 1) await pollUntil(() => kept.size > answered);
      }
      going = false;
      await Promise.all(writers);
      assert.equal(hasEnded, false, server.log());
      await server.kill();
      // Its end gives back a few blocks, at times.
      fillDisk(filler);
      // On another port: the kubeconfig should be written anew, which cannot be.
      const kubeconfig = fs.readFileSync(server.kubeconfig, 'utf8');
      const again = await startTestServer({ folder, untilLive: true });
      assert.notEqual(again.url, server.url);
      assert.equal(fs.readFileSync(server.kubeconfig, 'utf8'), kubeconfig);
      assert.match(again.log(), new RegExp(`no space left on device\\. .* give kubectl --server=${again.url}`));
      assert.deepEqual(
        [...(await namesIn(again))].filter((name) => name.startsWith('map-')).toSorted(),
        [...kept].toSorted(),
      );
      await again.kill();
    });
  },
);

function fillDisk(file: string): void {
  const handle = fs.openSync(file, 'w');
  const piece = Buffer.alloc(64 * 1024);
  try {
    for (let i = 0; i < DISK_BYTES / piece.length; i++) fs.writeSync(handle, piece);
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
  } finally {
    fs.closeSync(handle);
  }
}

test('a server that is killed while it writes has all it answered', { timeout: 60_000 * ROUNDS }, async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-kill-'));
  const answered: string[] = [];
  const random = testRandom();
  for (let round = 0; round < ROUNDS; round++) {
    const server = await startTestServer({ folder });
    let going = true;
    const writers = Array.from({ length: WRITERS }, async (_, writer) => {
      for (let i = 0; going; i++) {
        const name = `map-${round}-${writer}-${i}`;
        const answer = await server.request('POST', MAPS, map(name, 100)).catch(() => undefined);
        if (answer?.status === 201) answered.push(name);
      }
    });
    const enough = answered.length + random.between(20, 200);
    await pollUntil(() => answered.length >= enough);
    going = false;
    await server.kill();
    await Promise.all(writers);
  }
  const server = await startTestServer({ folder });
  const names = await namesIn(server);
  assert.ok(answered.length > 0);
  assert.deepEqual(
    answered.filter((name) => !names.has(name)),
    [],
  );
  await server.stop();
});

test('a damaged file is refused in words, and left as it is', { timeout: 60_000 }, async () => {
  const server = await startTestServer();
  for (let i = 0; i < 50; i++) await server.request('POST', MAPS, map(`map-${i}`, 3000));
  await server.kill();
  const file = path.join(server.folder, 'store.mdb');
  const bytes = fs.readFileSync(file);
  const damages: readonly ((copy: Buffer) => Buffer)[] = [
    (copy) => copy.fill(0, 8192),
    (copy) => copy.subarray(0, 12_288),
    () => Buffer.from('this is no store\n'.repeat(2000)),
  ];
  for (const damage of damages) {
    const damaged = damage(Buffer.from(bytes));
    fs.writeFileSync(file, damaged);
    const why = await startTestServer({ folder: server.folder }).then(
      async (started) => {
        await started.kill();
        return 'it started';
      },
      (error: unknown) => String(error),
    );
    assert.match(why, /the server ended/);
    assert.match(why, /the data folder .* cannot be read/);
    assert.doesNotMatch(why, /Assertion|SIGABRT|\bat .*\.cjs:/);
    assert.ok(fs.readFileSync(file).equals(damaged), 'the file was changed');
  }
  fs.writeFileSync(file, bytes);
  const again = await startTestServer({ folder: server.folder });
  assert.ok((await namesIn(again)).size >= 50);
  await again.stop();
});
