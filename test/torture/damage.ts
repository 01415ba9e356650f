// Bytes of the embedded store that change while no server runs: a start is refused in words, or what is damaged is, or the
// bytes were not in use. On a copy of the folder, so that the run goes on with the whole one.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startTestServer } from '../support/server.js';
import type { Random } from './random.js';

const PAGE_BYTES = 4096;
const IN_WORDS = /the data folder .* cannot be read/;
const NAMED = /checksum|damaged|re\)initializing/;

export interface DamageResult {
  readonly outcome: 'refused' | 'named' | 'unharmed' | 'wrong';
  readonly text: string;
}

/** `folder` is that of a server that does not run; `listPath` answered `body` before it ended. */
export async function damageCopy(
  { folder, listPath, body }: { folder: string; listPath: string; body: string },
  random: Random,
): Promise<DamageResult> {
  const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-damaged-'));
  try {
    fs.cpSync(folder, copy, { recursive: true, filter: (file) => path.basename(file) !== 'lock' });
    const what = damage(path.join(copy, 'store.mdb'), random);
    return await judge({ folder: copy, listPath, body, what });
  } finally {
    fs.rmSync(copy, { recursive: true, force: true });
  }
}

function damage(file: string, random: Random): string {
  const bytes = fs.readFileSync(file);
  const kind = random.pick(['flip', 'flip', 'zero', 'garbage'] as const);
  const at = random.between(0, bytes.length - 1);
  const page = at - (at % PAGE_BYTES);
  if (kind === 'flip') bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << random.between(0, 7)), at);
  else if (kind === 'zero') bytes.fill(0, page, page + PAGE_BYTES);
  else
    for (let i = page; i < Math.min(page + PAGE_BYTES / 2, bytes.length); i++)
      bytes.writeUInt8(random.between(0, 255), i);
  fs.writeFileSync(file, bytes);
  return `${kind} at ${at} of ${bytes.length}`;
}

async function judge(options: { folder: string; listPath: string; body: string; what: string }): Promise<DamageResult> {
  const { folder, listPath, body, what } = options;
  const server = await startTestServer({ folder, untilLive: true }).catch((error: unknown) => String(error));
  if (typeof server === 'string') {
    const isInWords = IN_WORDS.test(server) && !/\bat .*\.cjs:/.test(server);
    return { outcome: isInWords ? 'refused' : 'wrong', text: `${what}: ${server}` };
  }
  try {
    const answer = await server.request('GET', listPath).catch(() => undefined);
    if (answer === undefined) return { outcome: 'wrong', text: `${what}: no answer\n${server.log()}` };
    if (answer.status !== 200)
      return {
        outcome: NAMED.test(answer.body) || NAMED.test(server.log()) ? 'named' : 'wrong',
        text: `${what}: ${answer.body}`,
      };
    const isEqual = itemsOf(answer.body) === itemsOf(body);
    return { outcome: isEqual ? 'unharmed' : 'wrong', text: `${what}: ${isEqual ? 'equal' : answer.body}` };
  } finally {
    await server.kill();
  }
}

const itemsOf = (body: string): string => {
  try {
    return JSON.stringify((JSON.parse(body) as { items: unknown }).items);
  } catch {
    return body;
  }
};
