// How many worker processes the servers of a run have: `node tools/test.mjs --workers=2 test`.
const workers = process.env['BINNACLE_WORKERS'];

/** The flags of a server, with the number of worker processes of this run where they do not say one themselves. */
export function withWorkers(flags: readonly string[]): readonly string[] {
  const isFree = workers !== undefined && !flags.some((flag) => flag.startsWith('--workers='));
  return isFree ? [...flags, `--workers=${workers}`] : flags;
}

/** All workers of a server have started, by its log. */
export const allWorkersStarted = (log: string): boolean =>
  workers === undefined || log.includes('All worker processes have started');

/** As many answers as there are workers; connections of their own, made at once, go to one each. */
export const ofEveryWorker = <T>(request: () => Promise<T>): Promise<readonly T[]> =>
  Promise.all(Array.from({ length: Number(workers ?? 1) }, request));

/** For `skip` of a test that several worker processes cannot pass: the reason, in a run that has them. */
export const skipWithWorkers = (reason: string): string | false => workers !== undefined && reason;
