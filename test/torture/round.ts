// One round: clients, faults and watchers in a namespace of their own, then the check of all that they saw.
import type { Random } from './random.js';
import { checkHistory } from './checker.js';
import { damageCopy, type DamageResult } from './damage.js';
import type { Fault, FaultName } from './faults.js';
import { listOnce, runLister } from './lister.js';
import { createRecorder } from './recorder.js';
import { createSession, type Session } from './session.js';
import type { Target } from './target.js';
import { startWatcher, type Watcher } from './watcher.js';
import { runWriter, writeOne } from './writer.js';
import { pollUntil } from '../../src/lib/testing/poll-until.js';

const WRITERS = 6;
const LISTERS = 2;
const WATCHERS = 4;
const KEYS = 12;
const MIN_CALLS_BETWEEN_FAULTS = 20;
const MAX_CALLS_BETWEEN_FAULTS = 250;

export interface RoundResult {
  /** Sentences: a round without any is well. */
  readonly problems: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

export async function runRound(options: {
  readonly target: Target;
  readonly namespace: string;
  readonly random: Random;
  /** What can be had on the target. */
  readonly faults: readonly Fault[];
  readonly faultCount: number;
}): Promise<RoundResult> {
  const { target, random, namespace } = options;
  const ending = new AbortController();
  const ended = new AbortController();
  const from = await createNamespace(target, namespace);
  const recorder = createRecorder(from);
  const session = createSession({ target, recorder, namespace, ending: ending.signal });
  const keys = Array.from({ length: KEYS }, (_, i) => `k${String(i).padStart(2, '0')}`);
  const watchers = Array.from({ length: WATCHERS }, (_, i) =>
    startWatcher(session, { name: `watcher-${i}`, random: random.fork(`watcher-${i}`), signal: ended.signal }),
  );
  const clients = [
    ...Array.from({ length: WRITERS }, (_, i) =>
      runWriter(session, { name: `w${i}`, keys, random: random.fork(`writer-${i}`) }),
    ),
    ...Array.from({ length: LISTERS }, (_, i) => runLister(session, random.fork(`lister-${i}`))),
  ];
  const struck = new Map<FaultName, number>();
  const problems: string[] = [];
  try {
    // Clients end before the round does only when there is no server any more.
    await Promise.race([
      strikeAll({ ...options, random: random.fork('faults') }, session, struck),
      Promise.all(clients),
    ]);
    ending.abort();
    await Promise.all(clients);
    problems.push(...(await settle(session, random.fork('end'), watchers)));
  } finally {
    ending.abort();
    ended.abort();
    await Promise.allSettled(watchers.map((watcher) => watcher.ended));
  }
  problems.push(...target.servers.flatMap(({ deaths }) => deaths.splice(0)));
  const verdict = checkHistory(recorder);
  problems.push(...verdict.violations.map(({ kind, text }) => `${kind}: ${text}`));
  problems.push(...recorder.overdue.map((call) => `no answer within the deadline: ${call}`));
  const isDamaging = options.faults.some(({ name }) => name === 'damage');
  const damaged = isDamaging ? await damageAfter(target, session, random.fork('damage')) : undefined;
  if (damaged?.outcome === 'wrong') problems.push(`damage was served or not explained: ${damaged.text}`);
  const sum = (count: (watcher: Watcher) => number): number => watchers.reduce((all, one) => all + count(one), 0);
  const outcomes = (outcome: string): number => recorder.writes.filter((write) => write.outcome === outcome).length;
  return {
    problems,
    counts: {
      ...Object.fromEntries(struck),
      ...(damaged !== undefined && { [`damage ${damaged.outcome}`]: 1 }),
      'writes answered': outcomes('ok'),
      'writes refused': outcomes('failed'),
      'writes unknown': outcomes('unknown'),
      changes: verdict.changes,
      gets: recorder.gets.length,
      lists: recorder.lists.length,
      events: recorder.spans.reduce((all, { events }) => all + events.length, 0),
      'watches resumed': sum((watcher) => watcher.reconnects()),
      'watches expired': sum((watcher) => watcher.expiries()),
      ...(!verdict.isComplete && { 'rounds with unknown changes': 1 }),
    },
  };
}

/** The revision of a namespace that nobody else writes to. */
async function createNamespace(target: Target, name: string): Promise<number> {
  const server = await target.servers[0]?.running();
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  const answer = await pollUntil(async () => {
    const made = await server?.request('POST', '/api/v1/namespaces', body).catch(() => undefined);
    return made?.status === 201 && made;
  });
  return Number((JSON.parse(answer.body) as { metadata: { resourceVersion: string } }).metadata.resourceVersion);
}

/** Between faults clients get on: so many calls as the seed says. */
async function strikeAll(
  {
    target,
    random,
    faults,
    faultCount,
  }: { target: Target; random: Random; faults: readonly Fault[]; faultCount: number },
  session: Session,
  struck: Map<FaultName, number>,
): Promise<void> {
  const during = faults.filter(({ strike }) => strike !== undefined);
  for (let i = 0; i <= faultCount; i++) {
    await session.recorder.progress(random.between(MIN_CALLS_BETWEEN_FAULTS, MAX_CALLS_BETWEEN_FAULTS));
    if (during.length === 0 || i === faultCount) continue;
    const fault = random.pick(during);
    await fault.strike?.(target, random);
    struck.set(fault.name, (struck.get(fault.name) ?? 0) + 1);
  }
}

/** A last write, which every watcher must come to see, and a last list. */
async function settle(session: Session, random: Random, watchers: readonly Watcher[]): Promise<string[]> {
  let last = 0;
  for (let n = 0; last === 0; n++) {
    const write = await writeOne(session, random, { verb: 'apply', key: 'last', value: `last-${n}` });
    last = write.version?.revision ?? 0;
  }
  await pollUntil(() => listOnce(session, random, { match: 'newest', wanted: 0, limit: 0 }));
  try {
    await pollUntil(() => watchers.every((watcher) => watcher.newest() >= last));
    return [];
  } catch {
    const seen = watchers.map((watcher) => watcher.newest()).join(', ');
    return [`watchers did not come to see the last write at ${last}: they are at ${seen}`];
  }
}

async function damageAfter(target: Target, session: Session, random: Random): Promise<DamageResult | undefined> {
  const [server] = target.servers;
  if (server === undefined || target.folder === undefined) return undefined;
  const { body } = await (await server.running()).request('GET', session.path);
  await server.kill();
  try {
    return await damageCopy({ folder: target.folder, listPath: session.path, body }, random);
  } finally {
    await server.start();
  }
}
