// Which worker process the next connection goes to: the one with the fewest, where all have as much to do beside them.
//
// Connections are long-lived, so that what counts is how many are open, not who came last. But the worker that has the embedded
// store carries out everybody's writes, too. So each worker reports its processor time, and what is more than its connections
// explain counts like further connections of it:
//
//   worker 0   ▓▓▓▓▓▓▓▓▓▓▓▓ 3 connections   ░░░░░░░░ the store: as much as 2 connections
//   worker 1   ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓ 5 connections
//
// A connection's time is that at the worker which needs least for one. Recent time counts most, so that the spread follows the load.

/** What is so long ago counts half. */
const HALF_LIFE_MS = 5_000;
/** What is known of a shorter time, by the same measure, may be chance. */
const MIN_KNOWN_MS = 4_000;
/** A worker that has less to do than this, in cores, has time for whatever comes. */
const MIN_LOAD = 0.1;

/** What a worker has to do, as far as its supervisor knows. */
export class WorkerLoad {
  #connections = 0;
  #changedMs = 0;
  /** Since the last report. */
  #connectionMs = 0;
  #reported: { readonly processorMs: number; readonly atMs: number } | undefined;
  /** Of all reports, the older the less. */
  readonly sums = { elapsedMs: 0, processorMs: 0, connectionMs: 0 };

  /** Open, or on their way. */
  get connections(): number {
    return this.#connections;
  }

  add(connections: number, nowMs: number): void {
    this.#connectionMs += this.#connections * (nowMs - this.#changedMs);
    this.#connections += connections;
    this.#changedMs = nowMs;
  }

  /** The processor time that the worker has used since its start. The first report says where the next one counts from. */
  report(processorMs: number, nowMs: number): void {
    this.add(0, nowMs);
    const { sums } = this;
    const before = this.#reported;
    if (before !== undefined) {
      const elapsedMs = nowMs - before.atMs;
      const kept = 0.5 ** (elapsedMs / HALF_LIFE_MS);
      sums.elapsedMs = sums.elapsedMs * kept + elapsedMs;
      sums.processorMs = sums.processorMs * kept + processorMs - before.processorMs;
      sums.connectionMs = sums.connectionMs * kept + this.#connectionMs;
    }
    this.#reported = { processorMs, atMs: nowMs };
    this.#connectionMs = 0;
  }
}

/** Of several that are as good, the first. */
export function leastLoaded<T extends { readonly load: WorkerLoad }>(workers: readonly T[]): T | undefined {
  const further = furtherConnections(workers.map(({ load }) => load));
  let best: T | undefined;
  let fewest = Infinity;
  for (const [i, worker] of workers.entries()) {
    const count = worker.load.connections + (further[i] ?? 0);
    if (count >= fewest) continue;
    best = worker;
    fewest = count;
  }
  return best;
}

/** As many connections as would make up what each worker does beside its own. */
function furtherConnections(loads: readonly WorkerLoad[]): number[] {
  let perConnection = Infinity;
  for (const { sums } of loads) {
    if (sums.connectionMs > 0) perConnection = Math.min(perConnection, sums.processorMs / sums.connectionMs);
  }
  const open = sumOf(loads, ({ connections }) => connections) + 1;
  const openMs = sumOf(loads, ({ sums }) => sums.connectionMs);
  return loads.map(({ sums: { elapsedMs, processorMs, connectionMs } }) => {
    const isBusy = elapsedMs >= MIN_KNOWN_MS && processorMs > elapsedMs * MIN_LOAD;
    if (!isBusy || !Number.isFinite(perConnection)) return 0;
    const share = (processorMs - perConnection * connectionMs) / (perConnection * openMs);
    // At most an even part of all: connections may be idle now and busy later, and no worker is to be left without any.
    return open * Math.min(share, 1 / loads.length);
  });
}

const sumOf = <T>(values: readonly T[], number: (value: T) => number): number =>
  values.reduce((sum, value) => sum + number(value), 0);
