import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import { parseApiVersion } from '../../machinery/object.js';

export type FailureType = 'call' | 'malformed_response' | 'partial_response' | 'invalid_converted_object';

/** Counts the calls of one CRD's webhook. */
export interface ConversionRecorder {
  converted(fromVersion: string, toApiVersion: string, seconds: number, failure: FailureType | undefined): void;
}

const CALL_SECONDS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60];
const DEFINITION_SECONDS = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i);

/** For the webhook of each CRD, by its name. */
export function conversionMetrics(registry: MetricRegistry): (definition: string) => ConversionRecorder {
  const requests = registry.counter({
    name: 'apiserver_conversion_webhook_request_total',
    help: 'Calls of conversion webhooks, by their result and what went wrong.',
    labels: ['result', 'failure_type'],
    stability: 'ALPHA',
  });
  const durations = registry.histogram({
    name: 'apiserver_conversion_webhook_duration_seconds',
    help: 'Seconds calls of conversion webhooks took.',
    labels: ['result', 'failure_type'],
    buckets: CALL_SECONDS,
    stability: 'ALPHA',
  });
  const byDefinition = registry.histogram({
    name: 'apiserver_crd_conversion_webhook_duration_seconds',
    help: 'Seconds conversions of custom resources took, by definition and versions.',
    labels: ['crd_name', 'from_version', 'to_version', 'succeeded'],
    buckets: DEFINITION_SECONDS,
    stability: 'ALPHA',
  });
  return (definition) => ({
    converted(fromVersion, toApiVersion, seconds, failure) {
      const labels = failure === undefined ? ['success', ''] : ['failure', `conversion_webhook_${failure}_failure`];
      requests.with(...labels).inc();
      durations.with(...labels).observe(seconds);
      const { version } = parseApiVersion(toApiVersion);
      byDefinition.with(definition, fromVersion, version, String(failure === undefined)).observe(seconds);
    },
  });
}
