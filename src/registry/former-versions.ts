// Versions that are served no more: objects may still lie in them in a store, and a webhook's patch may name them.
// kube-apiserver still has their types. Here they are read as the version that is kept, where their fields are the same.

/** How a version that is served no more is read; `undefined` where there is no such version, or it had other fields. */
export function formerVersion(kind: string, apiVersion: string): 'same-json' | 'same-protobuf' | undefined {
  if (SAME_JSON[apiVersion]?.includes(kind) === true) return 'same-json';
  return SAME_PROTOBUF[apiVersion]?.includes(kind) === true ? 'same-protobuf' : undefined;
}

type KindsByVersion = Readonly<Record<string, readonly string[]>>;

const POLICIES = ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'];
const MUTATING_POLICIES = ['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'];

/** Names of members and numbers of fields mean what they mean in the version that is kept. */
const SAME_JSON: KindsByVersion = {
  'admissionregistration.k8s.io/v1beta1': [
    'MutatingWebhookConfiguration',
    'ValidatingWebhookConfiguration',
    ...POLICIES,
    ...MUTATING_POLICIES,
  ],
  'admissionregistration.k8s.io/v1alpha1': [...POLICIES, ...MUTATING_POLICIES],
  'apiregistration.k8s.io/v1beta1': ['APIService'],
  'apps/v1beta1': ['ControllerRevision', 'Deployment', 'StatefulSet'],
  'apps/v1beta2': ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'],
  'autoscaling/v2beta2': ['HorizontalPodAutoscaler'],
  'batch/v1beta1': ['CronJob'],
  'certificates.k8s.io/v1beta1': ['CertificateSigningRequest'],
  'coordination.k8s.io/v1beta1': ['Lease'],
  'events.k8s.io/v1beta1': ['Event'],
  'extensions/v1beta1': ['DaemonSet', 'Deployment', 'NetworkPolicy', 'ReplicaSet'],
  'flowcontrol.apiserver.k8s.io/v1beta1': ['FlowSchema'],
  'flowcontrol.apiserver.k8s.io/v1beta2': ['FlowSchema'],
  'flowcontrol.apiserver.k8s.io/v1beta3': ['FlowSchema'],
  'networking.k8s.io/v1beta1': ['IngressClass'],
  'node.k8s.io/v1beta1': ['RuntimeClass'],
  'policy/v1beta1': ['PodDisruptionBudget'],
  'rbac.authorization.k8s.io/v1alpha1': ['ClusterRole', 'Role'],
  'rbac.authorization.k8s.io/v1beta1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  'scheduling.k8s.io/v1alpha1': ['PriorityClass'],
  'scheduling.k8s.io/v1beta1': ['PriorityClass'],
  'storage.k8s.io/v1alpha1': ['CSIStorageCapacity', 'VolumeAttachment', 'VolumeAttributesClass'],
  'storage.k8s.io/v1beta1': [
    'CSIDriver',
    'CSINode',
    'CSIStorageCapacity',
    'StorageClass',
    'VolumeAttachment',
    'VolumeAttributesClass',
  ],
};

/** Members had other names. */
const SAME_PROTOBUF: KindsByVersion = {
  'discovery.k8s.io/v1beta1': ['EndpointSlice'],
  'flowcontrol.apiserver.k8s.io/v1beta1': ['PriorityLevelConfiguration'],
  'flowcontrol.apiserver.k8s.io/v1beta2': ['PriorityLevelConfiguration'],
  'flowcontrol.apiserver.k8s.io/v1beta3': ['PriorityLevelConfiguration'],
};
