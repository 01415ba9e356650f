import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import { RELEASE } from '../../machinery/names.js';
import type { AdmissionAttributes } from '../plugin.js';
import type { LevelVersion, Mode } from './policy.js';

/** Counts what was decided about pods and the workloads that make them. */
export interface PodSecurityRecorder {
  evaluated(decision: 'allow' | 'deny', policy: LevelVersion, mode: Mode, attributes: AdmissionAttributes): void;
  exempted(attributes: AdmissionAttributes): void;
  failed(fatal: boolean, attributes: AdmissionAttributes): void;
}

const WHERE = ['request_operation', 'resource', 'subresource'];

export function podSecurityMetrics(registry: MetricRegistry): PodSecurityRecorder {
  const evaluations = registry.counter({
    name: 'pod_security_evaluations_total',
    help: 'Evaluations of pods and workloads against a security level, without ignored and exempt requests.',
    labels: ['decision', 'policy_level', 'policy_version', 'mode', ...WHERE],
    stability: 'ALPHA',
  });
  const exemptions = registry.counter({
    name: 'pod_security_exemptions_total',
    help: 'Requests that were exempt from evaluation, without ignored ones.',
    labels: WHERE,
    stability: 'ALPHA',
  });
  const errors = registry.counter({
    name: 'pod_security_errors_total',
    help: 'Errors that prevented the configured evaluation. Where they are not fatal the strictest level may have been used.',
    labels: ['fatal', ...WHERE],
    stability: 'ALPHA',
  });
  // What is counted most is there from the start, so that dashboards show nothing happening rather than nothing.
  for (const operation of ['create', 'update']) {
    evaluations.with('allow', 'privileged', 'latest', 'enforce', operation, 'pod', '');
    for (const resource of ['pod', 'controller']) exemptions.with(operation, resource, '');
  }
  return {
    evaluated: (decision, policy, mode, attributes) =>
      evaluations.with(decision, policy.level, versionLabel(policy), mode, ...where(attributes)).inc(),
    exempted: (attributes) => exemptions.with(...where(attributes)).inc(),
    failed: (fatal, attributes) => errors.with(String(fatal), ...where(attributes)).inc(),
  };
}

const where = ({ operation, resource, subresource }: AdmissionAttributes): readonly string[] => [
  operation.toLowerCase(),
  RESOURCE_LABELS[resource.resource] ?? 'controller',
  subresource,
];

const RESOURCE_LABELS: Readonly<Record<string, string | undefined>> = { pods: 'pod', namespaces: 'namespace' };

/** Versions to come are one label, so that nobody can make series at will. */
function versionLabel({ level, minor }: LevelVersion): string {
  if (minor === Infinity || level === 'privileged') return 'latest';
  return minor <= RELEASE.minor ? `v1.${minor}` : 'future';
}
