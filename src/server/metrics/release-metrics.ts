// Which release this is, and which of its features are on: for whoever watches several servers.
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import {
  type FeatureGates,
  featureGateNames,
  type FeatureStage,
  featureStateAt,
} from '../../machinery/feature-gates.js';
import { type MinorVersion, minorVersionText } from '../../machinery/kube-version.js';

export interface Release {
  readonly gitVersion: string;
  readonly emulatedVersion: MinorVersion;
  readonly minCompatibleVersion: MinorVersion;
  readonly featureGates: FeatureGates;
}

/** What the stages are called in labels; a gate that does not exist at the emulated version has none. */
const STAGES: Readonly<Record<Exclude<FeatureStage, 'prealpha'>, string>> = {
  alpha: 'ALPHA',
  beta: 'BETA',
  ga: '',
  deprecated: 'DEPRECATED',
};

export function registerReleaseMetrics(registry: MetricRegistry, release: Release): void {
  const { emulatedVersion, featureGates } = release;
  const versions = registry.gauge({
    name: 'version_info',
    across: 'max',
    help: 'The release, what it emulates and what it stays compatible with; the value is always 1.',
    labels: ['component', 'binary', 'emulation', 'min_compat'],
    stability: 'ALPHA',
  });
  versions
    .with(
      'kube',
      binaryVersion(release.gitVersion),
      minorVersionText(emulatedVersion),
      minorVersionText(release.minCompatibleVersion),
    )
    .set(1);
  const features = registry.gauge({
    name: 'kubernetes_feature_enabled',
    across: 'max',
    help: 'Whether a feature is on, by its stage.',
    labels: ['name', 'stage'],
    stability: 'BETA',
  });
  for (const gate of featureGateNames()) {
    const { stage } = featureStateAt(gate, emulatedVersion);
    if (stage !== 'prealpha') features.with(gate, STAGES[stage]).set(featureGates.enabled(gate) ? 1 : 0);
  }
}

/** `1.34.11` of `v1.34.11`. */
export const binaryVersion = (gitVersion: string): string => gitVersion.replace(/^v/, '');
