// What the flags say about metrics, as the registry wants it.
import fs from 'node:fs';
import type { Logger } from '../../lib/telemetry/log.js';
import type { RegistryOptions } from '../../lib/telemetry/metrics.js';
import { RELEASE } from '../../machinery/names.js';
import { parseYaml } from '../../schema/yaml/parse.js';

export interface MetricFlags {
  readonly allowMetricLabels: Readonly<Record<string, string>>;
  readonly allowMetricLabelsManifest: string;
  readonly disabledMetrics: readonly string[];
  readonly showHiddenMetricsForVersion: string;
}

/** A manifest that cannot be read is logged and otherwise ignored, as kube-apiserver does. */
export function metricOptions(flags: MetricFlags, log: Logger): RegistryOptions {
  const manifest = flags.allowMetricLabelsManifest === '' ? {} : readManifest(flags.allowMetricLabelsManifest, log);
  const allowed = Object.entries({ ...manifest, ...flags.allowMetricLabels });
  return {
    disabledMetrics: flags.disabledMetrics,
    allowedLabels: new Map(allowed.map(([metricAndLabel, values]) => [metricAndLabel, new Set(values.split(','))])),
    showHidden: flags.showHiddenMetricsForVersion !== '',
    version: `${RELEASE.major}.${RELEASE.minor}`,
  };
}

/** `metric,label: value,value` lines. */
function readManifest(file: string, log: Logger): Record<string, string> {
  try {
    const parsed: unknown = parseYaml(fs.readFileSync(file, 'utf8')).value;
    if (typeof parsed !== 'object' || parsed === null) return {};
    return Object.fromEntries(Object.entries(parsed).map(([key, values]) => [key, String(values)]));
  } catch (error) {
    log.error(error, 'Failed to read allow list manifest', { file });
    return {};
  }
}
