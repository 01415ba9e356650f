import { createChain } from '../admission/chain.js';
import { admissionMetrics } from '../admission/metrics.js';
import { orderedPlugins } from '../admission/ordered-plugins.js';
import type { AdmissionChain } from '../admission/plugin.js';
import { NO_POD_SECURITY } from '../admission/plugins/pod-security.js';
import { podSecurityMetrics } from '../admission/pod-security/metrics.js';
import { followPolicies } from '../admission/validating-policy/follow-policies.js';
import { policyMetrics } from '../admission/validating-policy/metrics.js';
import type { Authorizer } from '../authz/authorizer.js';
import type { PolicyCompiler } from '../cel/compiled-policy.js';
import type { Logger } from '../lib/log.js';
import type { MetricRegistry } from '../lib/metrics.js';
import { enabledAdmissionPlugins } from '../options/admission-plugins.js';
import type { Options } from '../options/options.js';
import { nameSuffix, type Resources } from './resources.js';
import { servedResources } from './served-resources.js';

export interface AdmissionParts {
  readonly resources: Resources;
  readonly authorizer: Authorizer;
  readonly metrics: MetricRegistry;
  readonly policyCompiler: PolicyCompiler;
  readonly stopping: AbortSignal;
  readonly log: Logger;
}

const POLICY_GROUP = 'admissionregistration.k8s.io';

/** The plugins the flags turn on, in their order. */
export function buildAdmission(
  { admission }: Pick<Options, 'admission'>,
  { resources, authorizer, metrics, ...parts }: AdmissionParts,
): AdmissionChain {
  const plugins = orderedPlugins({
    authorizer,
    resourceOf(kind) {
      const resource = resources.resourceOf(kind);
      const found = resource === undefined ? undefined : resources.find(kind.group, kind.version, resource);
      return found && { resource: found.resource.resource, namespaced: found.definition.namespaced };
    },
    // Their settings come from --admission-control-config-file, which is not read yet.
    nodeSelectors: {},
    podSecurity: { ...NO_POD_SECURITY, recorder: podSecurityMetrics(metrics) },
    tolerationLists: { default: [], whitelist: [] },
    serviceAccount: { nameSuffix, wait },
    tolerationSeconds: {
      notReady: admission.defaultNotReadyTolerationSeconds,
      unreachable: admission.defaultUnreachableTolerationSeconds,
    },
    validatingPolicy: {
      source: followPolicies({
        policies: resources.store({ group: POLICY_GROUP, resource: 'validatingadmissionpolicies' }),
        bindings: resources.store({ group: POLICY_GROUP, resource: 'validatingadmissionpolicybindings' }),
        compiler: parts.policyCompiler,
        signal: parts.stopping,
        log: (message) => parts.log.warning(message),
        wait,
      }),
      served: servedResources(resources),
      recorder: policyMetrics(metrics),
    },
  });
  const enabled: ReadonlySet<string> = enabledAdmissionPlugins(admission);
  return createChain(
    plugins.filter(({ name }) => enabled.has(name)),
    admissionMetrics(metrics),
  );
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
