import { conditionMetrics } from '../admission/condition-metrics.js';
import { createChain } from '../admission/chain.js';
import { admissionMetrics } from '../admission/metrics.js';
import { orderedPlugins } from '../admission/ordered-plugins.js';
import type { AdmissionChain } from '../admission/plugin.js';
import { NO_POD_SECURITY } from '../admission/plugins/pod-security.js';
import { podSecurityMetrics } from '../admission/pod-security/metrics.js';
import type { HookIdentity } from '../admission/webhooks/hook-clients.js';
import type { Authorizer } from '../authz/authorizer.js';
import type { PolicyCompiler } from '../cel/compiled-policy.js';
import type { Logger } from '../lib/log.js';
import type { MetricRegistry } from '../lib/metrics.js';
import { enabledAdmissionPlugins } from '../options/admission-plugins.js';
import type { Options } from '../options/options.js';
import { admissionPolicies } from './admission-policies.js';
import type { Dialers } from './dialers.js';
import { nameSuffix, type Resources } from './resources.js';
import { servedResources } from './served-resources.js';
import { buildWebhooks } from './webhooks.js';

export interface AdmissionParts {
  readonly resources: Resources;
  readonly authorizer: Authorizer;
  readonly metrics: MetricRegistry;
  readonly policyCompiler: PolicyCompiler;
  readonly dialers: Dialers;
  readonly stopping: AbortSignal;
  readonly log: Logger;
}

/** The plugins the flags turn on, in their order. */
export function buildAdmission(
  { admission, misc }: Pick<Options, 'admission' | 'misc'>,
  { resources, authorizer, metrics, ...parts }: AdmissionParts,
): AdmissionChain {
  const conditions = conditionMetrics(metrics);
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
    ...admissionPolicies({ resources, metrics, conditions, wait, ...parts }),
    webhooks: buildWebhooks({
      ...parts,
      configurations: (resource) => resources.store({ group: 'admissionregistration.k8s.io', resource }),
      served: servedResources(resources),
      lookup: resources.lookup,
      authorizer,
      compiler: parts.policyCompiler,
      byEndpoints: misc.enableAggregatorRouting,
      identities: { mutating: () => ANONYMOUS, validating: () => ANONYMOUS },
      metrics,
      conditionMetrics: conditions,
      wait,
    }),
  });
  const enabled: ReadonlySet<string> = enabledAdmissionPlugins(admission);
  return createChain(
    plugins.filter(({ name }) => enabled.has(name)),
    admissionMetrics(metrics),
  );
}

const ANONYMOUS: HookIdentity = { headers: {}, tls: {} };

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
