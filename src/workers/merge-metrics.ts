// The metrics of all worker processes as those of one server.
import { goFloatText } from '../lib/go/float.js';
import { type CollectedMetric, expositionText } from '../lib/telemetry/metrics.js';

/** A metric of all: its series in the order in which they were met, each with its value so far. */
interface Merged extends Omit<CollectedMetric, 'lines'> {
  readonly series: Map<string, number>;
}

export class MergedMetrics {
  /** What each process reported last. */
  readonly #last = new Map<number, readonly CollectedMetric[]>();
  /** Of processes that have ended: a counter that fell would be taken for a new server. */
  #ended: readonly CollectedMetric[] = [];

  /** The text for scrapers, of what the processes report now; of one that does not answer, what it reported last. */
  text(reports: readonly { readonly index: number; readonly metrics: readonly CollectedMetric[] }[]): string {
    for (const { index, metrics } of reports) this.#last.set(index, metrics);
    return expositionText(merge([...this.#last.values(), this.#ended]));
  }

  /** The process has ended; another will report by this number. */
  ended(index: number): void {
    const last = this.#last.get(index);
    this.#last.delete(index);
    if (last !== undefined) this.#ended = merge([this.#ended, last.filter(isCounted)]);
  }
}

/** What only ever grows. */
const isCounted = ({ type, across }: CollectedMetric): boolean => type !== 'gauge' && across === undefined;

function merge(reports: readonly (readonly CollectedMetric[])[]): CollectedMetric[] {
  const merged = new Map<string, Merged>();
  for (const report of reports) {
    for (const metric of report) {
      const { name, type, help, across } = metric;
      let into = merged.get(name);
      if (into === undefined) merged.set(name, (into = { name, type, help, across, series: new Map() }));
      for (const line of metric.lines) addLine(into, line);
    }
  }
  const byName = [...merged.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return byName.map(({ series, ...metric }) => ({
    ...metric,
    lines: Array.from(series, ([labelled, value]) => `${labelled} ${goFloatText(value)}`),
  }));
}

function addLine({ series, across, type }: Merged, line: string): void {
  const space = line.lastIndexOf(' ');
  const labelled = line.slice(0, space);
  const value = readFloat(line.slice(space + 1));
  const known = series.get(labelled);
  if (known === undefined || Number.isNaN(known)) {
    series.set(labelled, value);
    return;
  }
  if (Number.isNaN(value)) return;
  // Quantiles cannot be added: the largest is the one to look at.
  const rule = type === 'summary' && labelled.includes('quantile="') ? 'max' : across;
  series.set(labelled, rule === undefined ? known + value : Math[rule](known, value));
}

const readFloat = (text: string): number =>
  text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : text === 'NaN' ? NaN : Number(text);
