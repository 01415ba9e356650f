// The series of a metric by the values of their labels, and a line of its text.
//
// An observation walks one Map per label to its series, which is cheaper than building a key of all labels:
//
//   verb "GET" → group "apps" → resource "deployments" → series { count, sum, buckets }
//
// A series that is observed often can be kept by the caller: `const series = histogram.with('GET', …)`.
import { goFloatText } from '../go/float.js';

export type Stability = 'INTERNAL' | 'ALPHA' | 'BETA' | 'STABLE';

export interface MetricDefinition {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly stability: Stability;
  /** The release line that deprecated it, such as `1.27`: hidden from the next one on. */
  readonly deprecatedVersion?: string;
  /** What the value of a server of several processes is, by those of its processes. Their sum without it. */
  readonly across?: 'max' | 'min';
}

export interface Metric {
  readonly definition: MetricDefinition;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  encode(lines: string[]): void;
}

/** The values of a metric's labels as they may be shown; undefined where all may. */
export type Allowed = ((values: readonly string[]) => readonly string[]) | undefined;

type Level<S> = Map<string, Level<S> | S>;

/** The series of a metric, by their label values. */
export class Family<S> {
  private readonly root: Level<S> = new Map();
  private readonly all: { readonly labels: string; readonly series: S }[] = [];
  private sorted = true;
  private readonly unlabelled: S | undefined;

  constructor(
    readonly definition: MetricDefinition,
    private readonly allowed: Allowed,
    private readonly create: () => S,
  ) {
    if ((definition.labels ?? []).length === 0) {
      this.unlabelled = create();
      this.all.push({ labels: '', series: this.unlabelled });
    }
  }

  /** By their labels, as scrapers have always seen them. */
  inOrder(): readonly { readonly labels: string; readonly series: S }[] {
    if (!this.sorted) this.all.sort((a, b) => (a.labels < b.labels ? -1 : 1));
    this.sorted = true;
    return this.all;
  }

  // hot: ten and more for each request.
  find(values: readonly string[]): S {
    if (this.unlabelled !== undefined) return this.unlabelled;
    if (this.allowed !== undefined) values = this.allowed(values);
    let level = this.root;
    const last = values.length - 1;
    for (let i = 0; i < last; i++) {
      const value = values[i] as string;
      let next = level.get(value) as Level<S> | undefined;
      if (next === undefined) level.set(value, (next = new Map()));
      level = next;
    }
    const value = values[last] as string;
    const found = level.get(value) as S | undefined;
    return found === undefined ? this.add(level, value, values) : found;
  }

  remove(values: readonly string[]): void {
    if (this.allowed !== undefined) values = this.allowed(values);
    let level: Level<S> | undefined = this.root;
    for (const value of values.slice(0, -1)) level = level?.get(value) as Level<S> | undefined;
    const last = values.at(-1) ?? '';
    const series = level?.get(last) as S | undefined;
    if (series === undefined) return;
    level?.delete(last);
    this.all.splice(
      this.all.findIndex((one) => one.series === series),
      1,
    );
  }

  private add(level: Level<S>, value: string, values: readonly string[]): S {
    const series = this.create();
    level.set(value, series);
    const names = this.definition.labels ?? [];
    const labels = names.map((name, i) => ({ name, value: values[i] ?? '' }));
    labels.sort((a, b) => (a.name < b.name ? -1 : 1));
    this.sorted = false;
    this.all.push({ labels: labels.map((one) => `${one.name}="${escapeLabel(one.value)}"`).join(','), series });
    return series;
  }
}

export const sample = (name: string, labels: string, value: number): string =>
  labels === '' ? `${name} ${goFloatText(value)}` : `${name}{${labels}} ${goFloatText(value)}`;

const escapeLabel = (text: string): string =>
  /[\\"\n]/.test(text) ? text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n') : text;
