// runs-on: every-node
// A process that writes hard, and defragments its file all the time, is killed: at a random moment, and at each step of
// defragmenting; twelve times, by hand BINNACLE_CRASH_ROUNDS. Half as often one that changes very many keys at once is.
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

const childTurns = process.env['BINNACLE_CRASH_TURNS'];
/** So many are committed in slices. */
const MANY = Array.from({ length: 2_500 }, (_, i) => `/many/${i}`);

if (childFolder !== undefined && childTurns !== undefined) void changeManyUntilKilled(childFolder, Number(childTurns));
else if (childFolder !== undefined) void writeUntilKilled(childFolder);
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

  it(
    'has all changes of a transaction after kill -9, or none, however many they are',
    { timeout: 300_000 },
    async () => {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-crash-'));
      const random = testRandom();
      try {
        for (let round = 0; round < ROUNDS / 2; round++) {
          const text = await killedChild({
            BINNACLE_CRASH_FOLDER: folder,
            BINNACLE_CRASH_TURNS: String(random.between(1, 400)),
          });
          const answered = Math.max(...text.split('\n').map(Number));
          const kv = await openEmbeddedStore({ folder });
          const revision = await kv.revision();
          assert.ok(revision >= answered, `${revision} is there, ${answered} was answered`);
          const { count } = await kv.range({ start: '/many/', end: '/many0', countOnly: true });
          assert.equal(count, isThere(revision) ? MANY.length : 0, `revision ${revision}`);
          await kv.close();
        }
      } finally {
        fs.rmSync(folder, { recursive: true, force: true });
      }
    },
  );
}

/** Starts a writer, which ends by SIGKILL at a step or after so many answers, and gathers its answers. */
async function killedRound(folder: string, killedAt: DefragmentStep | number, answers: Answers): Promise<void> {
  const step = typeof killedAt === 'string' ? killedAt : undefined;
  const text = await killedChild(
    { BINNACLE_CRASH_FOLDER: folder, BINNACLE_CRASH_STEP: step },
    (soFar) => typeof killedAt === 'number' && soFar.split('\n').length > killedAt,
  );
  for (const line of text.split('\n').slice(0, -1)) {
    const [revision = '', entry = ''] = line.split('\t');
    answers.add(Number(revision), entry);
  }
}

/** What the child wrote until it ended by SIGKILL, its own or when that is enough. */
async function killedChild(
  variables: NodeJS.ProcessEnv,
  isEnough: (text: string) => boolean = () => false,
): Promise<string> {
  const child = spawn(process.execPath, process.argv.slice(1), {
    env: { ...process.env, ...variables, BINNACLE_LOAD_ONLY: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk: string) => {
    text += chunk;
    if (isEnough(text)) child.kill('SIGKILL');
  });
  await new Promise((resolve) => child.once('close', resolve));
  assert.equal(child.signalCode, 'SIGKILL');
  return text;
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

/** The first revision of a store is 1; from then on each puts all keys, or deletes them. */
const isThere = (revision: number): boolean => revision % 2 === 0;

/** After its first answer, it ends when the event loop has turned so often. */
async function changeManyUntilKilled(folder: string, turns: number): Promise<void> {
  const kv = await openEmbeddedStore({ folder, historyMs: 0 });
  const value = Buffer.alloc(300, 'v');
  let left = Infinity;
  const turn = (): void => {
    if (left-- <= 0) process.kill(process.pid, 'SIGKILL');
    setImmediate(turn);
  };
  for (let revision = await kv.revision(); ; left = Math.min(left, turns)) {
    const change = isThere(revision)
      ? kv.mvcc.transact((state) => MANY.forEach((key) => state.delete(key)))
      : kv.mvcc.transact((state) => MANY.forEach((key) => state.put(key, value, { expiresAtMs: 0, lease: 0n })));
    ({ revision } = await change);
    process.stdout.write(`${revision}\n`);
    if (left === Infinity) turn();
  }
}
