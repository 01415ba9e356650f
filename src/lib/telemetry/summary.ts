// Values whose quantiles are exported, where bucket bounds are not known beforehand.
import { goFloatText } from '../go/float.js';
import { type Allowed, Family, type Metric, type MetricDefinition, sample } from './metric-family.js';

const QUANTILES = [0.5, 0.9, 0.99];
/** The last so many are looked at. */
const KEPT = 500;

export class SummarySeries {
  sum = 0;
  count = 0;
  private readonly last = new Float64Array(KEPT);

  // hot: for each request that is admitted
  observe(value: number): void {
    this.last[this.count % KEPT] = value;
    this.sum += value;
    this.count++;
  }

  /** The value that this part of them does not exceed. */
  quantiles(parts: readonly number[]): number[] {
    const sorted = this.last.slice(0, Math.min(this.count, KEPT)).sort();
    return parts.map((part) => sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? NaN);
  }
}

export class Summary implements Metric {
  readonly type = 'summary';
  private readonly family: Family<SummarySeries>;

  constructor(
    readonly definition: MetricDefinition,
    allowed: Allowed,
  ) {
    this.family = new Family(definition, allowed, () => new SummarySeries());
  }

  with(...values: readonly string[]): SummarySeries {
    return this.family.find(values);
  }

  encode(lines: string[]): void {
    const { name } = this.definition;
    for (const { labels, series } of this.family.inOrder()) {
      const comma = labels === '' ? '' : ',';
      series.quantiles(QUANTILES).forEach((value, i) => {
        lines.push(sample(name, `${labels}${comma}quantile="${goFloatText(QUANTILES[i] ?? 0)}"`, value));
      });
      lines.push(sample(`${name}_sum`, labels, series.sum), sample(`${name}_count`, labels, series.count));
    }
  }
}
