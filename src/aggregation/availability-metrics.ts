import type { MetricRegistry } from '../lib/telemetry/metrics.js';
import type { Judgement } from './remote-condition.js';

export interface AvailabilityMetrics {
  /** How an API service was found, whether or not that is news. */
  judged(name: string, judgement: Judgement): void;
  /** One that was available is no more. */
  lost(name: string, judgement: Judgement): void;
  /** The API service is gone. */
  forget(name: string): void;
}

export function createAvailabilityMetrics(registry: MetricRegistry): AvailabilityMetrics {
  const unavailable = registry.gauge({
    name: 'aggregator_unavailable_apiservice',
    across: 'max',
    help: 'Whether an API service cannot be reached (1) or can (0).',
    labels: ['name'],
    stability: 'ALPHA',
  });
  const losses = registry.counter({
    name: 'aggregator_unavailable_apiservice_total',
    // Every worker process looks at the same services.
    across: 'max',
    help: 'How often an API service that could be reached no longer could, and why.',
    labels: ['name', 'reason'],
    stability: 'ALPHA',
  });
  return {
    judged: (name, { status }) => unavailable.with(name).set(status === 'True' ? 0 : 1),
    lost: (name, { reason }) => losses.with(name, reason ?? 'UnknownReason').inc(),
    forget: (name) => unavailable.remove(name),
  };
}
