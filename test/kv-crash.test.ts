// runs-on: every-node
// A process that writes hard, and defragments its file all the time, is killed: at a random moment, and at each step of
// defragmenting; twelve times, by hand BINNACLE_CRASH_ROUNDS.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { it } from 'node:test';
import type { DefragmentStep } from '../src/kv/embedded/defragment.js';
import { openEmbeddedStore } from '../src/kv/embedded/embedded.js';
import { Answers, SeenEvents, writeHard } from './support/crash-writers.js';
import { testRandom } from './support/test-random.js';

const ROUNDS = Number(process.env['BINNACLE_CRASH_ROUNDS'] ?? 12);
/** Where it is killed, one after another; undefined is after a random number of answers. */
const KILLED_AT: readonly (DefragmentStep | undefined)[] = [
  undefined,
  'copied',
  'caught-up',
  'lock-renamed',
  'renamed',
  'moved',
];
const childFolder = process.env['BINNACLE_CRASH_FOLDER'];

if (childFolder !== undefined) void writeUntilKilled(childFolder);
else {
  it('loses no answered write to kill -9', { timeout: 300_000 }, async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-crash-'));
    const answers = new Answers();
    const random = testRandom();
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const before = answers.size;
        await killedRound(folder, KILLED_AT[round % KILLED_AT.length] ?? random.between(1, 300), answers);
        assert.ok(answers.size > before, 'the child was answered some writes');
        const kv = await openEmbeddedStore({ folder });
        const seen = new SeenEvents();
        kv.watch({ prefix: '/', startRevision: 2, previous: true }, seen).cancel();
        await seen.check(kv, answers);
        await kv.close();
      }
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });
}

/** Starts a writer, which ends by SIGKILL at a step or after so many answers, and gathers its answers. */
async function killedRound(folder: string, killedAt: DefragmentStep | number, answers: Answers): Promise<void> {
  const step = typeof killedAt === 'string' ? killedAt : undefined;
  const child = spawn(process.execPath, process.argv.slice(1), {
    env: { ...process.env, BINNACLE_CRASH_FOLDER: folder, BINNACLE_CRASH_STEP: step, BINNACLE_LOAD_ONLY: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk: string) => {
    text += chunk;
    if (typeof killedAt === 'number' && text.split('\n').length > killedAt) child.kill('SIGKILL');
  });
  await new Promise((resolve) => child.once('close', resolve));
  assert.equal(child.signalCode, 'SIGKILL');
  for (const line of text.split('\n').slice(0, -1)) {
    const [revision = '', entry = ''] = line.split('\t');
    answers.add(Number(revision), entry);
  }
}

async function writeUntilKilled(folder: string): Promise<void> {
  let answered = 0;
  const kv = await openEmbeddedStore({
    folder,
    historyMs: 0,
    defragmenting(step) {
      if (step === process.env['BINNACLE_CRASH_STEP'] && answered > 0) process.kill(process.pid, 'SIGKILL');
    },
  });
  const defragmentForever = async (): Promise<void> => {
    for (;;) await kv.mvcc.defragment();
  };
  const writing = writeHard(kv, {
    run: String(await kv.revision()),
    answered(revision, entry) {
      answered++;
      process.stdout.write(`${revision}\t${entry}\n`);
    },
    mayFail: () => false,
    isOver: () => false,
  });
  await Promise.all([writing, defragmentForever()]);
}
