// What every part of the server may need: life cycle, metrics and health, egress, traces and audit.
import os from 'node:os';
import type { Logs } from '../lib/telemetry/log.js';
import { emulatedVersionInfo } from '../machinery/version-info.js';
import type { Options } from '../options/options.js';
import { sharedSeats } from '../workers/shared-seats.js';
import type { SupervisorLink } from '../workers/supervisor-link.js';
import { buildAudit } from './telemetry/audit.js';
import { sharedAuditLog } from './telemetry/shared-audit-log.js';
import { createDialers } from './outgoing/dialers.js';
import { type FailedChecks, Health, type HealthEndpoint } from './lifecycle/health.js';
import { deferredRef } from './lifecycle/deferred-ref.js';
import { Lifecycle } from './lifecycle/lifecycle.js';
import { PostStartHooks } from './lifecycle/post-start-hooks.js';
import type { Resources } from './kinds/resources.js';
import { createServerMetrics } from './metrics/server-metrics.js';
import { createTracer } from './telemetry/tracer.js';

export type Core = ReturnType<typeof buildCore>;

export function buildCore(options: Options, logs: Logs, link: SupervisorLink | undefined) {
  const lifecycle = new Lifecycle({
    shutdownDelayMs: options.generic.shutdownDelayDurationMs,
    shutdownSendRetryAfter: options.generic.shutdownSendRetryAfter,
    shutdownWatchTerminationGracePeriodMs: options.generic.shutdownWatchTerminationGracePeriodMs,
    ...(link !== undefined && { inStep: (phase) => link.phase(phase) }),
    log: logs.for('lifecycle'),
  });
  const onDrained = (close: () => Promise<void> | void): void => lifecycle.onDrained(close);
  const version = emulatedVersionInfo(options.gitVersion, options.emulatedVersion, options.minCompatibleVersion);
  const served = deferredRef<Resources>();
  const metrics = createServerMetrics({
    flags: options.metrics,
    version,
    release: options,
    isServed: ({ apiGroup, apiVersion, resource }) => served.value.find(apiGroup, apiVersion, resource) !== undefined,
    log: logs.for('metrics'),
  });
  const { registry } = metrics;
  const health = new Health({
    livezGracePeriodMs: options.generic.livezGracePeriodMs,
    log: logs.for('health'),
    observe: metrics.observeHealth,
    ...(link !== undefined && {
      others: async (endpoint) => (await link.channel.ask('health', endpoint)) as readonly FailedChecks[],
    }),
  });
  link?.channel.handle('health', (endpoint) => health.failures(endpoint as HealthEndpoint));
  link?.channel.handle('metrics', (which) => (which === 'slis' ? metrics.sliRegistry : registry).collect());
  const dialers = createDialers(options, registry);
  const dialer = dialers.controlplane;
  // First of those that close at the end, and so the last: until then there may be something to send.
  const tracer = createTracer(options, { metrics: registry, dialer, log: logs.for('tracing'), onDrained });
  const audit = buildAudit(options, {
    metrics: registry,
    log: logs.for('audit'),
    dialer,
    onDrained,
    sharedLog: link && sharedAuditLog(link),
  });
  return {
    options,
    logs,
    clock: (): Date => new Date(),
    hostname: os.hostname(),
    lifecycle,
    onDrained,
    version,
    metrics,
    registry,
    served,
    health,
    link,
    hooks: new PostStartHooks(health, link),
    seats: link && sharedSeats(link.channel),
    dialers,
    tracer,
    audit,
  };
}
