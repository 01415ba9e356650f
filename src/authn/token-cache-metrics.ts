// How the memory of tokens fares, under the names dashboards know. All such memories count together.
import type { CounterSeries, GaugeSeries, HistogramSeries, MetricRegistry } from '../lib/telemetry/metrics.js';

export interface TokenCacheMetrics {
  hit(): void;
  missed(durationMs: number): void;
  /** Requests that wait for a check. */
  readonly blocked: Pick<GaugeSeries, 'add'>;
  /** A check begins; the answer ends it. */
  fetching(): (ok: boolean) => void;
}

const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createTokenCacheMetrics(registry: MetricRegistry): TokenCacheMetrics {
  const define = (name: string) => ({
    name: `authentication_token_cache_${name}`,
    help: '',
    labels: ['status'],
    stability: 'ALPHA' as const,
  });
  const requests = registry.counter(define('request_total'));
  const durations = registry.histogram({ ...define('request_duration_seconds'), buckets: DEFAULT_BUCKETS });
  const fetches = registry.counter(define('fetch_total'));
  const active = registry.gauge(define('active_fetch_count'));
  let hits: { readonly requests: CounterSeries; readonly durations: HistogramSeries } | undefined;
  return {
    // hot: every request with a token
    hit() {
      hits ??= { requests: requests.with('hit'), durations: durations.with('hit') };
      hits.requests.inc();
      hits.durations.observe(0);
    },
    missed(durationMs) {
      requests.with('miss').inc();
      durations.with('miss').observe(Math.floor(durationMs) / 1000);
    },
    blocked: { add: (by) => active.with('blocked').add(by) },
    fetching() {
      active.with('in_flight').add(1);
      return (ok) => {
        active.with('in_flight').add(-1);
        fetches.with(ok ? 'ok' : 'error').inc();
      };
    },
  };
}
