// What most objects say: the store's compression finds it here, so that an object of a kilobyte shrinks though it repeats
// little of itself. Objects are written as the server prints them, those that a cluster has most of last.
//
// A folder keeps the dictionary it was made with (value-compression.ts), so this one may be changed at any time.

const UID = '00000000-0000-4000-8000-000000000000';
const TIME = '2026-01-01T00:00:00Z';

export const dictionaryText = (): string => TYPICAL.map((object) => JSON.stringify(object)).join('');

const meta = (names: object, fields: object): object => ({
  ...names,
  namespace: 'kube-system',
  uid: UID,
  creationTimestamp: TIME,
  ...fields,
});

const written = (manager: string, apiVersion: string, fieldsV1: object, rest: object = {}): object => ({
  manager,
  operation: 'Update',
  apiVersion,
  time: TIME,
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...rest,
});

const STATUS = { subresource: 'status' };
const OWNED_CONDITION = { '.': {}, 'f:lastProbeTime': {}, 'f:lastTransitionTime': {}, 'f:status': {}, 'f:type': {} };
const OWNED_PROBE = {
  '.': {},
  'f:failureThreshold': {},
  'f:httpGet': { '.': {}, 'f:path': {}, 'f:port': {}, 'f:scheme': {} },
  'f:initialDelaySeconds': {},
  'f:periodSeconds': {},
  'f:successThreshold': {},
  'f:timeoutSeconds': {},
};
const OWNED_CONTAINER = {
  '.': {},
  'f:args': {},
  'f:command': {},
  'f:env': { '.': {}, 'k:{"name":"A"}': { '.': {}, 'f:name': {}, 'f:value': {}, 'f:valueFrom': { '.': {} } } },
  'f:envFrom': {},
  'f:image': {},
  'f:imagePullPolicy': {},
  'f:livenessProbe': OWNED_PROBE,
  'f:name': {},
  'f:ports': {
    '.': {},
    'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {}, 'f:name': {}, 'f:protocol': {} },
  },
  'f:readinessProbe': {},
  'f:resources': {
    '.': {},
    'f:limits': { '.': {}, 'f:cpu': {}, 'f:memory': {} },
    'f:requests': { '.': {}, 'f:cpu': {}, 'f:memory': {} },
  },
  'f:securityContext': { '.': {}, 'f:allowPrivilegeEscalation': {}, 'f:capabilities': { '.': {}, 'f:drop': {} } },
  'f:terminationMessagePath': {},
  'f:terminationMessagePolicy': {},
  'f:volumeMounts': { '.': {}, 'k:{"mountPath":"/"}': { '.': {}, 'f:mountPath': {}, 'f:name': {}, 'f:readOnly': {} } },
};
const OWNED_POD_SPEC = {
  'f:affinity': {},
  'f:automountServiceAccountToken': {},
  'f:containers': { 'k:{"name":"app"}': OWNED_CONTAINER },
  'f:dnsPolicy': {},
  'f:enableServiceLinks': {},
  'f:nodeName': {},
  'f:nodeSelector': {},
  'f:priorityClassName': {},
  'f:restartPolicy': {},
  'f:schedulerName': {},
  'f:securityContext': {},
  'f:serviceAccount': {},
  'f:serviceAccountName': {},
  'f:terminationGracePeriodSeconds': {},
  'f:tolerations': {},
  'f:volumes': {
    '.': {},
    'k:{"name":"config"}': { '.': {}, 'f:configMap': { '.': {}, 'f:defaultMode': {}, 'f:name': {} }, 'f:name': {} },
  },
};

const PROBE = {
  httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' },
  initialDelaySeconds: 10,
  timeoutSeconds: 1,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3,
};
const CONTAINER = {
  name: 'app',
  image: 'registry.example.com/app:v1.0.0',
  command: ['/bin/sh', '-c'],
  args: ['--v=2'],
  ports: [{ name: 'http', containerPort: 80, protocol: 'TCP' }],
  env: [
    { name: 'POD_NAME', value: 'true' },
    { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } } },
    { name: 'SECRET', valueFrom: { secretKeyRef: { name: 'secret', key: 'password' } } },
  ],
  resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
  volumeMounts: [
    { name: 'config', mountPath: '/etc/config' },
    { name: 'kube-api-access-00000', readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
  ],
  livenessProbe: PROBE,
  readinessProbe: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
  securityContext: {
    capabilities: { drop: ['ALL'] },
    runAsNonRoot: true,
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
  },
};
const POD_SPEC = {
  volumes: [
    { name: 'config', configMap: { name: 'config', defaultMode: 420 } },
    { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'tmp', emptyDir: {} },
    {
      name: 'kube-api-access-00000',
      projected: {
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          {
            downwardAPI: {
              items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
            },
          },
        ],
        defaultMode: 420,
      },
    },
  ],
  containers: [CONTAINER],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  serviceAccountName: 'default',
  serviceAccount: 'default',
  automountServiceAccountToken: false,
  nodeName: 'node-1',
  securityContext: {},
  schedulerName: 'default-scheduler',
  tolerations: [
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
  ],
  priority: 0,
  enableServiceLinks: true,
  preemptionPolicy: 'PreemptLowerPriority',
};
const condition = (type: string): object => ({ type, status: 'True', lastProbeTime: null, lastTransitionTime: TIME });
const LABELS = {
  app: 'app',
  'app.kubernetes.io/component': 'web',
  'app.kubernetes.io/instance': 'app',
  'app.kubernetes.io/managed-by': 'Helm',
  'app.kubernetes.io/name': 'app',
  'app.kubernetes.io/version': '1.0.0',
  'helm.sh/chart': 'app-1.0.0',
  'pod-template-hash': '0000000000',
};
const OWNED_META = {
  'f:annotations': { '.': {}, 'f:kubectl.kubernetes.io/last-applied-configuration': {} },
  'f:generateName': {},
  'f:labels': { '.': {}, 'f:app': {}, 'f:app.kubernetes.io/name': {}, 'f:k8s-app': {}, 'f:pod-template-hash': {} },
  'f:ownerReferences': { '.': {}, 'k:{"uid":"': {} },
};
const owner = (apiVersion: string, kind: string): object => ({
  apiVersion,
  kind,
  name: 'app-0000000000',
  uid: UID,
  controller: true,
  blockOwnerDeletion: true,
});

const TYPICAL: readonly object[] = [
  // Of these, what is theirs alone.
  {
    'f:count': {},
    'f:firstTimestamp': {},
    'f:involvedObject': {},
    'f:lastTimestamp': {},
    'f:message': {},
    'f:reason': {},
    'f:reportingComponent': {},
    'f:reportingInstance': {},
    'f:source': { 'f:component': {}, 'f:host': {} },
    'f:type': {},
  },
  {
    kind: 'Event',
    apiVersion: 'v1',
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'app', uid: '' },
    reason: 'Scheduled',
    message: '',
    source: { component: 'kubelet', host: 'node-1' },
    firstTimestamp: TIME,
    lastTimestamp: TIME,
    count: 1,
    type: 'Normal',
    eventTime: null,
    reportingComponent: 'kubelet',
    reportingInstance: 'node-1',
  },
  {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    labels: {
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      'kubernetes.io/service-name': 'app',
    },
    addressType: 'IPv4',
    endpoints: [
      {
        addresses: ['10.0.0.1'],
        conditions: { ready: true, serving: true, terminating: false },
        targetRef: { kind: 'Pod', namespace: 'default' },
      },
    ],
    ports: [{ name: 'http', protocol: 'TCP', port: 80 }],
  },
  {
    'f:internalTrafficPolicy': {},
    'f:ports': { '.': {}, 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {}, 'f:targetPort': {} } },
    'f:selector': {},
    'f:sessionAffinity': {},
    'f:type': {},
  },
  {
    kind: 'Service',
    apiVersion: 'v1',
    spec: {
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 'http' }],
      selector: { app: 'app' },
      clusterIP: '10.0.0.1',
      clusterIPs: ['10.0.0.1'],
      type: 'ClusterIP',
      sessionAffinity: 'None',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
    },
    status: { loadBalancer: {} },
  },
  {
    'f:spec': {
      'f:progressDeadlineSeconds': {},
      'f:replicas': {},
      'f:revisionHistoryLimit': {},
      'f:selector': {},
      'f:strategy': { 'f:rollingUpdate': { '.': {}, 'f:maxSurge': {}, 'f:maxUnavailable': {} }, 'f:type': {} },
      'f:template': { 'f:metadata': { 'f:labels': { '.': {} } } },
    },
    'f:status': {
      'f:availableReplicas': {},
      'f:fullyLabeledReplicas': {},
      'f:observedGeneration': {},
      'f:readyReplicas': {},
      'f:replicas': {},
      'f:updatedReplicas': {},
    },
  },
  {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    annotations: {
      'deployment.kubernetes.io/desired-replicas': '1',
      'deployment.kubernetes.io/max-replicas': '2',
      'deployment.kubernetes.io/revision': '1',
      'kubectl.kubernetes.io/last-applied-configuration':
        '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{},"name":"',
    },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'app' } },
      template: { metadata: {} },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    },
    status: {
      observedGeneration: 1,
      replicas: 1,
      updatedReplicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
      conditions: [{ type: 'Available', status: 'True', lastUpdateTime: TIME, reason: '', message: '' }],
    },
  },
  { 'f:spec': { 'f:holderIdentity': {}, 'f:leaseDurationSeconds': {}, 'f:renewTime': {} } },
  {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    spec: { holderIdentity: 'node-1', leaseDurationSeconds: 40, renewTime: '2026-01-01T00:00:00.000000Z' },
  },
  // These whole, as they are printed.
  {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: meta(
      { name: 'app-0000000000-00000', generateName: 'app-0000000000-' },
      {
        labels: LABELS,
        ownerReferences: [owner('apps/v1', 'ReplicaSet')],
        managedFields: [
          written('kube-controller-manager', 'v1', { 'f:metadata': OWNED_META, 'f:spec': OWNED_POD_SPEC }),
          written(
            'kubelet',
            'v1',
            {
              'f:status': {
                'f:conditions': {
                  '.': {},
                  'k:{"type":"ContainersReady"}': OWNED_CONDITION,
                  'k:{"type":"Initialized"}': {},
                  'k:{"type":"Ready"}': {},
                },
                'f:containerStatuses': {},
                'f:hostIP': {},
                'f:hostIPs': {},
                'f:phase': {},
                'f:podIP': {},
                'f:podIPs': {},
                'f:startTime': {},
              },
            },
            STATUS,
          ),
        ],
      },
    ),
    spec: POD_SPEC,
    status: {
      phase: 'Running',
      conditions: ['PodReadyToStartContainers', 'PodScheduled'].map(condition),
      hostIP: '10.0.0.1',
      hostIPs: [{ ip: '10.0.0.1' }],
      podIP: '10.0.0.1',
      podIPs: [{ ip: '10.0.0.1' }],
      startTime: TIME,
      containerStatuses: [
        {
          name: 'app',
          state: { running: { startedAt: TIME } },
          lastState: {},
          ready: true,
          restartCount: 0,
          image: 'registry.example.com/app:v1.0.0',
          imageID: 'registry.example.com/app@sha256:',
          containerID: 'containerd://',
          started: true,
        },
      ],
      qosClass: 'Burstable',
    },
  },
  {
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: meta(
      { name: 'token' },
      { managedFields: [written('kubectl-create', 'v1', { 'f:data': { '.': {}, 'f:token': {} }, 'f:type': {} })] },
    ),
    data: {},
    type: 'Opaque',
  },
  {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: meta(
      { name: 'config', generateName: 'config-' },
      {
        managedFields: [
          written('kubectl-client-side-apply', 'v1', { 'f:data': { '.': {}, 'f:config': {} }, 'f:metadata': {} }),
        ],
      },
    ),
    data: {},
  },
];
