// /metrics/slis: the results of the health checks, apart from all else so that they can be scraped often.
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { HealthEndpoint } from '../lifecycle/health.js';

export type HealthObserver = (check: string, endpoint: HealthEndpoint, healthy: boolean) => void;

/** Give it a registry of its own, and the answer to `Health` as `observe`. */
export function createHealthMetrics(registry: MetricRegistry): HealthObserver {
  const last = registry.gauge({
    name: 'kubernetes_healthcheck',
    across: 'min',
    help: 'The last result of a health check: 1 when it passed.',
    labels: ['name', 'type'],
    stability: 'STABLE',
  });
  const total = registry.counter({
    name: 'kubernetes_healthchecks_total',
    help: 'Results of health checks.',
    labels: ['name', 'type', 'status'],
    stability: 'STABLE',
  });
  return (check, endpoint, healthy) => {
    last.with(check, endpoint).set(healthy ? 1 : 0);
    total.with(check, endpoint, healthy ? 'success' : 'error').inc();
  };
}
