// How often a configuration file was reloaded, under the names dashboards know.
import crypto from 'node:crypto';
import type { MetricRegistry, Stability } from '../lib/telemetry/metrics.js';

export interface ReloadMetrics {
  /** This text is in effect, from the start. */
  inEffect(text: string): void;
  /** A new configuration is in effect. */
  succeeded(text: string): void;
  failed(): void;
}

export interface ReloadMetricsOptions {
  /** What the file is about: `authorization`. */
  readonly topic: string;
  /** Tells the servers of a cluster apart. */
  readonly serverId: string;
  readonly stability: Stability;
  readonly nowMs: () => number;
}

export function reloadMetrics(registry: MetricRegistry, options: ReloadMetricsOptions): ReloadMetrics {
  const { topic, stability, nowMs } = options;
  const prefix = `apiserver_${topic}_config_controller`;
  const server = hashOf(options.serverId);
  const reloads = registry.counter({
    name: `${prefix}_automatic_reloads_total`,
    // Every worker process reloads the same file.
    across: 'max',
    help: `Reloads of the ${topic} configuration, by success or failure.`,
    labels: ['status', 'apiserver_id_hash'],
    stability,
  });
  const times = registry.gauge({
    name: `${prefix}_automatic_reload_last_timestamp_seconds`,
    across: 'max',
    help: `When the ${topic} configuration was last reloaded, by success or failure.`,
    labels: ['status', 'apiserver_id_hash'],
    stability,
  });
  const info = registry.gauge({
    name: `${prefix}_last_config_info`,
    across: 'max',
    help: `The hash of the ${topic} configuration that is in effect.`,
    labels: ['apiserver_id_hash', 'hash'],
    stability: 'ALPHA',
  });
  const count = (status: 'success' | 'failure'): void => {
    reloads.with(status, server).inc();
    times.with(status, server).set(nowMs() / 1000);
  };
  let shown: string | undefined;
  const inEffect = (text: string): void => {
    if (shown !== undefined) info.remove(server, shown);
    shown = hashOf(text);
    info.with(server, shown).set(1);
  };
  return {
    inEffect,
    succeeded(text) {
      count('success');
      inEffect(text);
    },
    failed: () => count('failure'),
  };
}

const hashOf = (text: string): string =>
  text === '' ? '' : `sha256:${crypto.createHash('sha256').update(text).digest('hex')}`;
