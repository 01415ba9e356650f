// runs-on: every-node
// A process that writes hard is killed at random moments, ten times, by hand BINNACLE_CRASH_ROUNDS. What it was answered
// is there, in order, once; what it was not answered is there whole or not at all.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { it } from 'node:test';
import { openEmbeddedStore } from '../src/kv/embedded/embedded.js';
import type { KeyValueStore, KvEvent } from '../src/kv/kv.js';

const ROUNDS = Number(process.env['BINNACLE_CRASH_ROUNDS'] ?? 10);
const WRITERS = 16;
const childFolder = process.env['BINNACLE_CRASH_FOLDER'];

if (childFolder !== undefined) void writeUntilKilled(childFolder);
else {
  it('loses no answered write to kill -9', { timeout: 120_000 }, async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-crash-'));
    const answered = new Map<number, string>();
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const before = answered.size;
        await killedRound(folder, 40 + Math.random() * 400, answered);
        if (round % 5 === 0) assert.ok(answered.size > before, 'the child was answered some writes');
        const kv = await openEmbeddedStore({ folder });
        await check(kv, answered);
        await kv.close();
      }
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });
}

/** Starts a writer, kills it some time after its first answer, and gathers its answers: revision → "key value". */
async function killedRound(folder: string, afterMs: number, answered: Map<number, string>): Promise<void> {
  const child = spawn(process.execPath, process.argv.slice(1), {
    env: { ...process.env, BINNACLE_CRASH_FOLDER: folder, BINNACLE_LOAD_ONLY: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8');
  child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), afterMs));
  child.stdout.on('data', (chunk: string) => (text += chunk));
  await new Promise((resolve) => child.once('close', resolve));
  for (const line of text.split('\n').slice(0, -1)) {
    const [revision = '', entry = ''] = line.split('\t');
    assert.ok(!answered.has(Number(revision)), `revision ${revision} was answered twice`);
    answered.set(Number(revision), entry);
  }
}

async function check(kv: KeyValueStore, answered: ReadonlyMap<number, string>): Promise<void> {
  const events = new Map<number, KvEvent>();
  let last = 1;
  const watch = kv.watch(
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
      failed: (error) => assert.fail(error),
    },
  );
  watch.cancel();
  assert.equal(last, await kv.revision());
  for (const [revision, entry] of answered) {
    const event = events.get(revision);
    assert.equal(event && `${event.key} ${event.value.subarray(0, 40).toString()}`, entry, `revision ${revision}`);
  }
  // Replaying the events gives the state: nothing is half there.
  const state = new Map<string, string>();
  for (const event of events.values()) {
    assert.equal(event.previous?.value.toString(), state.get(event.key));
    if (event.type === 'put') state.set(event.key, event.value.toString());
    else state.delete(event.key);
  }
  const { kvs } = await kv.range({ start: '/', end: '0' });
  assert.deepEqual(new Map(kvs.map(({ key, value }) => [key, value.toString()])), state);
}

async function writeUntilKilled(folder: string): Promise<void> {
  const kv = await openEmbeddedStore({ folder, historyMs: 0 });
  const start = await kv.revision();
  const write = async (writer: number): Promise<void> => {
    const key = `/w${writer}`;
    for (let n = 0; ; n++) {
      const current = await kv.get(key);
      const value = `${start}-${writer}-${n}`.padEnd(40, '.');
      const bytes = Buffer.from(value + 'x'.repeat(Math.floor(Math.random() * 3000)));
      const remove = current !== undefined && n % 7 === 6;
      const result = remove
        ? await kv.delete(key, current.modRevision)
        : current === undefined
          ? await kv.create(key, bytes)
          : await kv.update(key, current.modRevision, bytes);
      assert.ok(result.done);
      process.stdout.write(`${result.revision}\t${key} ${remove ? '' : value}\n`);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
}
