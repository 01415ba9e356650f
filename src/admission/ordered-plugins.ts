// Every admission plugin, in the order they run. Enabling one does not change its place.
import type { Authorizer } from '../authz/authorizer.js';
import type { AdmissionPlugin } from './plugin.js';
import {
  type HookPluginParts,
  mutatingAdmissionWebhook,
  validatingAdmissionWebhook,
} from './plugins/admission-webhooks.js';
import { alwaysAdmit } from './plugins/always-admit.js';
import { alwaysDeny } from './plugins/always-deny.js';
import { alwaysPullImages } from './plugins/always-pull-images.js';
import { certificateApproval } from './plugins/certificate-approval.js';
import { certificateSigning } from './plugins/certificate-signing.js';
import { certificateSubjectRestriction } from './plugins/certificate-subject-restriction.js';
import { clusterTrustBundleAttest } from './plugins/cluster-trust-bundle-attest.js';
import { defaultIngressClass } from './plugins/default-ingress-class.js';
import { defaultStorageClass } from './plugins/default-storage-class.js';
import { defaultTolerationSeconds, type TolerationSeconds } from './plugins/default-toleration-seconds.js';
import { denyServiceExternalIPs } from './plugins/deny-service-external-ips.js';
import { eventRateLimit, type EventLimit } from './plugins/event-rate-limit.js';
import { extendedResourceToleration } from './plugins/extended-resource-toleration.js';
import { type ImagePolicyParts, imagePolicyWebhook } from './plugins/image-policy-webhook.js';
import { limitPodHardAntiAffinityTopology } from './plugins/limit-pod-hard-anti-affinity-topology.js';
import { limitRanger } from './plugins/limit-ranger.js';
import { mutatingAdmissionPolicy, type MutatingPolicyParts } from './plugins/mutating-admission-policy.js';
import { namespaceAutoProvision } from './plugins/namespace-auto-provision.js';
import { namespaceExists } from './plugins/namespace-exists.js';
import { namespaceLifecycle } from './plugins/namespace-lifecycle.js';
import { nodeRestriction } from './plugins/node-restriction.js';
import {
  ownerReferencesPermissionEnforcement,
  type OwnerReferencesParts,
} from './plugins/owner-references-permission-enforcement.js';
import { persistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize.js';
import { type NodeSelectors, podNodeSelector } from './plugins/pod-node-selector.js';
import { podSecurity, type PodSecurityOptions } from './plugins/pod-security.js';
import { podTolerationRestriction, type TolerationLists } from './plugins/pod-toleration-restriction.js';
import { podTopologyLabels } from './plugins/pod-topology-labels.js';
import { priority } from './plugins/priority.js';
import { resourceQuota } from './plugins/resource-quota.js';
import { runtimeClass } from './plugins/runtime-class.js';
import { serviceAccount, type ServiceAccountOptions } from './plugins/service-account.js';
import { storageObjectInUseProtection } from './plugins/storage-object-in-use-protection.js';
import { taintNodesByCondition } from './plugins/taint-nodes-by-condition.js';
import type { LimitedResource } from './quota/limited.js';
import { validatingAdmissionPolicy, type ValidatingPolicyParts } from './plugins/validating-admission-policy.js';

export interface PluginParts {
  readonly authorizer: Authorizer;
  readonly resourceOf: OwnerReferencesParts['resourceOf'];
  /** Absent where the server has no such policies. */
  readonly mutatingPolicy?: Pick<MutatingPolicyParts, 'source' | 'served' | 'recorder'>;
  readonly eventLimits: readonly EventLimit[];
  /** Absent where the plugin is off: it has no meaning without its backend. */
  readonly imagePolicy?: ImagePolicyParts | undefined;
  readonly limitedResources: readonly LimitedResource[];
  readonly nodeSelectors: NodeSelectors;
  readonly podSecurity: PodSecurityOptions;
  readonly serviceAccount: ServiceAccountOptions;
  readonly tolerationLists: TolerationLists;
  readonly tolerationSeconds: TolerationSeconds;
  readonly webhooks: { readonly mutating: HookPluginParts; readonly validating: HookPluginParts };
  readonly validatingPolicy: Pick<ValidatingPolicyParts, 'source' | 'served' | 'recorder'>;
}

export const orderedPlugins = (parts: PluginParts): readonly AdmissionPlugin[] => [
  alwaysAdmit,
  // Makes a missing namespace before the next ones check that it exists.
  namespaceAutoProvision,
  // Whether there is a namespace at all, before anyone looks into it.
  namespaceLifecycle,
  namespaceExists,
  limitPodHardAntiAffinityTopology,
  limitRanger,
  serviceAccount(parts.serviceAccount),
  nodeRestriction(parts.authorizer),
  taintNodesByCondition,
  alwaysPullImages,
  ...(parts.imagePolicy ? [imagePolicyWebhook(parts.imagePolicy)] : []),
  podSecurity(parts.podSecurity),
  podNodeSelector(parts.nodeSelectors),
  priority,
  // Adds tolerations before the next one says which are allowed.
  defaultTolerationSeconds(parts.tolerationSeconds),
  podTolerationRestriction(parts.tolerationLists),
  eventRateLimit(parts.eventLimits, Date.now),
  extendedResourceToleration,
  defaultStorageClass,
  storageObjectInUseProtection,
  ownerReferencesPermissionEnforcement(parts),
  persistentVolumeClaimResize,
  runtimeClass,
  certificateApproval(parts.authorizer),
  certificateSigning(parts.authorizer),
  clusterTrustBundleAttest(parts.authorizer),
  certificateSubjectRestriction,
  defaultIngressClass,
  denyServiceExternalIPs,
  podTopologyLabels,
  // From here on others than the server itself have a say, on what it has finished:
  ...(parts.mutatingPolicy ? [mutatingAdmissionPolicy({ ...parts, ...parts.mutatingPolicy })] : []),
  mutatingAdmissionWebhook(parts.webhooks.mutating),
  validatingAdmissionPolicy({ ...parts, ...parts.validatingPolicy }),
  validatingAdmissionWebhook(parts.webhooks.validating),
  // Counts what all others let pass, so that nothing that is refused is charged.
  resourceQuota(parts.limitedResources),
  alwaysDeny,
];
