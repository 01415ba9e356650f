// All metrics of a server, in the two places they are served.
import { createRequestMetrics, type RequestMetrics } from '../../filters/request-metrics.js';
import type { Logger } from '../../lib/telemetry/log.js';
import { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { RequestInfo } from '../../machinery/request-info.js';
import type { VersionInfo } from '../../machinery/version-info.js';
import { createHealthMetrics, type HealthObserver } from './health-metrics.js';
import { type MetricFlags, metricOptions } from './metric-options.js';
import { registerBuildMetrics, registerProcessMetrics, tlsErrorCounter } from './process-metrics.js';
import { registerReleaseMetrics, type Release } from './release-metrics.js';

export interface ServerMetrics {
  /** /metrics */
  readonly registry: MetricRegistry;
  /** /metrics/slis */
  readonly sliRegistry: MetricRegistry;
  readonly requests: RequestMetrics;
  /** For `Health`. */
  readonly observeHealth: HealthObserver;
  /** For the listener. */
  readonly onTlsError: () => void;
}

export interface ServerMetricsInput {
  readonly flags: MetricFlags;
  readonly version: VersionInfo;
  readonly release: Release;
  /** Tells resources there are from ones a client made up, which must not become series. */
  readonly isServed: (info: RequestInfo) => boolean;
  readonly log: Logger;
}

export function createServerMetrics({ flags, version, release, isServed, log }: ServerMetricsInput): ServerMetrics {
  const options = metricOptions(flags, log);
  const registry = new MetricRegistry(options);
  const sliRegistry = new MetricRegistry(options);
  registerProcessMetrics(registry);
  registerBuildMetrics(registry, version);
  registerReleaseMetrics(registry, release);
  return {
    registry,
    sliRegistry,
    requests: createRequestMetrics(registry, isServed),
    observeHealth: createHealthMetrics(sliRegistry),
    onTlsError: tlsErrorCounter(registry),
  };
}
