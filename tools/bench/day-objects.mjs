// The objects of an ordinary day in a cluster, of the sizes that they usually have.
const WHEN = '2026-01-01T00:00:00Z';

/** A time that differs with each number. */
const at = (n, fraction = '') =>
  new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString().replace('.000Z', `${fraction}Z`);

export const lease = (i, n, resourceVersion) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: `n${i}`, ...(resourceVersion !== undefined && { resourceVersion }) },
  spec: { holderIdentity: `n${i}`, leaseDurationSeconds: 40, renewTime: at(n, '.000000') },
});

export const node = (i) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: `n${i}`,
    labels: {
      'kubernetes.io/hostname': `n${i}`,
      'kubernetes.io/os': 'linux',
      'topology.kubernetes.io/zone': `z${i % 3}`,
    },
  },
  spec: { podCIDR: `10.${(i >> 8) & 255}.${i & 255}.0/24` },
});

export const nodeStatus = (n) => ({
  status: {
    capacity: { cpu: '8', memory: '32Gi', pods: '110' },
    allocatable: { cpu: '7800m', memory: '30Gi', pods: '110' },
    conditions: ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => ({
      type,
      status: type === 'Ready' ? 'True' : 'False',
      reason: 'Kubelet',
      message: 'kubelet says so',
      lastHeartbeatTime: at(n),
      lastTransitionTime: WHEN,
    })),
    images: Array.from({ length: 20 }, (_, k) => ({
      names: [`images.test/team/image-${k}@sha256:${String(k).repeat(64).slice(0, 64)}`, `images.test/team/${k}:1`],
      sizeBytes: 10_000_000 + k,
    })),
    nodeInfo: {
      machineID: 'm',
      systemUUID: 'u',
      bootID: 'b',
      kernelVersion: '6.12',
      osImage: 'Linux',
      containerRuntimeVersion: 'containerd://2.0',
      kubeletVersion: 'v1.34.0',
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
  },
});

export const pod = (name, nodeName) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    labels: { app: `app${name.length % 7}`, 'pod-template-hash': '5d4f8c7b6' },
    annotations: { 'team.test/owner': 'a-team', 'team.test/about': 'x'.repeat(200) },
  },
  spec: {
    ...(nodeName !== undefined && { nodeName }),
    automountServiceAccountToken: false,
    containers: [0, 1].map((c) => ({
      name: `c${c}`,
      image: `images.test/team/image-${c}:1`,
      env: [1, 2, 3].map((e) => ({ name: `E${e}`, value: 'v'.repeat(30) })),
      ports: [{ containerPort: 8080 + c }],
      resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
      readinessProbe: { httpGet: { path: '/ready', port: 8080 } },
    })),
  },
});

export const binding = (name, nodeName) => ({
  apiVersion: 'v1',
  kind: 'Binding',
  metadata: { name },
  target: { kind: 'Node', name: nodeName },
});

export const podStatus = (phase) => ({
  status: {
    phase,
    conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
      type,
      status: 'True',
      lastTransitionTime: WHEN,
    })),
    podIP: '10.1.2.3',
    podIPs: [{ ip: '10.1.2.3' }],
    hostIP: '10.0.0.1',
    startTime: WHEN,
    containerStatuses: [0, 1].map((c) => ({
      name: `c${c}`,
      image: 'i',
      imageID: 'i@sha256:0',
      ready: phase === 'Running',
      restartCount: 0,
      started: true,
      state: { running: { startedAt: WHEN } },
    })),
  },
});

export const event = (name) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { generateName: 'e-' },
  involvedObject: { kind: 'Pod', namespace: 'day', name, apiVersion: 'v1' },
  reason: 'Started',
  message: 'something happened to a pod, and here is what',
  type: 'Normal',
  source: { component: 'kubelet' },
  firstTimestamp: WHEN,
  lastTimestamp: WHEN,
  count: 1,
});

export const slice = (i, nodes) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: `s${i}`, labels: { 'kubernetes.io/service-name': `svc${i}` }, annotations: { sent: '0' } },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
  endpoints: Array.from({ length: 20 }, (_, k) => ({
    addresses: [`10.9.${i % 250}.${k + 1}`],
    conditions: { ready: true },
    nodeName: `n${k % nodes}`,
    targetRef: { kind: 'Pod', name: `p${k}`, namespace: 'day' },
  })),
});

export const service = (i) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: `svc${i}` },
  spec: { clusterIP: 'None', ports: [{ port: 80 }], selector: { app: `app${i}` } },
});
