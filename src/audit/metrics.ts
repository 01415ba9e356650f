import type { CounterSeries, MetricRegistry } from '../lib/telemetry/metrics.js';
import type { Level } from './levels.js';
import type { AuditPlugin } from './backend.js';

export interface AuditMetrics {
  readonly event: () => void;
  readonly level: (level: Level) => void;
  readonly lost: (plugin: AuditPlugin, events: number) => void;
  readonly rejected: () => void;
}

export function createAuditMetrics(registry: MetricRegistry): AuditMetrics {
  const events = registry.counter({
    name: 'apiserver_audit_event_total',
    help: 'Audit events made and handed to the back ends.',
    stability: 'ALPHA',
  });
  const errors = registry.counter({
    name: 'apiserver_audit_error_total',
    help: 'Audit events that were not recorded as they should, by the plugin that failed.',
    labels: ['plugin'],
    stability: 'ALPHA',
  });
  const levels = registry.counter({
    name: 'apiserver_audit_level_total',
    help: 'Requests, by the level the audit policy gives them.',
    labels: ['level'],
    stability: 'ALPHA',
  });
  const rejected = registry.counter({
    name: 'apiserver_audit_requests_rejected_total',
    help: 'Requests refused because their audit event could not be stored.',
    stability: 'ALPHA',
  });
  const total = events.with();
  const atLevel: Partial<Record<Level, CounterSeries>> = {};
  const refused = rejected.with();
  return {
    event: () => total.inc(),
    level: (level) => (atLevel[level] ??= levels.with(level)).inc(),
    lost: (plugin, count) => errors.with(plugin).inc(count),
    rejected: () => refused.inc(),
  };
}
