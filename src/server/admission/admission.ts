import { setTimeout as wait } from 'node:timers/promises';
import { conditionMetrics } from '../../admission/condition-metrics.js';
import { createChain } from '../../admission/chain.js';
import { admissionMetrics } from '../../admission/metrics.js';
import { orderedPlugins } from '../../admission/ordered-plugins.js';
import type { AdmissionChain } from '../../admission/plugin.js';
import type { ImagePolicyParts } from '../../admission/plugins/image-policy-webhook.js';
import { NO_POD_SECURITY } from '../../admission/plugins/pod-security.js';
import { podSecurityMetrics } from '../../admission/pod-security/metrics.js';
import type { Authorizer } from '../../authz/authorizer.js';
import type { PolicyCompiler } from '../../cel/compiled-policy.js';
import type { ImagePolicyConfig } from '../../config/admission/image-policy.js';
import { loadAdmissionSettings } from '../../config/admission/load.js';
import { identityIn } from '../../config/admission/webhook-users.js';
import { clientOf } from '../../config/client-config.js';
import type { WorkerPool } from '../../lib/async/worker-pool.js';
import type { Logger } from '../../lib/telemetry/log.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import { enabledAdmissionPlugins } from '../../options/admission-plugins.js';
import type { Options } from '../../options/options.js';
import { admissionPolicies } from './admission-policies.js';
import type { Dialers } from '../outgoing/dialers.js';
import type { Loopback } from '../outgoing/loopback.js';
import { PostStartHookError } from '../lifecycle/post-start-hooks.js';
import { REVIEWING_PLUGINS } from './internal-write-admission.js';
import { nameSuffix } from '../kinds/name-suffix.js';
import type { Resources } from '../kinds/resources.js';
import { servedResources } from './served-resources.js';
import { buildWebhooks } from './webhooks.js';
import { restClientMetrics } from '../metrics/rest-client-metrics.js';

export interface AdmissionParts {
  readonly resources: Resources;
  readonly authorizer: Authorizer;
  readonly metrics: MetricRegistry;
  readonly policyCompiler: PolicyCompiler;
  readonly dialers: Dialers;
  /** The server as a client of itself. */
  readonly itself: Loopback['client'];
  readonly stopping: AbortSignal;
  readonly log: Logger;
  readonly workers: WorkerPool;
}

export interface WiredAdmission {
  /** For what clients write. */
  readonly chain: AdmissionChain;
  /** For what the server writes. */
  readonly reviewing: AdmissionChain;
}

/** The plugins the flags enable, in their order. */
export function buildAdmission(
  { admission, misc, featureGates }: Pick<Options, 'admission' | 'misc' | 'featureGates'>,
  { resources, authorizer, metrics, ...parts }: AdmissionParts,
): WiredAdmission {
  const enabled: ReadonlySet<string> = enabledAdmissionPlugins(admission);
  if (featureGates.enabled(MUTATING_POLICY) && enabled.has(MUTATING_POLICY)) refuseUnservedPolicies(resources);
  const settings = loadAdmissionSettings(admission.admissionControlConfigFile, enabled);
  const conditions = conditionMetrics(metrics);
  const plugins = orderedPlugins({
    authorizer,
    resourceOf(kind) {
      const resource = resources.resourceOf(kind);
      const found = resource === undefined ? undefined : resources.find(kind.group, kind.version, resource);
      return found && { resource: found.resource.resource, namespaced: found.definition.namespaced };
    },
    ...settings,
    imagePolicy: settings.imagePolicy && imagePolicyParts(settings.imagePolicy, { metrics, ...parts }),
    podSecurity: { ...(settings.podSecurity ?? NO_POD_SECURITY), recorder: podSecurityMetrics(metrics) },
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
      identities: {
        mutating: identityIn(settings.mutatingHookUsers),
        validating: identityIn(settings.validatingHookUsers),
      },
      metrics,
      conditionMetrics: conditions,
      wait,
    }),
  });
  const observer = admissionMetrics(metrics);
  const enabledPlugins = plugins.filter(({ name }) => enabled.has(name));
  const reviewing = enabledPlugins.filter(({ name }) => REVIEWING_PLUGINS.has(name));
  return { chain: createChain(enabledPlugins, observer), reviewing: createChain(reviewing, observer) };
}

const MUTATING_POLICY = 'MutatingAdmissionPolicy';
const FOLLOWED = ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'];

/**
 * Policies are followed in the version that the plugin knows. Where that is not served nobody can write anything, as
 * the plugin never gets ready, and the first step of the start that writes ends the server.
 */
function refuseUnservedPolicies(resources: Resources): void {
  const unserved = FOLLOWED.find(
    (name) => resources.find('admissionregistration.k8s.io', 'v1beta1', name) === undefined,
  );
  if (unserved === undefined) return;
  throw new PostStartHookError(
    'scheduling/bootstrap-system-priority-classes',
    `${MUTATING_POLICY} would never be ready: ${unserved} of admissionregistration.k8s.io/v1beta1 are not served (--runtime-config)`,
  );
}

/** The backend is one of the control plane's own. */
function imagePolicyParts(
  { server, ...settings }: ImagePolicyConfig,
  { dialers, metrics, log }: Pick<AdmissionParts, 'dialers' | 'metrics' | 'log'>,
): ImagePolicyParts {
  return {
    settings: { ...settings, client: clientOf(server, dialers.controlplane), server: server.server },
    nowMs: Date.now,
    random: Math.random,
    wait,
    log,
    observe: restClientMetrics(metrics),
  };
}
