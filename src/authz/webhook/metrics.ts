import type { MetricRegistry } from '../../lib/telemetry/metrics.js';

export type RoundTripResult = 'success' | 'canceled' | 'timeout' | 'error';

export interface WebhookMetrics {
  roundTrip(name: string, result: RoundTripResult, seconds: number): void;
  /** A failure that counts as no opinion. */
  failedOpen(name: string, result: RoundTripResult): void;
  conditions(
    name: string,
    outcome: { readonly seconds: number; readonly failed: boolean; readonly excluded: boolean },
  ): void;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const CONDITION_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];
const TYPE = 'Webhook';

export function webhookMetrics(registry: MetricRegistry): WebhookMetrics {
  const prefix = 'apiserver_authorization';
  const byResult = { labels: ['name', 'result'], stability: 'ALPHA' } as const;
  const byAuthorizer = { labels: ['type', 'name'], stability: 'ALPHA' } as const;
  const roundTrips = registry.counter({
    ...byResult,
    name: `${prefix}_webhook_evaluations_total`,
    help: 'Round trips to authorization webhooks, by how they ended.',
  });
  const seconds = registry.histogram({
    ...byResult,
    name: `${prefix}_webhook_duration_seconds`,
    help: 'Seconds that round trips to authorization webhooks took, by how they ended.',
    buckets: SECONDS,
  });
  const failedOpen = registry.counter({
    ...byResult,
    name: `${prefix}_webhook_evaluations_fail_open_total`,
    help: 'Failures of authorization webhooks that counted as no opinion.',
  });
  const conditionSeconds = registry.histogram({
    ...byAuthorizer,
    name: `${prefix}_match_condition_evaluation_seconds`,
    help: 'Seconds that the match conditions of an authorizer took for one request.',
    buckets: CONDITION_SECONDS,
  });
  const conditionErrors = registry.counter({
    ...byAuthorizer,
    name: `${prefix}_match_condition_evaluation_errors_total`,
    help: 'Requests for which a match condition of an authorizer failed.',
  });
  const exclusions = registry.counter({
    ...byAuthorizer,
    name: `${prefix}_match_condition_exclusions_total`,
    help: 'Requests that skipped an authorizer because a match condition was false.',
  });
  return {
    roundTrip(name, result, took) {
      roundTrips.with(name, result).inc();
      seconds.with(name, result).observe(took);
    },
    failedOpen: (name, result) => failedOpen.with(name, result).inc(),
    conditions(name, outcome) {
      conditionSeconds.with(TYPE, name).observe(outcome.seconds);
      if (outcome.failed) conditionErrors.with(TYPE, name).inc();
      if (outcome.excluded) exclusions.with(TYPE, name).inc();
    },
  };
}
