import type { MetricRegistry } from '../../lib/telemetry/metrics.js';

export interface SignerMetrics {
  fetched(code: string): void;
  dataTimestamp(seconds: number): void;
  signed(code: string): void;
  called(method: string, code: string, seconds: number): void;
}

const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export function createSignerMetrics(registry: MetricRegistry, nowMs: () => number): SignerMetrics {
  const define = (name: string, help: string, labels: readonly string[] = []) => ({
    name: `apiserver_externaljwt_${name}`,
    help,
    labels,
    stability: 'ALPHA' as const,
  });
  const fetches = registry.counter(define('fetch_keys_request_total', 'Requests for the external keys.', ['code']));
  const fetchedAt = registry.gauge({
    ...define('fetch_keys_success_timestamp', 'When the external keys were last had.'),
    across: 'max',
  });
  const dataAt = registry.gauge({
    ...define('fetch_keys_data_timestamp', 'What the signer said its keys were made at.'),
    across: 'max',
  });
  const signatures = registry.counter(define('sign_request_total', 'Requests for a signature.', ['code']));
  const calls = registry.histogram({
    ...define('request_duration_seconds', 'Seconds that calls to the external signer took.', ['method', 'code']),
    buckets: SECONDS,
  });
  return {
    fetched(code) {
      fetches.with(code).inc();
      if (code === 'OK') fetchedAt.with().set(nowMs() / 1000);
    },
    dataTimestamp: (seconds) => dataAt.with().set(seconds),
    signed: (code) => signatures.with(code).inc(),
    called: (method, code, seconds) => calls.with(method, code).observe(seconds),
  };
}
