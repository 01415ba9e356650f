import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { RestObserver } from '../../machinery/rest-call.js';

const CALL_SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/** Several parts of a server call others, and all are counted together. */
const observers = new WeakMap<MetricRegistry, RestObserver>();

export function restClientMetrics(registry: MetricRegistry): RestObserver {
  let observer = observers.get(registry);
  if (observer === undefined) observers.set(registry, (observer = createObserver(registry)));
  return observer;
}

function createObserver(registry: MetricRegistry): RestObserver {
  const requests = registry.counter({
    name: 'rest_client_requests_total',
    help: 'Requests to webhooks, by the status of the answer.',
    labels: ['code', 'method', 'host'],
    stability: 'ALPHA',
  });
  const seconds = registry.histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Seconds that calls of webhooks took.',
    labels: ['verb', 'host'],
    buckets: CALL_SECONDS,
    stability: 'ALPHA',
  });
  return {
    answered: (status, method, host) =>
      requests.with(status === undefined ? '<error>' : String(status), method, host).inc(),
    took: (method, host, took) => seconds.with(method, host).observe(took),
  };
}
