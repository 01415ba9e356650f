// runs-on: every-node
// A file may not grow beyond a limit, which nothing says before, as with a user's quota: a process that writes hard refuses what
// there is no room for, goes on to delete, and does not end. The engine itself would not survive a write that fails.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';
import { openEmbeddedStore } from '../src/kv/embedded/embedded.js';
import { KvError } from '../src/kv/kv.js';

const LIMIT_BYTES = 24 * 1024 * 1024;
const VALUE_BYTES = 20_000;
const WRITERS = 32;
const DELETES = 100;
/** Without the signal a write fails; the shell counts in half kilobytes. */
const LIMITED = `trap '' XFSZ; ulimit -f ${LIMIT_BYTES / 512} && exec "$@"`;
const childFolder = process.env['BINNACLE_FULL_FOLDER'];

interface Report {
  readonly created: number;
  readonly deleted: number;
  /** What other errors than of a full disk said. */
  readonly others: readonly string[];
}

if (childFolder !== undefined) void fillAndDelete(childFolder);
else {
  it(
    'a limit of the file that is met within commits refuses them whole, and ends nothing',
    { timeout: 120_000 },
    async () => {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-limit-'));
      try {
        const child = spawn('sh', ['-c', LIMITED, 'sh', process.execPath, ...process.argv.slice(1)], {
          env: { ...process.env, BINNACLE_FULL_FOLDER: folder, BINNACLE_LOAD_ONLY: '1' },
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const [output, status] = await Promise.all([
          text(child.stdout),
          new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code))),
        ]);
        assert.equal(status, 0, output);
        const report = JSON.parse(output) as Report;
        assert.deepEqual(report.others, []);
        assert.ok(report.created > 200, `${report.created} were created`);
        assert.equal(report.deleted, DELETES);
        const kv = await openEmbeddedStore({ folder });
        assert.equal((await kv.range({ start: '/', end: '0' })).count, report.created - report.deleted);
        await kv.close();
      } finally {
        fs.rmSync(folder, { recursive: true, force: true });
      }
    },
  );
}

async function fillAndDelete(folder: string): Promise<void> {
  const kv = await openEmbeddedStore({ folder });
  const created: [string, number][] = [];
  const others: string[] = [];
  const note = (error: unknown): void => {
    if (!(error instanceof KvError) || error.code !== 'disk-full') others.push(String(error));
  };
  const write = async (writer: number): Promise<void> => {
    try {
      for (let i = 0; ; i++) {
        const key = `/${writer}/${i}`;
        const { revision } = await kv.create(key, incompressible(created.length));
        created.push([key, revision]);
      }
    } catch (error) {
      note(error);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  let deleted = 0;
  for (const [key, revision] of created.slice(0, DELETES)) {
    await kv.delete(key, revision).then(() => deleted++, note);
  }
  await kv.health({ timeoutMs: 1000 }).catch(note);
  await kv.close();
  process.stdout.write(JSON.stringify({ created: created.length, deleted, others } satisfies Report));
}

function incompressible(seed: number): Buffer {
  const value = Buffer.alloc(VALUE_BYTES);
  for (let at = 0, state = seed + 1; at < VALUE_BYTES; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    value[at] = state >>> 24;
  }
  return value;
}
