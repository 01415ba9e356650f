// The policies of both kinds, followed in the store.
import type { ConditionMetrics } from '../../admission/condition-metrics.js';
import type { PluginParts } from '../../admission/ordered-plugins.js';
import { compileMutatingPolicy } from '../../admission/mutating-policy/compile.js';
import { mutationMetrics } from '../../admission/mutating-policy/metrics.js';
import { compileValidatingPolicy } from '../../admission/validating-policy/compile.js';
import { startPolicyInformers } from '../../admission/validating-policy/policy-informers.js';
import { policyMetrics } from '../../admission/validating-policy/metrics.js';
import type { PolicyCompiler } from '../../cel/compiled-policy.js';
import type { Logger } from '../../lib/telemetry/log.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { Resources } from '../kinds/resources.js';
import { servedResources } from './served-resources.js';

export interface PolicyParts {
  readonly resources: Resources;
  readonly metrics: MetricRegistry;
  readonly conditions: ConditionMetrics;
  readonly policyCompiler: PolicyCompiler;
  readonly stopping: AbortSignal;
  readonly log: Logger;
  readonly wait: (ms: number) => Promise<void>;
}

export function admissionPolicies({
  resources,
  metrics,
  conditions,
  policyCompiler,
  stopping,
  log,
  wait,
}: PolicyParts): Pick<PluginParts, 'mutatingPolicy' | 'validatingPolicy'> {
  const storesOf = (kind: 'mutating' | 'validating') => ({
    policies: resources.store({ group: GROUP, resource: `${kind}admissionpolicies` }),
    bindings: resources.store({ group: GROUP, resource: `${kind}admissionpolicybindings` }),
    signal: stopping,
    log,
    wait,
  });
  const served = servedResources(resources);
  const recorder = policyMetrics(metrics, conditions);
  const validatingPolicy = {
    source: startPolicyInformers({
      ...storesOf('validating'),
      compile: (spec) => compileValidatingPolicy(policyCompiler, spec),
    }),
    served,
    recorder,
  };
  // Their kind is behind a gate.
  if (resources.registry({ group: GROUP, resource: 'mutatingadmissionpolicies' }) === undefined) {
    return { validatingPolicy };
  }
  const mutatingPolicy = {
    source: startPolicyInformers({
      ...storesOf('mutating'),
      compile: (spec) => compileMutatingPolicy(policyCompiler, spec),
    }),
    served,
    recorder: { ...recorder, ...mutationMetrics(metrics) },
  };
  return { validatingPolicy, mutatingPolicy };
}

const GROUP = 'admissionregistration.k8s.io';
