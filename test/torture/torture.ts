// Rounds of random clients under faults, on real servers, until the time is over. A round is replayed by its seed.
import { pollUntil } from '../../src/lib/testing/poll-until.js';
import { type Fault, type FaultName, FAULTS } from './faults.js';
import { type Footprint, footprintOf } from './footprint.js';
import { seededRandom } from './random.js';
import { runRound } from './round.js';
import { startTarget, type StoreName, type Target } from './target.js';

const MAX_FURTHER_DESCRIPTORS = 24;
const MAX_FURTHER_MIB = 200;

export interface TortureOptions {
  readonly store: StoreName;
  readonly servers: number;
  /** Processes of each server; 1 where it is absent. */
  readonly workers?: number;
  readonly seed: number;
  readonly faults: readonly FaultName[];
  readonly faultsInRound: number;
  /** Whether another round begins. */
  readonly goesOn: (roundsDone: number) => boolean;
  readonly log: (line: string) => void;
}

export interface TortureResult {
  readonly problems: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

export async function torture(options: TortureOptions): Promise<TortureResult> {
  const { store, log, workers = 1 } = options;
  const name = `${store}, ${options.servers} server${options.servers === 1 ? '' : 's'}`;
  const target = await startTarget({
    store,
    servers: options.servers,
    workers,
    needsDisk: options.faults.includes('full-disk'),
  });
  const problems: string[] = [];
  const counts: Record<string, number> = {};
  try {
    const faults = options.faults.flatMap((wanted) => availableFault(wanted, target, log));
    for (let round = 0; options.goesOn(round); round++) {
      const seed = options.seed + round;
      const atRest = await footprints(target);
      const result = await runRound({
        target,
        namespace: `torture-${seed}`,
        random: seededRandom(seed),
        faults,
        faultCount: options.faultsInRound,
      }).catch((error: unknown) => String(error));
      if (typeof result === 'string') {
        const deaths = target.servers.flatMap((server) => server.deaths);
        problems.push(`${name}, seed ${seed}: the round broke off: ${[...deaths, result].join('\n')}`);
        break;
      }
      const found = [...result.problems, ...(await checkFootprints(target, atRest))];
      for (const [what, count] of Object.entries(result.counts)) counts[what] = (counts[what] ?? 0) + count;
      log(`${name}, seed ${seed}: ${showCounts(result.counts)}; ${found.length} problems`);
      for (const problem of found) log(`  ${problem}`);
      problems.push(...found.map((problem) => `${name}, seed ${seed}: ${problem}`));
    }
  } finally {
    await target.remove();
  }
  return { problems, counts };
}

export const showCounts = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([what, count]) => `${what} ${count}`)
    .join(', ');

function availableFault(name: FaultName, target: Target, log: (line: string) => void): Fault[] {
  const fault = FAULTS.find((one) => one.name === name);
  if (fault === undefined)
    throw new Error(`there is no fault ${name}; there are ${FAULTS.map((one) => one.name).join(', ')}`);
  const missing = fault.missing(target);
  if (missing !== undefined) log(`skipped: ${name}, for ${missing}`);
  return missing === undefined ? [fault] : [];
}

const footprints = (target: Target): Promise<Footprint[]> =>
  Promise.all(target.servers.map(async (server) => footprintOf((await server.running()).pid)));

/** Clients are gone: what servers held for them goes, too. Their memory was the largest under load. */
async function checkFootprints(target: Target, atRest: readonly Footprint[]): Promise<string[]> {
  const excess = async (): Promise<string[]> =>
    (await footprints(target)).flatMap((now, i) => {
      const before = atRest[i] ?? now;
      return [
        ...(now.descriptors > before.descriptors + MAX_FURTHER_DESCRIPTORS
          ? [`${now.descriptors} descriptors are open, ${before.descriptors} were before`]
          : []),
        ...(now.residentMib > before.residentMib + MAX_FURTHER_MIB
          ? [`${now.residentMib} MiB are resident, ${before.residentMib} were before`]
          : []),
      ];
    });
  try {
    await pollUntil(async () => (await excess()).length === 0);
    return [];
  } catch {
    return excess();
  }
}
