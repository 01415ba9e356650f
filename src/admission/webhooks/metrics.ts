import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { Operation } from '../plugin.js';
import type { HookType } from './match-hook.js';

export type RejectionError = 'no_error' | 'calling_webhook_error' | 'apiserver_internal_error';

export interface HookCall {
  readonly name: string;
  readonly type: HookType;
  readonly operation: Operation;
}

/** Counts what came of webhooks. */
export interface HookRecorder {
  called(call: HookCall, seconds: number, code: number, rejected: boolean): void;
  rejected(call: HookCall, error: RejectionError, code: number): void;
  failedOpen(call: HookCall): void;
}

/** Codes above are counted as this one: a hook cannot make as many series as it likes. */
const MAX_CODE = 600;

export function hookMetrics(registry: MetricRegistry): HookRecorder {
  const durations = registry.histogram({
    name: 'apiserver_admission_webhook_admission_duration_seconds',
    help: 'Seconds webhooks took, by name, step, operation and whether the request was refused.',
    labels: ['name', 'type', 'operation', 'rejected'],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25],
    stability: 'STABLE',
  });
  const requests = registry.counter({
    name: 'apiserver_admission_webhook_request_total',
    help: 'Calls of webhooks, by name, step, operation, code and whether the request was refused.',
    labels: ['name', 'type', 'operation', 'code', 'rejected'],
    stability: 'ALPHA',
  });
  const rejections = registry.counter({
    name: 'apiserver_admission_webhook_rejection_count',
    help: 'Requests refused by webhooks or for their failures, by name, step, operation, kind of error and code.',
    labels: ['name', 'type', 'operation', 'error_type', 'rejection_code'],
    stability: 'ALPHA',
  });
  const failOpens = registry.counter({
    name: 'apiserver_admission_webhook_fail_open_count',
    help: 'Failures of webhooks that were passed over as their failure policy says, by name and step.',
    labels: ['name', 'type'],
    stability: 'ALPHA',
  });
  const codeText = (code: number): string => String(Math.min(code, MAX_CODE));
  return {
    called({ name, type, operation }, seconds, code, rejected) {
      requests.with(name, type, operation, codeText(code), String(rejected)).inc();
      durations.with(name, type, operation, String(rejected)).observe(seconds);
    },
    rejected: ({ name, type, operation }, error, code) =>
      rejections.with(name, type, operation, error, codeText(code)).inc(),
    failedOpen: ({ name, type }) => failOpens.with(name, type).inc(),
  };
}
