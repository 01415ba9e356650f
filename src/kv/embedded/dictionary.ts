// Text that most objects contain: the store's compression finds it here, so that an object of a kilobyte shrinks though
// it repeats little of itself. Pieces are written as the server encodes them, the most frequent last, and each word once:
// the engine goes over the whole dictionary for each value that it writes.
//
// A folder keeps the dictionary it was made with (value-compression.ts), so this one may be changed at any time.

const UID = '00000000-0000-4000-8000-000000000000';
const TIME = '2026-01-01T00:00:00Z';

export const dictionaryText = (): string => TYPICAL.map((piece) => JSON.stringify(piece)).join('');

const CONTAINER = {
  name: 'app',
  image: '',
  ports: [{ containerPort: 80 }],
  env: [{ name: '', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }, value: '' }],
  resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
  volumeMounts: [
    { name: 'kube-api-access-', readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
  ],
  livenessProbe: {
    httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' },
    initialDelaySeconds: 10,
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  },
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
  securityContext: { capabilities: { drop: ['ALL'] }, runAsNonRoot: true, allowPrivilegeEscalation: false },
};
const POD_SPEC = {
  volumes: [
    {
      name: 'kube-api-access-',
      projected: {
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          { downwardAPI: { items: [{ path: 'namespace', fieldRef: {} }] } },
        ],
        defaultMode: 420,
      },
    },
  ],
  containers: [CONTAINER],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  serviceAccountName: 'default',
  serviceAccount: 'default',
  nodeName: 'node-1',
  securityContext: {},
  schedulerName: 'default-scheduler',
  tolerations: [
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    { key: 'node.kubernetes.io/unreachable' },
  ],
  priority: 0,
  enableServiceLinks: true,
  preemptionPolicy: 'PreemptLowerPriority',
};
const POD_STATUS = {
  phase: 'Running',
  conditions: [{ type: 'PodReadyToStartContainers', status: 'True', lastProbeTime: null, lastTransitionTime: TIME }],
  hostIP: '10.0.0.1',
  hostIPs: [{ ip: '10.0.0.1' }],
  podIP: '10.0.0.1',
  startTime: TIME,
  qosClass: 'Burstable',
};
const OWNED_POD_SPEC = {
  'f:containers': {
    'k:{"name":"app"}': {
      '.': {},
      'f:env': {},
      'f:image': {},
      'f:imagePullPolicy': {},
      'f:name': {},
      'f:ports': {},
      'f:resources': { '.': {}, 'f:limits': { '.': {}, 'f:cpu': {}, 'f:memory': {} }, 'f:requests': {} },
      'f:terminationMessagePath': {},
      'f:terminationMessagePolicy': {},
      'f:volumeMounts': {},
    },
  },
  'f:dnsPolicy': {},
  'f:enableServiceLinks': {},
  'f:restartPolicy': {},
  'f:schedulerName': {},
  'f:securityContext': {},
  'f:serviceAccountName': {},
  'f:terminationGracePeriodSeconds': {},
};
const OWNED = {
  labels: { app: 'app', 'app.kubernetes.io/name': 'app', 'pod-template-hash': '' },
  annotations: {},
  ownerReferences: [
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: '', uid: UID, controller: true, blockOwnerDeletion: true },
  ],
};
const OWNED_METADATA = {
  'f:annotations': { '.': {}, 'f:kubectl.kubernetes.io/last-applied-configuration': {} },
  'f:generateName': {},
  'f:labels': { '.': {}, 'f:app': {}, 'f:pod-template-hash': {} },
  'f:ownerReferences': { '.': {}, 'k:{"uid":"': {} },
};
const CONFIG_MAP = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: {
    name: 'config',
    generateName: 'config-',
    namespace: 'kube-system',
    uid: UID,
    creationTimestamp: TIME,
    managedFields: [
      {
        manager: 'kubectl',
        operation: 'Update',
        apiVersion: 'v1',
        time: TIME,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { '.': {}, 'f:config': {} }, 'f:metadata': {} },
        subresource: 'status',
      },
    ],
  },
  data: {},
};

const TYPICAL: readonly object[] = [
  OWNED_POD_SPEC,
  { kind: 'Pod', spec: POD_SPEC, status: POD_STATUS },
  OWNED,
  OWNED_METADATA,
  { kind: 'Secret', type: 'Opaque' },
  CONFIG_MAP,
];
