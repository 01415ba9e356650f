// Counters, gauges and histograms with labels, and their Prometheus text.
import { append } from '../values/append.js';
import { goFloatText } from '../go/float.js';
import { type Allowed, Family, type Metric, type MetricDefinition, sample, type Stability } from './metric-family.js';
import { Summary } from './summary.js';

export type { MetricDefinition, Stability } from './metric-family.js';

export interface HistogramDefinition extends MetricDefinition {
  /** Upper bounds in rising order, without +Inf. */
  readonly buckets: readonly number[];
}

export interface RegistryOptions {
  /** `--disabled-metrics` */
  readonly disabledMetrics?: readonly string[];
  /** `--allow-metric-labels` and its manifest: `metric,label` → the values kept; others become "unexpected". */
  readonly allowedLabels?: ReadonlyMap<string, ReadonlySet<string>>;
  /** `--show-hidden-metrics-for-version` is set. */
  readonly showHidden?: boolean;
  /** The server's own release line, such as `1.34`. */
  readonly version?: string;
}

/** A metric as it is shown. */
export interface CollectedMetric {
  readonly name: string;
  readonly type: Metric['type'];
  readonly help: string;
  readonly across: MetricDefinition['across'];
  /** A line for each series, or several for histograms and summaries. */
  readonly lines: readonly string[];
}

export function expositionText(metrics: readonly CollectedMetric[]): string {
  const text: string[] = [];
  for (const { name, type, help, lines } of metrics) {
    append(text, [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`], lines);
  }
  return text.length === 0 ? '' : `${text.join('\n')}\n`;
}

/** All metrics of a process. */
export class MetricRegistry {
  private readonly metrics = new Map<string, Metric>();
  private readonly collectors: (() => void)[] = [];
  /** Label values that were counted under another because they are not allowed. */
  private unexpected = 0;

  constructor(private readonly options: RegistryOptions = {}) {}

  counter(definition: MetricDefinition): Counter {
    return this.register(new Counter(definition, this.allowedOf(definition)));
  }

  gauge(definition: MetricDefinition): Gauge {
    return this.register(new Gauge(definition, this.allowedOf(definition)));
  }

  histogram(definition: HistogramDefinition): Histogram {
    return this.register(new Histogram(definition, this.allowedOf(definition)));
  }

  summary(definition: MetricDefinition): Summary {
    return this.register(new Summary(definition, this.allowedOf(definition)));
  }

  /** Runs before each scrape, for gauges that are read rather than kept. */
  onCollect(collector: () => void): void {
    this.collectors.push(collector);
  }

  /** How many metrics there are, and how many of them are not shown. */
  counts(): {
    readonly registered: ReadonlyMap<Stability, number>;
    readonly disabled: number;
    readonly hidden: number;
    readonly unexpectedLabels: number;
  } {
    const registered = new Map<Stability, number>();
    let hidden = 0;
    for (const { definition } of this.metrics.values()) {
      registered.set(definition.stability, (registered.get(definition.stability) ?? 0) + 1);
      if (!this.isShown(definition)) hidden++;
    }
    const disabled = this.options.disabledMetrics?.length ?? 0;
    return {
      registered,
      disabled,
      unexpectedLabels: this.unexpected,
      hidden: hidden - [...this.metrics.keys()].filter((name) => this.options.disabledMetrics?.includes(name)).length,
    };
  }

  /** The exposition text: metrics by name, series by their labels. */
  text(): string {
    return expositionText(this.collect());
  }

  /** The same by metric. */
  collect(): CollectedMetric[] {
    for (const collector of this.collectors) collector();
    const collected: CollectedMetric[] = [];
    for (const name of [...this.metrics.keys()].sort()) {
      const metric = this.metrics.get(name);
      if (metric === undefined || !this.isShown(metric.definition)) continue;
      const lines: string[] = [];
      metric.encode(lines);
      if (lines.length === 0) continue;
      const { type, definition } = metric;
      collected.push({ name, type, help: escapeHelp(helpOf(definition)), across: definition.across, lines });
    }
    return collected;
  }

  private register<M extends Metric>(metric: M): M {
    const { name } = metric.definition;
    if (this.metrics.has(name)) throw new Error(`metric ${name} is registered twice`);
    this.metrics.set(name, metric);
    return metric;
  }

  private isShown({ name, deprecatedVersion }: MetricDefinition): boolean {
    if (this.options.disabledMetrics?.includes(name)) return false;
    if (deprecatedVersion === undefined || this.options.showHidden === true) return true;
    return !isOlder(deprecatedVersion, this.options.version ?? '0.0');
  }

  private allowedOf({ name, labels = [] }: MetricDefinition): Allowed {
    const allowed = labels.map((label) => this.options.allowedLabels?.get(`${name},${label}`));
    if (allowed.every((values) => values === undefined)) return undefined;
    return (values) => values.map((value, i) => (allowed[i]?.has(value) === false ? this.instead() : value));
  }

  private instead(): string {
    this.unexpected++;
    return 'unexpected';
  }
}

const isOlder = (a: string, b: string): boolean => {
  const [aMajor = 0, aMinor = 0] = a.split('.').map(Number);
  const [bMajor = 0, bMinor = 0] = b.split('.').map(Number);
  return aMajor === bMajor ? aMinor < bMinor : aMajor < bMajor;
};

function helpOf({ help, stability, deprecatedVersion }: MetricDefinition): string {
  const deprecated = deprecatedVersion === undefined ? '' : `(Deprecated since ${deprecatedVersion}.0) `;
  return `[${stability}] ${deprecated}${help}`;
}

export class CounterSeries {
  value = 0;
  inc(by = 1): void {
    this.value += by;
  }
}

/** A metric whose series have one value each. */
abstract class ValueMetric<S extends { readonly value: number }> implements Metric {
  abstract readonly type: Metric['type'];
  private readonly family: Family<S>;

  constructor(
    readonly definition: MetricDefinition,
    allowed: Allowed,
    newSeries: () => S,
  ) {
    this.family = new Family(definition, allowed, newSeries);
  }

  with(...values: readonly string[]): S {
    return this.family.find(values);
  }

  /** For what is no more: its series is not shown again. */
  remove(...values: readonly string[]): void {
    this.family.remove(values);
  }

  encode(lines: string[]): void {
    for (const { labels, series } of this.family.inOrder())
      lines.push(sample(this.definition.name, labels, series.value));
  }
}

export class Counter extends ValueMetric<CounterSeries> {
  readonly type = 'counter';

  constructor(definition: MetricDefinition, allowed: Allowed) {
    super(definition, allowed, () => new CounterSeries());
  }
}

export class GaugeSeries {
  value = 0;
  set(value: number): void {
    this.value = value;
  }
  add(by: number): void {
    this.value += by;
  }
}

export class Gauge extends ValueMetric<GaugeSeries> {
  readonly type = 'gauge';

  constructor(definition: MetricDefinition, allowed: Allowed) {
    super(definition, allowed, () => new GaugeSeries());
  }
}

export class HistogramSeries {
  sum = 0;
  count = 0;
  /** Observations of each bucket alone; encode() adds them up. */
  readonly counts: Float64Array;

  constructor(private readonly bounds: readonly number[]) {
    this.counts = new Float64Array(bounds.length);
  }

  /** `times`: how often it was so; for values that last, the time they lasted. */
  observe(value: number, times = 1): void {
    this.sum += value * times;
    this.count += times;
    const { bounds } = this;
    // Most observations fall into the first few buckets, so a walk beats a binary search.
    for (let i = 0; i < bounds.length; i++) {
      if (value <= (bounds[i] as number)) {
        this.counts[i] = (this.counts[i] as number) + times;
        return;
      }
    }
  }
}

export class Histogram implements Metric {
  readonly type = 'histogram';
  private readonly family: Family<HistogramSeries>;

  constructor(
    readonly definition: HistogramDefinition,
    allowed: Allowed,
  ) {
    this.family = new Family(definition, allowed, () => new HistogramSeries(definition.buckets));
  }

  with(...values: readonly string[]): HistogramSeries {
    return this.family.find(values);
  }

  encode(lines: string[]): void {
    const { name, buckets } = this.definition;
    for (const { labels, series } of this.family.inOrder()) {
      const comma = labels === '' ? '' : ',';
      let total = 0;
      buckets.forEach((bound, i) => {
        total += series.counts[i] ?? 0;
        lines.push(sample(`${name}_bucket`, `${labels}${comma}le="${goFloatText(bound)}"`, total));
      });
      lines.push(
        sample(`${name}_bucket`, `${labels}${comma}le="+Inf"`, series.count),
        sample(`${name}_sum`, labels, series.sum),
        sample(`${name}_count`, labels, series.count),
      );
    }
  }
}

/** Each the one before it times `factor`, so that their rounding is the one scrapers know. */
export function exponentialBuckets(start: number, factor: number, count: number): readonly number[] {
  const buckets: number[] = [];
  for (let bound = start; buckets.length < count; bound *= factor) buckets.push(bound);
  return buckets;
}

const escapeHelp = (text: string): string => text.replace(/\\/g, '\\\\').replace(/\n/g, '\\n');
