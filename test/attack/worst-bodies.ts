// The most expensive requests that are accepted (or read to the end before they are refused), each in about `bytes` bytes.
import { encode } from 'node:querystring';

export interface AttackRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: string | Buffer;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Attack {
  readonly name: string;
  /** Sent one after another, each waiting for the answer of the one before; every one is measured. */
  readonly requests: (bytes: number) => readonly AttackRequest[];
  /** Only by hand: it is large whatever the bytes. */
  readonly long?: boolean;
}

const CORE = '/api/v1/namespaces/default';
const STRATEGIC = 'application/strategic-merge-patch+json';
const MERGE = 'application/merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const APPLY = 'application/apply-patch+yaml';
const YAML = 'application/yaml';

const named = (apiVersion: string, kind: string, name: string, more: object = {}): object => ({
  apiVersion,
  kind,
  metadata: { name },
  ...more,
});

const post = (path: string, body: object | string, contentType?: string): AttackRequest => ({
  method: 'POST',
  path,
  body: typeof body === 'string' ? body : JSON.stringify(body),
  ...(contentType !== undefined && { contentType }),
});
const put = (path: string, body: object): AttackRequest => ({ method: 'PUT', path, body: JSON.stringify(body) });
const get = (path: string, headers?: Record<string, string>): AttackRequest => ({
  method: 'GET',
  path,
  ...(headers !== undefined && { headers }),
});
const patch = (path: string, contentType: string, body: object | string): AttackRequest => ({
  method: 'PATCH',
  path,
  contentType,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

/** So many items that they encode to about this many bytes. */
function many<T>(bytes: number, item: (i: number) => T): T[] {
  const each = JSON.stringify(item(100_000)).length + 1;
  return Array.from({ length: Math.floor(bytes / each) }, (_, i) => item(i));
}

function manyKeys<T>(bytes: number, key: (i: number) => string, value: (i: number) => T): Record<string, T> {
  return Object.fromEntries(many(bytes - 100, (i) => [key(i), value(i)] as const));
}

const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };

/** Created, written again with all of it changed, patched in each way, applied twice, read and encoded. */
function everyWrite(
  collection: string,
  name: string,
  object: (variant: number) => object,
  options: { readonly strategic?: boolean } = {},
): AttackRequest[] {
  const at = `${collection}/${name}`;
  return [
    post(collection, object(0)),
    put(at, object(1)),
    put(at, object(2)),
    patch(at, MERGE, object(0)),
    ...((options.strategic ?? true) ? [patch(at, STRATEGIC, object(1))] : []),
    patch(`${at}?fieldManager=a&force=true`, APPLY, object(2)),
    patch(`${at}?fieldManager=a&force=true`, APPLY, object(0)),
    patch(`${at}?fieldManager=b&force=true`, APPLY, object(1)),
    patch(`${at}?fieldManager=b`, APPLY, object(0)),
    patch(`${at}?fieldManager=a`, APPLY, named('v1', 'ConfigMap', name)),
    patch(at, MERGE, { metadata: { labels: { a: 'b' } } }),
    get(at, TABLE),
    get(at, { accept: 'application/yaml' }),
    { method: 'DELETE', path: at },
  ];
}

const configMap = (bytes: number, size: string) => (variant: number) =>
  named('v1', 'ConfigMap', 'worst', {
    data: manyKeys(
      bytes,
      (i) => `k${i}`,
      () => `${variant}${size}`,
    ),
  });

const pod = (spec: object, metadata: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'worst', ...metadata },
  spec: { containers: [{ name: 'c', image: 'i' }], automountServiceAccountToken: false, ...spec },
});

const PODS = `${CORE}/pods`;
const CONFIG_MAPS = `${CORE}/configmaps`;

/** Objects whose lists or maps are as long as fits. */
const OBJECTS: readonly (Attack & { readonly requests: (bytes: number) => AttackRequest[] })[] = [
  { name: 'config map of many short keys', requests: (n) => everyWrite(CONFIG_MAPS, 'worst', configMap(n, '')) },
  {
    name: 'config map of fewer longer values',
    requests: (n) => everyWrite(CONFIG_MAPS, 'worst', configMap(n, 'x'.repeat(60))),
  },
  {
    name: 'config map of one line of one value',
    requests: (n) =>
      everyWrite(CONFIG_MAPS, 'worst', (v) =>
        named('v1', 'ConfigMap', 'worst', { data: { a: `${v}${'x'.repeat(n)}` } }),
      ),
  },
  {
    name: 'binary data',
    requests: (n) =>
      everyWrite(CONFIG_MAPS, 'worst', (v) =>
        named('v1', 'ConfigMap', 'worst', {
          binaryData: manyKeys(
            n,
            (i) => `k${i}`,
            () => `AAA${v}`,
          ),
        }),
      ),
  },
  {
    name: 'labels',
    requests: (n) => [
      post(CONFIG_MAPS, {
        ...named('v1', 'ConfigMap', 'x'),
        metadata: {
          name: 'x',
          labels: manyKeys(
            n,
            (i) => `k${i}`,
            () => '',
          ),
        },
      }),
      get(`${CONFIG_MAPS}?labelSelector=k1`),
      { method: 'DELETE', path: `${CONFIG_MAPS}/x` },
    ],
  },
  {
    name: 'finalizers',
    requests: (n) => [
      post(CONFIG_MAPS, {
        ...named('v1', 'ConfigMap', 'x'),
        metadata: { name: 'x', finalizers: many(n, (i) => `a/${i}`) },
      }),
      put(`${CONFIG_MAPS}/x`, {
        ...named('v1', 'ConfigMap', 'x'),
        metadata: { name: 'x', finalizers: many(n, (i) => `b/${i}`) },
      }),
      patch(`${CONFIG_MAPS}/x`, STRATEGIC, { metadata: { finalizers: many(n, (i) => `c/${i}`) } }),
      patch(`${CONFIG_MAPS}/x`, STRATEGIC, {
        metadata: { '$deleteFromPrimitiveList/finalizers': many(n, (i) => `b/${i}`) },
      }),
      patch(`${CONFIG_MAPS}/x`, STRATEGIC, { metadata: { '$setElementOrder/finalizers': many(n, (i) => `b/${i}`) } }),
      patch(`${CONFIG_MAPS}/x`, MERGE, { metadata: { finalizers: null } }),
      { method: 'DELETE', path: `${CONFIG_MAPS}/x` },
    ],
  },
  {
    name: 'owner references',
    requests: (n) => {
      const made = (k: string): object => ({
        ...named('v1', 'ConfigMap', 'x'),
        metadata: {
          name: 'x',
          ownerReferences: many(n, (i) => ({ apiVersion: 'v1', kind: k, name: 'a', uid: `${i}` })),
        },
      });
      return [
        post(CONFIG_MAPS, made('A')),
        put(`${CONFIG_MAPS}/x`, made('B')),
        patch(`${CONFIG_MAPS}/x`, STRATEGIC, made('C')),
        patch(`${CONFIG_MAPS}/x?fieldManager=a&force=true`, APPLY, made('D')),
        patch(`${CONFIG_MAPS}/x?fieldManager=b&force=true`, APPLY, made('E')),
        { method: 'DELETE', path: `${CONFIG_MAPS}/x` },
      ];
    },
  },
  {
    name: 'managed fields: managers',
    requests: (n) => {
      const made = (v: number): object => ({
        ...named('v1', 'ConfigMap', 'x'),
        metadata: {
          name: 'x',
          managedFields: many(n, (i) => ({
            manager: `m${i}-${v}`,
            operation: i % 2 === 0 ? 'Apply' : 'Update',
            apiVersion: 'v1',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:data': { [`f:${i}`]: {} } },
          })),
        },
        data: { a: `${v}` },
      });
      return [
        post(CONFIG_MAPS, made(0)),
        put(`${CONFIG_MAPS}/x`, made(1)),
        patch(`${CONFIG_MAPS}/x?fieldManager=a`, APPLY, named('v1', 'ConfigMap', 'x', { data: { b: 'c' } })),
        { method: 'DELETE', path: `${CONFIG_MAPS}/x` },
      ];
    },
  },
  {
    name: 'managed fields: versions',
    requests: (n) => {
      const made = (v: number): object => ({
        ...named('v1', 'ConfigMap', 'x'),
        metadata: {
          name: 'x',
          managedFields: many(n, (i) => ({
            manager: `m${i}-${v}`,
            operation: 'Apply',
            apiVersion: `v${i}`,
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:data': { [`f:${i}`]: {} } },
          })),
        },
        data: { a: `${v}` },
      });
      return [
        post(CONFIG_MAPS, made(0)),
        put(`${CONFIG_MAPS}/x`, made(1)),
        { method: 'DELETE', path: `${CONFIG_MAPS}/x` },
      ];
    },
  },
  {
    name: 'managed fields: fields',
    requests: (n) => {
      const made = (v: number): object => ({
        ...named('v1', 'ConfigMap', 'x'),
        metadata: {
          name: 'x',
          managedFields: [
            {
              manager: 'm',
              operation: 'Apply',
              apiVersion: 'v1',
              fieldsType: 'FieldsV1',
              fieldsV1: {
                'f:data': manyKeys(
                  n,
                  (i) => `v:${i}`,
                  () => ({}),
                ),
              },
            },
          ],
        },
        data: { a: `${v}` },
      });
      return [
        post(CONFIG_MAPS, made(0)),
        put(`${CONFIG_MAPS}/x`, made(1)),
        { method: 'DELETE', path: `${CONFIG_MAPS}/x` },
      ];
    },
  },
  {
    name: 'pod containers',
    requests: (n) =>
      everyWrite(PODS, 'worst', (v) => pod({ containers: many(n, (i) => ({ name: `c${i}`, image: `i${v}` })) })),
  },
  {
    name: 'pod init containers',
    requests: (n) =>
      everyWrite(PODS, 'worst', (v) =>
        pod({ initContainers: many(n, (i) => ({ name: `c${i}`, image: `i${v}`, restartPolicy: 'Always' })) }),
      ),
  },
  {
    name: 'pod containers of one name',
    requests: (n) => [post(PODS, pod({ containers: many(n, () => ({ name: 'c', image: 'i' })) }))],
  },
  {
    name: 'pod environment',
    requests: (n) =>
      everyWrite(PODS, 'worst', (v) =>
        pod({ containers: [{ name: 'c', image: `i${v}`, env: many(n, (i) => ({ name: `E${i}`, value: 'v' })) }] }),
      ),
  },
  {
    name: 'pod environment of one name',
    requests: (n) =>
      everyWrite(PODS, 'worst', (v) =>
        pod({ containers: [{ name: 'c', image: `i${v}`, env: many(n, () => ({ name: 'E' })) }] }),
      ),
  },
  {
    name: 'pod environment sources',
    requests: (n) =>
      everyWrite(PODS, 'worst', (v) =>
        pod({
          containers: [{ name: 'c', image: `i${v}`, envFrom: many(n, (i) => ({ secretRef: { name: `s${i}` } })) }],
        }),
      ),
  },
  {
    name: 'pod ports',
    requests: (n) =>
      everyWrite(PODS, 'worst', (v) =>
        pod({
          containers: [
            {
              name: 'c',
              image: `i${v}`,
              ports: many(n, (i) => ({ containerPort: (i % 65_535) + 1, hostPort: (i % 65_535) + 1 })),
            },
          ],
          hostNetwork: true,
        }),
      ),
  },
  {
    name: 'pod volumes',
    requests: (n) =>
      everyWrite(PODS, 'worst', (v) =>
        pod({
          containers: [{ name: 'c', image: `i${v}` }],
          volumes: many(n, (i) => ({ name: `v${i}`, emptyDir: {} })),
        }),
      ),
  },
  {
    name: 'pod volumes of other names',
    requests: (n) => {
      const made = (v: number): object => pod({ volumes: many(n, (i) => ({ name: `v${i}-${v}`, emptyDir: {} })) });
      return [post(PODS, made(0)), put(`${PODS}/worst`, made(1)), { method: 'DELETE', path: `${PODS}/worst` }];
    },
  },
  {
    name: 'pod volumes and mounts',
    requests: (n) =>
      everyWrite(PODS, 'worst', (v) =>
        pod({
          containers: [
            { name: 'c', image: `i${v}`, volumeMounts: many(n / 2, (i) => ({ name: `v${i}`, mountPath: `/${i}` })) },
          ],
          volumes: many(n / 2, (i) => ({ name: `v${i}`, emptyDir: {} })),
        }),
      ),
  },
  {
    name: 'pod volumes and mounts, crossed',
    requests: (n) => [
      post(
        PODS,
        pod({
          containers: many(n / 2, (i) => ({
            name: `c${i}`,
            image: 'i',
            volumeMounts: [{ name: `v${i}`, mountPath: '/a' }],
          })),
          volumes: many(n / 2, (i) => ({ name: `v${i}`, emptyDir: {} })),
        }),
      ),
      { method: 'DELETE', path: `${PODS}/worst` },
    ],
  },
  {
    name: 'pod volume items',
    requests: (n) => [
      post(
        PODS,
        pod({
          volumes: [{ name: 'v', configMap: { name: 'c', items: many(n, (i) => ({ key: `${i}`, path: `a/${i}` })) } }],
        }),
      ),
      { method: 'DELETE', path: `${PODS}/worst` },
    ],
  },
  {
    name: 'pod projected volumes',
    requests: (n) => [
      post(
        PODS,
        pod({
          volumes: [
            {
              name: 'v',
              projected: {
                sources: many(n, (i) => ({ configMap: { name: `${i}`, items: [{ key: 'a', path: `b/${i}` }] } })),
              },
            },
          ],
        }),
      ),
      { method: 'DELETE', path: `${PODS}/worst` },
    ],
  },
  {
    name: 'pod tolerations',
    requests: (n) =>
      everyWrite(PODS, 'worst', (v) =>
        pod({
          containers: [{ name: 'c', image: `i${v}` }],
          tolerations: many(n, (i) => ({ key: `k${i}`, operator: 'Exists' })),
        }),
      ),
  },
  {
    name: 'pod host aliases',
    requests: (n) => [
      post(PODS, pod({ hostAliases: many(n, (i) => ({ ip: `10.0.${i % 250}.1`, hostnames: ['a'] })) })),
      { method: 'DELETE', path: `${PODS}/worst` },
    ],
  },
  {
    name: 'pod scheduling gates',
    requests: (n) => [
      post(PODS, pod({ schedulingGates: many(n, (i) => ({ name: `g${i}` })) })),
      { method: 'DELETE', path: `${PODS}/worst` },
    ],
  },
  {
    name: 'pod image pull secrets',
    requests: (n) =>
      everyWrite(PODS, 'worst', (v) =>
        pod({ containers: [{ name: 'c', image: `i${v}` }], imagePullSecrets: many(n, (i) => ({ name: `g${i}` })) }),
      ),
  },
  {
    name: 'pod topology spread',
    requests: (n) => [
      post(
        PODS,
        pod({
          topologySpreadConstraints: many(n, (i) => ({
            maxSkew: 1,
            topologyKey: `k${i}`,
            whenUnsatisfiable: 'DoNotSchedule',
          })),
        }),
      ),
      { method: 'DELETE', path: `${PODS}/worst` },
    ],
  },
  {
    name: 'pod affinity terms',
    requests: (n) => [
      post(
        PODS,
        pod({
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: many(n / 2, (i) => ({ matchExpressions: [{ key: `k${i}`, operator: 'Exists' }] })),
              },
            },
            podAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: many(n / 2, (i) => ({
                topologyKey: `k${i}`,
                labelSelector: {},
              })),
            },
          },
        }),
      ),
      { method: 'DELETE', path: `${PODS}/worst` },
    ],
  },
  {
    name: 'pod resources',
    requests: (n) => [
      post(
        PODS,
        pod({
          containers: [
            {
              name: 'c',
              image: 'i',
              resources: {
                limits: manyKeys(
                  n / 2,
                  (i) => `a.b/k${i}`,
                  () => '1',
                ),
                requests: manyKeys(
                  n / 2,
                  (i) => `a.b/k${i}`,
                  () => '1',
                ),
              },
            },
          ],
        }),
      ),
      { method: 'DELETE', path: `${PODS}/worst` },
    ],
  },
  {
    name: 'pod resource claims',
    requests: (n) => [
      post(
        PODS,
        pod({
          resourceClaims: many(n / 2, (i) => ({ name: `r${i}`, resourceClaimName: 'a' })),
          containers: [{ name: 'c', image: 'i', resources: { claims: many(n / 2, (i) => ({ name: `r${i}` })) } }],
        }),
      ),
      { method: 'DELETE', path: `${PODS}/worst` },
    ],
  },
  {
    name: 'pod sysctls and groups',
    requests: (n) => [
      post(
        PODS,
        pod({
          securityContext: {
            sysctls: many(n / 2, (i) => ({ name: `a.b${i}`, value: '1' })),
            supplementalGroups: many(n / 2, (i) => i),
          },
        }),
      ),
      { method: 'DELETE', path: `${PODS}/worst` },
    ],
  },
  {
    name: 'pod readiness gates, arguments, capabilities',
    requests: (n) => [
      post(
        PODS,
        pod({
          readinessGates: many(n / 3, (i) => ({ conditionType: `a/${i}` })),
          containers: [
            {
              name: 'c',
              image: 'i',
              args: many(n / 3, () => ''),
              securityContext: { capabilities: { add: many(n / 3, (i) => `${i}`) } },
            },
          ],
        }),
      ),
      { method: 'DELETE', path: `${PODS}/worst` },
    ],
  },
  {
    name: 'pod container statuses',
    requests: (n) => {
      const status = {
        containerStatuses: many(n, (i) => ({ name: `c${i}`, image: '', imageID: '', ready: false, restartCount: 0 })),
      };
      return [
        post(PODS, pod({})),
        patch(`${PODS}/worst/status`, STRATEGIC, { status }),
        patch(`${PODS}/worst/status`, STRATEGIC, {
          status: { conditions: many(n, (i) => ({ type: `c${i}`, status: 'True' })) },
        }),
        patch(`${PODS}/worst/status`, STRATEGIC, { status: { podIPs: many(n, (i) => ({ ip: `10.0.${i % 250}.1` })) } }),
        get(`${PODS}/worst`, TABLE),
        get(PODS, TABLE),
        { method: 'DELETE', path: `${PODS}/worst` },
      ];
    },
  },
  {
    name: 'service ports',
    requests: (n) => [
      post(
        `${CORE}/services`,
        named('v1', 'Service', 'x', { spec: { ports: many(n, (i) => ({ name: `p${i}`, port: (i % 65_535) + 1 })) } }),
      ),
      post(
        `${CORE}/services`,
        named('v1', 'Service', 'x', {
          spec: {
            type: 'NodePort',
            ports: many(n, (i) => ({ name: `p${i}`, port: (i % 65_535) + 1, nodePort: 30_000 + (i % 2_700) })),
          },
        }),
      ),
      post(
        `${CORE}/services`,
        named('v1', 'Service', 'x', {
          spec: { type: 'NodePort', ports: many(n, (i) => ({ name: `p${i}`, port: (i % 65_535) + 1 })) },
        }),
      ),
      { method: 'DELETE', path: `${CORE}/services/x` },
    ],
  },
  {
    name: 'service addresses',
    requests: (n) => [
      post(
        `${CORE}/services`,
        named('v1', 'Service', 'x', {
          spec: {
            externalIPs: many(n / 2, (i) => `10.1.${i % 250}.1`),
            loadBalancerSourceRanges: many(n / 2, (i) => `10.1.${i % 250}.0/24`),
            type: 'LoadBalancer',
            ports: [{ port: 1 }],
          },
        }),
      ),
      { method: 'DELETE', path: `${CORE}/services/x` },
    ],
  },
  {
    name: 'service selector',
    requests: (n) => [
      post(
        `${CORE}/services`,
        named('v1', 'Service', 'x', {
          spec: {
            selector: manyKeys(
              n,
              (i) => `k${i}`,
              () => '',
            ),
            ports: [{ port: 1 }],
          },
        }),
      ),
      { method: 'DELETE', path: `${CORE}/services/x` },
    ],
  },
  {
    name: 'endpoints',
    requests: (n) => [
      post(
        `${CORE}/endpoints`,
        named('v1', 'Endpoints', 'x', {
          subsets: [
            {
              addresses: many(n / 2, (i) => ({ ip: `10.${i % 250}.${Math.floor(i / 250) % 250}.1` })),
              ports: many(n / 2, (i) => ({ name: `p${i}`, port: 1 })),
            },
          ],
        }),
      ),
      post(
        `${CORE}/endpoints`,
        named('v1', 'Endpoints', 'y', {
          subsets: many(n, (i) => ({
            addresses: [{ ip: `10.${i % 250}.${Math.floor(i / 250) % 250}.1` }],
            ports: [{ port: 1 }],
          })),
        }),
      ),
      get(`${CORE}/endpoints`, TABLE),
      { method: 'DELETE', path: `${CORE}/endpoints` },
    ],
  },
  {
    name: 'endpoint slices',
    requests: (n) => [
      post(
        '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
        named('discovery.k8s.io/v1', 'EndpointSlice', 'x', {
          addressType: 'IPv4',
          endpoints: many(n, (i) => ({ addresses: [`10.0.${i % 250}.1`] })),
        }),
      ),
      post(
        '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
        named('discovery.k8s.io/v1', 'EndpointSlice', 'x', {
          addressType: 'IPv4',
          endpoints: [],
          ports: many(n, (i) => ({ name: `p${i}`, port: 1 })),
        }),
      ),
      post(
        '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
        named('discovery.k8s.io/v1', 'EndpointSlice', 'x', {
          addressType: 'IPv4',
          endpoints: [{ addresses: many(n, (i) => `10.0.${i % 250}.1`) }],
        }),
      ),
    ],
  },
  {
    name: 'roles',
    requests: (n) => [
      post(
        '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles',
        named('rbac.authorization.k8s.io/v1', 'Role', 'x', {
          rules: many(n, (i) => ({ apiGroups: [''], resources: [`r${i}`], verbs: ['get'] })),
        }),
      ),
      put(
        '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/x',
        named('rbac.authorization.k8s.io/v1', 'Role', 'x', {
          rules: [
            {
              apiGroups: many(n / 3, (i) => `g${i}`),
              resources: many(n / 3, (i) => `r${i}`),
              verbs: many(n / 3, (i) => `v${i}`),
            },
          ],
        }),
      ),
      post(
        '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings',
        named('rbac.authorization.k8s.io/v1', 'RoleBinding', 'x', {
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'x' },
          subjects: many(n, (i) => ({ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: `u${i}` })),
        }),
      ),
      get('/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings', TABLE),
      { method: 'GET', path: `${CORE}/secrets/a`, headers: { 'impersonate-user': 'u5' } },
      { method: 'DELETE', path: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings/x' },
      { method: 'DELETE', path: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/x' },
    ],
  },
  {
    name: 'aggregated roles',
    requests: (n) => [
      post(
        '/apis/rbac.authorization.k8s.io/v1/clusterroles',
        named('rbac.authorization.k8s.io/v1', 'ClusterRole', 'worst', {
          rules: [],
          aggregationRule: { clusterRoleSelectors: many(n, (i) => ({ matchLabels: { a: `${i}` } })) },
        }),
      ),
      { method: 'DELETE', path: '/apis/rbac.authorization.k8s.io/v1/clusterroles/worst' },
    ],
  },
  {
    name: 'ingress',
    requests: (n) => {
      const backend = { service: { name: 's', port: { number: 1 } } };
      const made = (spec: object): object => named('networking.k8s.io/v1', 'Ingress', 'x', { spec });
      const at = '/apis/networking.k8s.io/v1/namespaces/default/ingresses';
      return [
        post(
          at,
          made({
            rules: many(n, (i) => ({ host: `h${i}.a`, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } })),
          }),
        ),
        put(
          `${at}/x`,
          made({ rules: [{ http: { paths: many(n, (i) => ({ path: `/${i}`, pathType: 'Prefix', backend })) } }] }),
        ),
        put(
          `${at}/x`,
          made({ defaultBackend: backend, tls: many(n, (i) => ({ hosts: [`h${i}.a`], secretName: 's' })) }),
        ),
        get(at, TABLE),
        { method: 'DELETE', path: `${at}/x` },
      ];
    },
  },
  {
    name: 'network policies',
    requests: (n) => {
      const at = '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies';
      return [
        post(
          at,
          named('networking.k8s.io/v1', 'NetworkPolicy', 'x', {
            spec: {
              podSelector: {},
              ingress: many(n / 2, (i) => ({
                ports: [{ port: 1 }],
                from: [{ ipBlock: { cidr: `10.0.${i % 250}.0/24` } }],
              })),
              egress: [
                { to: [{ ipBlock: { cidr: '10.0.0.0/8', except: many(n / 2, (i) => `10.1.${i % 250}.0/24`) } }] },
              ],
            },
          }),
        ),
        post(
          at,
          named('networking.k8s.io/v1', 'NetworkPolicy', 'y', {
            spec: {
              podSelector: { matchExpressions: many(n, (i) => ({ key: `k${i}`, operator: 'In', values: ['a'] })) },
            },
          }),
        ),
        get(at, TABLE),
        { method: 'DELETE', path: at },
      ];
    },
  },
  {
    name: 'deployment',
    requests: (n) =>
      everyWrite('/apis/apps/v1/namespaces/default/deployments', 'worst', (v) =>
        named('apps/v1', 'Deployment', 'worst', {
          spec: {
            selector: { matchLabels: { a: 'b' } },
            template: {
              metadata: { labels: { a: 'b' } },
              spec: { containers: many(n, (i) => ({ name: `c${i}`, image: `i${v}` })) },
            },
          },
        }),
      ),
  },
  {
    name: 'stateful set claims',
    requests: (n) => [
      post(
        '/apis/apps/v1/namespaces/default/statefulsets',
        named('apps/v1', 'StatefulSet', 'x', {
          spec: {
            serviceName: 'a',
            selector: { matchLabels: { a: 'b' } },
            template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
            volumeClaimTemplates: many(n, (i) => ({
              metadata: { name: `v${i}` },
              spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } },
            })),
          },
        }),
      ),
      { method: 'DELETE', path: '/apis/apps/v1/namespaces/default/statefulsets/x' },
    ],
  },
  {
    name: 'job policies',
    requests: (n) => [
      post(
        '/apis/batch/v1/namespaces/default/jobs',
        named('batch/v1', 'Job', 'x', {
          spec: {
            completionMode: 'Indexed',
            completions: 3,
            parallelism: 1,
            template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
            podFailurePolicy: { rules: many(n, () => ({ action: 'Ignore', onPodConditions: [{ type: 'A' }] })) },
          },
        }),
      ),
      post(
        '/apis/batch/v1/namespaces/default/jobs',
        named('batch/v1', 'Job', 'x', {
          spec: {
            template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
            podFailurePolicy: {
              rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: many(n, (i) => i) } }],
            },
          },
        }),
      ),
    ],
  },
  {
    name: 'nodes',
    requests: (n) => [
      post(
        '/api/v1/nodes',
        named('v1', 'Node', 'x', { spec: { taints: many(n, (i) => ({ key: `k${i}`, effect: 'NoSchedule' })) } }),
      ),
      patch('/api/v1/nodes/x/status', STRATEGIC, {
        status: {
          images: many(n / 3, (i) => ({ names: [`i${i}`], sizeBytes: 1 })),
          conditions: many(n / 3, (i) => ({ type: `c${i}`, status: 'True' })),
          addresses: many(n / 3, (i) => ({ type: `t${i}`, address: `a${i}` })),
        },
      }),
      get('/api/v1/nodes', TABLE),
      { method: 'DELETE', path: '/api/v1/nodes/x' },
    ],
  },
  {
    name: 'secrets',
    requests: (n) => [
      post(
        `${CORE}/secrets`,
        named('v1', 'Secret', 'a', {
          stringData: manyKeys(
            n,
            (i) => `k${i}`,
            () => 'a',
          ),
        }),
      ),
      post(
        `${CORE}/secrets`,
        named('v1', 'Secret', 'b', { data: { a: Buffer.alloc(Math.min(n, 1_400_000) * 0.7).toString('base64') } }),
      ),
      post(
        `${CORE}/secrets`,
        named('v1', 'Secret', 'c', {
          type: 'kubernetes.io/dockerconfigjson',
          stringData: {
            '.dockerconfigjson': JSON.stringify({
              auths: manyKeys(
                Math.min(n * 0.7, 1_000_000),
                (i) => `${i}`,
                () => ({}),
              ),
            }),
          },
        }),
      ),
      post(
        `${CORE}/secrets`,
        named('v1', 'Secret', 'd', {
          type: 'kubernetes.io/tls',
          stringData: {
            'tls.key': '',
            'tls.crt': '-----BEGIN CERTIFICATE-----\nMAAA\n-----END CERTIFICATE-----\n'.repeat(
              Math.min(n, 1_000_000) / 60,
            ),
          },
        }),
      ),
      get(`${CORE}/secrets`, TABLE),
      { method: 'DELETE', path: `${CORE}/secrets` },
    ],
  },
  {
    name: 'service accounts and claims',
    requests: (n) => [
      post(
        `${CORE}/serviceaccounts`,
        named('v1', 'ServiceAccount', 'x', {
          secrets: many(n / 2, (i) => ({ name: `s${i}` })),
          imagePullSecrets: many(n / 2, (i) => ({ name: `s${i}` })),
        }),
      ),
      post(`${CORE}/serviceaccounts/x/token`, { spec: { audiences: many(n, (i) => `a${i}`) } }),
      post(`${CORE}/serviceaccounts/x/token`, { spec: { audiences: ['a'.repeat(n)] } }),
      patch(`${CORE}/serviceaccounts/x`, STRATEGIC, { secrets: many(n, (i) => ({ name: `t${i}` })) }),
      { method: 'DELETE', path: `${CORE}/serviceaccounts/x` },
      post(
        `${CORE}/persistentvolumeclaims`,
        named('v1', 'PersistentVolumeClaim', 'x', {
          spec: { accessModes: many(n, () => 'ReadWriteOnce'), resources: { requests: { storage: '1' } } },
        }),
      ),
      { method: 'DELETE', path: `${CORE}/persistentvolumeclaims/x` },
    ],
  },
  {
    name: 'quotas and limits',
    requests: (n) => [
      post(
        `${CORE}/resourcequotas`,
        named('v1', 'ResourceQuota', 'x', {
          spec: {
            hard: manyKeys(
              n,
              (i) => `a.b/k${i}`,
              () => '1',
            ),
          },
        }),
      ),
      post(CONFIG_MAPS, named('v1', 'ConfigMap', 'q')),
      { method: 'DELETE', path: `${CONFIG_MAPS}/q` },
      { method: 'DELETE', path: `${CORE}/resourcequotas/x` },
      post(
        `${CORE}/resourcequotas`,
        named('v1', 'ResourceQuota', 'x', {
          spec: {
            scopeSelector: { matchExpressions: many(n, () => ({ scopeName: 'BestEffort', operator: 'Exists' })) },
          },
        }),
      ),
      { method: 'DELETE', path: `${CORE}/resourcequotas/x` },
      post(
        `${CORE}/limitranges`,
        named('v1', 'LimitRange', 'x', {
          spec: { limits: many(n, (i) => ({ type: `a.b/t${i}`, max: { cpu: '1' } })) },
        }),
      ),
      { method: 'DELETE', path: `${CORE}/limitranges/x` },
      post(
        `${CORE}/limitranges`,
        named('v1', 'LimitRange', 'x', {
          spec: {
            limits: [
              {
                type: 'Container',
                max: manyKeys(
                  n / 2,
                  (i) => `a.b/${i}`,
                  () => '1',
                ),
                min: manyKeys(
                  n / 2,
                  (i) => `a.b/${i}`,
                  () => '1',
                ),
              },
            ],
          },
        }),
      ),
      post(PODS, pod({})),
      { method: 'DELETE', path: `${PODS}/worst` },
      { method: 'DELETE', path: `${CORE}/limitranges/x` },
    ],
  },
  {
    name: 'reviews',
    requests: (n) => [
      post(
        '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        named('authorization.k8s.io/v1', 'SubjectAccessReview', '', {
          spec: { user: 'a', groups: many(n, (i) => `g${i}`), resourceAttributes: { verb: 'get', resource: 'pods' } },
        }),
      ),
      post(
        '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        named('authorization.k8s.io/v1', 'SubjectAccessReview', '', {
          spec: {
            user: 'a',
            extra: manyKeys(
              n,
              (i) => `k${i}`,
              () => ['a'],
            ),
            resourceAttributes: { verb: 'get', resource: 'pods' },
          },
        }),
      ),
      post(
        '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        named('authorization.k8s.io/v1', 'SubjectAccessReview', '', {
          spec: {
            user: 'a',
            resourceAttributes: {
              verb: 'list',
              resource: 'pods',
              labelSelector: { requirements: many(n, (i) => ({ key: `k${i}`, operator: 'In', values: ['a'] })) },
            },
          },
        }),
      ),
      post(
        '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        named('authorization.k8s.io/v1', 'SubjectAccessReview', '', {
          spec: {
            user: 'a',
            resourceAttributes: {
              verb: 'list',
              resource: 'pods',
              fieldSelector: { rawSelector: many(n, (i) => `k${i}=a`).join(',') },
            },
          },
        }),
      ),
      post(
        '/apis/authentication.k8s.io/v1/tokenreviews',
        named('authentication.k8s.io/v1', 'TokenReview', '', {
          spec: { token: `a.${'b'.repeat(n / 2)}.c`, audiences: many(n / 2, (i) => `a${i}`) },
        }),
      ),
    ],
  },
  {
    name: 'certificate requests',
    requests: (n) => {
      const made = (request: string, more: object = {}): object =>
        named('certificates.k8s.io/v1', 'CertificateSigningRequest', 'x', {
          spec: {
            signerName: 'a.b/c',
            usages: ['client auth'],
            request: Buffer.from(request).toString('base64'),
            ...more,
          },
        });
      const at = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
      return [
        post(at, made('-----BEGIN A-----\nMAAA\n-----END A-----\n'.repeat((n * 0.7) / 40))),
        post(
          at,
          made(
            `-----BEGIN CERTIFICATE REQUEST-----\n${'MAAA'.repeat((n * 0.7) / 4)}\n-----END CERTIFICATE REQUEST-----\n`,
          ),
        ),
        post(at, made('a', { usages: many(n, (i) => `u${i}`) })),
      ];
    },
  },
];

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const definition = (schema: object, more: object = {}): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'worsts.attack.example' },
  spec: {
    group: 'attack.example',
    scope: 'Namespaced',
    names: { kind: 'Worst', plural: 'worsts', singular: 'worst', listKind: 'WorstList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: schema } } },
        ...more,
      },
    ],
  },
});
const CUSTOMS = '/apis/attack.example/v1/namespaces/default/worsts';
const custom = (spec: unknown): object => named('attack.example/v1', 'Worst', 'worst', { spec });
const gone: AttackRequest = { method: 'DELETE', path: `${CRDS}/worsts.attack.example` };
const served = (schema: object, more?: object): AttackRequest[] => [
  post(CRDS, definition(schema, more)),
  { method: 'WAIT', path: CUSTOMS },
];

/** CRDs as large as fits, and custom resources of small CRDs. */
const CUSTOM: readonly Attack[] = [
  {
    name: 'definition of many properties',
    requests: (n) => [
      ...served({
        type: 'object',
        properties: manyKeys(
          n,
          (i) => `p${i}`,
          () => ({ type: 'string' }),
        ),
      }),
      get('/openapi/v2'),
      get('/openapi/v3/apis/attack.example/v1'),
      post(
        CUSTOMS,
        custom(
          manyKeys(
            n,
            (i) => `p${i}`,
            () => '',
          ),
        ),
      ),
      { method: 'DELETE', path: `${CUSTOMS}/worst` },
      gone,
    ],
  },
  {
    name: 'definition of many defaults',
    requests: (n) => [
      ...served({
        type: 'object',
        default: {},
        properties: manyKeys(
          n,
          (i) => `p${i}`,
          () => ({ type: 'string', default: 'a' }),
        ),
      }),
      post(CUSTOMS, custom({})),
      get(CUSTOMS),
      { method: 'DELETE', path: `${CUSTOMS}/worst` },
      gone,
    ],
  },
  {
    name: 'definition of many patterns',
    requests: (n) => [
      ...served({
        type: 'object',
        properties: manyKeys(
          n,
          (i) => `p${i}`,
          (i) => ({ type: 'string', pattern: `^(a{1,100}){1,9}${i}` }),
        ),
      }),
      post(
        CUSTOMS,
        custom(
          manyKeys(
            n / 10,
            (i) => `p${i}`,
            () => 'aaaa',
          ),
        ),
      ),
      { method: 'DELETE', path: `${CUSTOMS}/worst` },
      gone,
    ],
  },
  {
    name: 'definition of many rules',
    requests: (n) => [
      ...served({
        type: 'object',
        properties: { a: { type: 'integer' } },
        'x-kubernetes-validations': many(n, (i) => ({ rule: `self.a < ${i}` })),
      }),
      post(CUSTOMS, custom({ a: 5 })),
      { method: 'DELETE', path: `${CUSTOMS}/worst` },
      gone,
    ],
  },
  {
    name: 'definition of rules everywhere',
    requests: (n) => [
      ...served({
        type: 'object',
        properties: manyKeys(
          n,
          (i) => `p${i}`,
          (i) => ({ type: 'string', maxLength: 9, 'x-kubernetes-validations': [{ rule: `self != "a${i}"` }] }),
        ),
      }),
      post(
        CUSTOMS,
        custom(
          manyKeys(
            n / 3,
            (i) => `p${i}`,
            () => 'aaaa',
          ),
        ),
      ),
      { method: 'DELETE', path: `${CUSTOMS}/worst` },
      gone,
    ],
  },
  {
    name: 'definition with a long rule',
    requests: (n) => [
      ...served({
        type: 'object',
        properties: { a: { type: 'integer' } },
        'x-kubernetes-validations': [{ rule: `self.a in [${many(n, (i) => i).join(',')}]` }],
      }),
      gone,
    ],
  },
  {
    name: 'definition with a rule of many ands',
    requests: (n) => [
      ...served({
        type: 'object',
        properties: { a: { type: 'integer' } },
        'x-kubernetes-validations': [{ rule: many(n, () => 'self.a < 5').join(' && ') }],
      }),
      gone,
    ],
  },
  {
    name: 'definition of many enum values',
    requests: (n) => [
      ...served({ type: 'string', enum: many(n, (i) => `e${i}`) }),
      post(CUSTOMS, custom('nothing')),
      gone,
    ],
  },
  {
    name: 'definition of many columns',
    requests: (n) => [
      ...served(
        { type: 'object' },
        { additionalPrinterColumns: many(n, (i) => ({ name: `c${i}`, type: 'string', jsonPath: '.spec' })) },
      ),
      post(CUSTOMS, custom({})),
      get(CUSTOMS, TABLE),
      { method: 'DELETE', path: `${CUSTOMS}/worst` },
      gone,
    ],
  },
  {
    name: 'definition of many names',
    requests: (n) => [
      post(CRDS, {
        ...definition({ type: 'object' }),
        spec: {
          ...(definition({ type: 'object' }) as { spec: object }).spec,
          names: {
            kind: 'Worst',
            plural: 'worsts',
            shortNames: many(n / 2, (i) => `s${i}`),
            categories: many(n / 2, (i) => `c${i}`),
          },
        },
      }),
      gone,
    ],
  },
  {
    name: 'definition of many versions',
    requests: (n) => [
      post(CRDS, {
        ...definition({}),
        spec: {
          ...(definition({}) as { spec: object }).spec,
          versions: many(n, (i) => ({
            name: `v${i + 1}`,
            served: true,
            storage: i === 0,
            schema: { openAPIV3Schema: { type: 'object' } },
          })),
        },
      }),
      gone,
    ],
  },
  {
    name: 'definition of all of',
    requests: (n) => [
      ...served({ type: 'object', properties: { a: { type: 'string' } }, allOf: many(n, () => ({ required: ['a'] })) }),
      post(CUSTOMS, custom({ a: '' })),
      { method: 'DELETE', path: `${CUSTOMS}/worst` },
      gone,
    ],
  },
  {
    name: 'definition of any of, in an array',
    requests: (n) => [
      ...served({
        type: 'array',
        items: { type: 'string', anyOf: many(n / 100, (i) => ({ maxLength: i, minLength: i + 1 })) },
      }),
      post(CUSTOMS, custom(many(n / 100, () => 'a'))),
      gone,
    ],
  },
  {
    name: 'custom resource: open map',
    requests: (n) => [
      ...served({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }),
      ...everyWrite(
        CUSTOMS,
        'worst',
        (v) =>
          custom(
            manyKeys(
              n,
              (i) => `k${i}`,
              () => v,
            ),
          ),
        { strategic: false },
      ),
      gone,
    ],
  },
  {
    name: 'custom resource: open tree',
    requests: (n) => [
      ...served({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }),
      ...everyWrite(CUSTOMS, 'worst', (v) => custom({ a: many(n, () => ({ a: [v] })) }), { strategic: false }),
      gone,
    ],
  },
  {
    name: 'custom resource: unknown members',
    requests: (n) => [
      ...served({ type: 'object' }),
      post(
        CUSTOMS,
        custom(
          manyKeys(
            n,
            (i) => `k${i}`,
            () => 1,
          ),
        ),
      ),
      post(
        `${CUSTOMS}?fieldValidation=Strict`,
        custom(
          manyKeys(
            n,
            (i) => `k${i}`,
            () => 1,
          ),
        ),
      ),
      { method: 'DELETE', path: `${CUSTOMS}/worst` },
      gone,
    ],
  },
  {
    name: 'custom resource: keyed list with defaults',
    requests: (n) => [
      ...served({
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: {
          type: 'object',
          required: ['k'],
          properties: {
            k: { type: 'integer' },
            a: { type: 'string', default: 'b' },
            c: { type: 'string', pattern: '^a*$' },
          },
        },
      }),
      ...everyWrite(CUSTOMS, 'worst', (v) => custom(many(n, (i) => ({ k: i, c: 'a'.repeat(v) }))), {
        strategic: false,
      }),
      gone,
    ],
  },
  {
    name: 'custom resource: set',
    requests: (n) => [
      ...served({ type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'integer' } }),
      ...everyWrite(CUSTOMS, 'worst', (v) => custom(many(n, (i) => i + v)), { strategic: false }),
      gone,
    ],
  },
  {
    name: 'custom resource: list with rules',
    requests: (n) => [
      ...served({
        type: 'array',
        maxItems: 100_000,
        items: {
          type: 'object',
          properties: { a: { type: 'integer' } },
          'x-kubernetes-validations': [{ rule: 'self.a >= 0' }],
        },
      }),
      ...everyWrite(CUSTOMS, 'worst', (v) => custom(many(n, (i) => ({ a: i + v }))), { strategic: false }),
      gone,
    ],
  },
  {
    name: 'custom resource: list with rules of changes',
    requests: (n) => [
      ...served({
        type: 'array',
        maxItems: 100_000,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: {
          type: 'object',
          required: ['k'],
          properties: { k: { type: 'integer' }, a: { type: 'integer' } },
          'x-kubernetes-validations': [{ rule: 'self.a >= oldSelf.a - 5' }],
        },
      }),
      ...everyWrite(CUSTOMS, 'worst', (v) => custom(many(n, (i) => ({ k: i, a: v }))), { strategic: false }),
      gone,
    ],
  },
  {
    name: 'custom resource: everything wrong',
    requests: (n) => [
      ...served({ type: 'array', items: { type: 'string', maxLength: 2 } }),
      post(CUSTOMS, custom(many(n, () => 1))),
      post(CUSTOMS, custom(many(n, () => 'aaa'))),
      gone,
    ],
  },
];

const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const policy = (spec: object): object =>
  named('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', 'worst', {
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['*'] }],
      },
      validations: [{ expression: 'true' }],
      ...spec,
    },
  });
const BOUND: readonly AttackRequest[] = [
  post(
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
    named('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicyBinding', 'worst', {
      spec: { policyName: 'worst', validationActions: ['Deny'] },
    }),
  ),
  { method: 'PAUSE', path: '' },
  post(CONFIG_MAPS, named('v1', 'ConfigMap', 'judged', { data: { a: 'b' } })),
  { method: 'DELETE', path: `${CONFIG_MAPS}/judged` },
  { method: 'DELETE', path: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/worst' },
  { method: 'DELETE', path: `${POLICIES}/worst` },
];
const ADMISSION: readonly Attack[] = [
  {
    name: 'policy of many variables',
    requests: (n) => [
      post(POLICIES, policy({ variables: many(n, (i) => ({ name: `v${i}`, expression: '1' })) })),
      ...BOUND,
    ],
  },
  {
    name: 'policy of variables of variables',
    requests: (n) => [
      post(
        POLICIES,
        policy({
          variables: many(n, (i) => ({ name: `v${i}`, expression: i === 0 ? '1' : `variables.v${i - 1}` })),
          validations: [{ expression: 'variables.v99 == 1' }],
        }),
      ),
      ...BOUND,
    ],
  },
  {
    name: 'policy of many expressions',
    requests: (n) => [
      post(POLICIES, policy({ validations: many(n, (i) => ({ expression: `object.data.a != "${i}"` })) })),
      ...BOUND,
    ],
  },
  {
    name: 'policy with a long expression',
    requests: (n) => [
      post(
        POLICIES,
        policy({ validations: [{ expression: `object.data.a in [${many(n, (i) => `'${i}'`).join(',')}]` }] }),
      ),
      ...BOUND,
    ],
  },
  {
    name: 'policy of many wrong expressions',
    requests: (n) => [
      post(POLICIES, policy({ validations: many(n, (i) => ({ expression: `object.nothing(${i}` })) })),
      ...BOUND,
    ],
  },
  {
    name: 'policy of many rules',
    requests: (n) => [
      post(
        POLICIES,
        policy({
          matchConstraints: {
            resourceRules: many(n, (i) => ({
              apiGroups: [''],
              apiVersions: ['v1'],
              resources: [`r${i}`],
              operations: ['*'],
            })),
          },
        }),
      ),
      ...BOUND,
    ],
  },
  {
    name: 'policy of annotations and conditions',
    requests: (n) => [
      post(
        POLICIES,
        policy({
          auditAnnotations: many(n / 2, (i) => ({ key: `k${i}`, valueExpression: '"a"' })),
          matchConditions: many(n / 2, (i) => ({ name: `m${i}`, expression: 'true' })),
        }),
      ),
      ...BOUND,
    ],
  },
  {
    name: 'webhook configurations',
    requests: (n) => [
      post(
        '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
        named('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', 'worst', {
          webhooks: many(n, (i) => ({
            name: `w${i}.a.b`,
            admissionReviewVersions: ['v1'],
            sideEffects: 'None',
            failurePolicy: 'Ignore',
            clientConfig: { url: 'https://127.0.0.1:1/' },
            rules: [{ apiGroups: ['none'], apiVersions: ['v1'], resources: ['nothing'], operations: ['*'] }],
          })),
        }),
      ),
      { method: 'PAUSE', path: '' },
      post(CONFIG_MAPS, named('v1', 'ConfigMap', 'judged', { data: { a: 'b' } })),
      { method: 'DELETE', path: `${CONFIG_MAPS}/judged` },
      { method: 'DELETE', path: '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/worst' },
    ],
  },
];

const plainMap = named('v1', 'ConfigMap', 'worst', { data: { a: 'b' } });
const around = (...requests: readonly AttackRequest[]): AttackRequest[] => [
  post(CONFIG_MAPS, plainMap),
  ...requests,
  { method: 'DELETE', path: `${CONFIG_MAPS}/worst` },
];
const WIRE: readonly Attack[] = [
  {
    name: 'JSON patch of 10,000 operations',
    requests: (n) =>
      around(
        patch(
          `${CONFIG_MAPS}/worst`,
          JSON_PATCH,
          many(n / 10, (i) => ({ op: 'add', path: `/data/${i}`, value: 'v' })).slice(0, 10_000),
        ),
        patch(
          `${CONFIG_MAPS}/worst`,
          JSON_PATCH,
          many(n, () => ({ op: 'add', path: '/data/a', value: 'v' })).slice(0, 10_000),
        ),
      ),
  },
  {
    name: 'JSON patch that copies',
    requests: () =>
      around(
        patch(`${CONFIG_MAPS}/worst`, JSON_PATCH, [
          { op: 'add', path: '/data/x', value: 'x'.repeat(1000) },
          ...Array.from({ length: 9_000 }, (_, i) => ({ op: 'copy', from: '/data', path: `/c${i}` })),
        ]),
      ),
  },
  {
    name: 'JSON patch that copies what it has copied',
    requests: () =>
      around(
        patch(`${CONFIG_MAPS}/worst`, JSON_PATCH, [
          { op: 'add', path: '/data', value: Object.fromEntries(many(1_000, (i) => [`k${i}`, 'v'])) },
          ...Array.from({ length: 8 }, () => ({ op: 'copy', from: '/data', path: '/data/x' })),
          { op: 'move', from: '/data', path: '/x' },
        ]),
      ),
  },
  {
    name: 'JSON patch that inserts at the front',
    requests: (n) => [
      post(CONFIG_MAPS, plainMap),
      patch(`${CONFIG_MAPS}/worst`, JSON_PATCH, [
        { op: 'add', path: '/metadata/finalizers', value: many(n / 3, (i) => `a/${i}`) },
        ...Array.from({ length: 9_000 }, (_, i) => ({ op: 'add', path: '/metadata/finalizers/0', value: `b/${i}` })),
      ]),
      patch(`${CONFIG_MAPS}/worst`, MERGE, { metadata: { finalizers: null } }),
      { method: 'DELETE', path: `${CONFIG_MAPS}/worst` },
    ],
  },
  {
    name: 'YAML of many keys',
    requests: (n) =>
      around(
        patch(
          `${CONFIG_MAPS}/worst?fieldManager=y&force=true`,
          APPLY,
          `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: worst}\ndata:\n${many(n, (i) => `  k${i}: v`).join('\n')}\n`,
        ),
        post(
          CONFIG_MAPS,
          `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: worst2}\ndata:\n${many(n, (i) => `  k${i}: v`).join('\n')}\n`,
          'application/yaml',
        ),
        { method: 'DELETE', path: `${CONFIG_MAPS}/worst2` },
      ),
  },
  {
    name: 'YAML in flow style',
    requests: (n) =>
      around(
        post(
          CONFIG_MAPS,
          `{apiVersion: v1, kind: ConfigMap, metadata: {name: worst2}, data: {${many(n, (i) => `k${i}: v`).join(', ')}}}`,
          'application/yaml',
        ),
        { method: 'DELETE', path: `${CONFIG_MAPS}/worst2` },
      ),
  },
  {
    name: 'YAML of aliases',
    requests: (n) =>
      around(
        post(
          CONFIG_MAPS,
          `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: worst2}\na: &a [${'a,'.repeat(1000)}]\nb: [${'*a,'.repeat(n / 3)}]\n`,
          'application/yaml',
        ),
      ),
  },
  {
    name: 'YAML of duplicate keys',
    requests: (n) =>
      around(
        post(
          CONFIG_MAPS,
          `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: worst2}\ndata:\n${many(n, () => '  a: v').join('\n')}\n`,
          'application/yaml',
        ),
      ),
  },
  {
    name: 'JSON of unknown and duplicate keys',
    requests: (n) => [
      post(
        `${CONFIG_MAPS}?dryRun=All`,
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d"},${many(n, (i) => `"u${i}":1`).join(',')}}`,
      ),
      post(
        `${CONFIG_MAPS}?dryRun=All`,
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d"},"data":{${many(n, () => '"a":"b"').join(',')}}}`,
      ),
      post(
        `${CONFIG_MAPS}?dryRun=All&fieldValidation=Strict`,
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d"},${many(n, (i) => `"u${i}":1`).join(',')}}`,
      ),
    ],
  },
  {
    name: 'JSON of brackets',
    requests: (n) => [
      post(CONFIG_MAPS, `{"apiVersion":"v1","kind":"ConfigMap","x":${'['.repeat(n)}`),
      post(CONFIG_MAPS, `{"apiVersion":"v1","kind":"ConfigMap","x":[${'[],'.repeat(n / 3)}[]]}`),
    ],
  },
  {
    name: 'invalid in every item',
    requests: (n) => [
      post(
        CONFIG_MAPS,
        named('v1', 'ConfigMap', 'x', {
          data: manyKeys(
            n,
            (i) => `?${i}`,
            () => '',
          ),
        }),
      ),
      post(PODS, pod({ containers: many(n, () => ({})) })),
      post(PODS, pod({ containers: [{ name: 'c', image: 'i', env: many(n, () => ({ name: '=' })) }] })),
    ],
  },
  {
    name: 'options of deletions',
    requests: (bytes) => {
      const head = { apiVersion: 'v1', kind: 'DeleteOptions' };
      const remove = (body: string, contentType: string): AttackRequest => ({
        method: 'DELETE',
        path: `${CONFIG_MAPS}/none`,
        body,
        contentType,
        // Node's client would send it without.
        headers: { 'content-length': String(Buffer.byteLength(body)) },
      });
      const keys = manyKeys(bytes, (i) => `k${i}`, String);
      return [
        remove(JSON.stringify({ ...head, ...keys }), 'application/json'),
        remove(JSON.stringify({ ...head, dryRun: many(bytes, () => 'All') }), 'application/json'),
        remove(`{apiVersion: v1, kind: DeleteOptions, dryRun: [${many(bytes, () => 'All').join(',')}]}`, YAML),
      ];
    },
  },
  {
    name: 'evictions, bindings and tokens',
    requests: (bytes) => {
      const metadata = { name: 'none', labels: manyKeys(bytes, (i) => `k${i}`, String) };
      const token = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' };
      return [
        post(`${CORE}/pods/none/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata }),
        post(`${CORE}/pods/none/binding`, { apiVersion: 'v1', kind: 'Binding', metadata, target: { name: 'n' } }),
        post(`${CORE}/serviceaccounts/default/token`, { ...token, metadata: { labels: metadata.labels }, spec: {} }),
        post(`${CORE}/serviceaccounts/default/token`, { ...token, spec: { audiences: many(bytes, (i) => `a${i}`) } }),
      ];
    },
  },
  {
    name: 'scales',
    requests: (bytes) => {
      const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
      const spec = { selector: { matchLabels: { a: 'b' } }, template };
      const all = '/apis/apps/v1/namespaces/default/deployments';
      const metadata = { name: 'scaled', labels: manyKeys(bytes, (i) => `k${i}`, String) };
      const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata, spec: { replicas: 1 } };
      return [
        post(all, named('apps/v1', 'Deployment', 'scaled', { spec })),
        put(`${all}/scaled/scale`, scale),
        patch(`${all}/scaled/scale`, MERGE, scale),
        put(`${all}/scaled/scale`, {
          ...scale,
          metadata: { name: 'scaled', finalizers: many(bytes, (i) => `a/${i}`) },
        }),
        patch(`${all}/scaled`, MERGE, { metadata: { finalizers: many(bytes, (i) => `a/${i}`) } }),
        patch(`${all}/scaled/scale`, MERGE, { spec: { replicas: 2 } }),
        patch(`${all}/scaled`, MERGE, { metadata: { finalizers: null } }),
      ];
    },
  },
  {
    name: 'claims to devices',
    requests: (bytes) => {
      const all = '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims';
      const expression = `${'device.driver == "a" && '.repeat(bytes / 32 / 32 / 30)}true`;
      const selectors = Array.from({ length: 32 }, () => ({ cel: { expression } }));
      const exactly = { deviceClassName: 'c', selectors };
      const requests = Array.from({ length: 32 }, (_, i) => ({ name: `r${i}`, exactly }));
      return [
        post(all, named('resource.k8s.io/v1', 'ResourceClaim', 'claim', { spec: { devices: { requests } } })),
        patch(`${all}/claim`, MERGE, { metadata: { labels: { a: 'b' } } }),
        { method: 'DELETE', path: `${all}/claim` },
      ];
    },
  },
  {
    name: 'a role that is bound often',
    requests: (bytes) => {
      const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
      const group = 'rbac.authorization.k8s.io';
      const roleRef = { apiGroup: group, kind: 'Role', name: 'often' };
      const subjects = [{ kind: 'Group', apiGroup: group, name: 'system:masters' }];
      const resourceNames = many(bytes, (i) => `n${i}`);
      const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames }];
      const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview' };
      return [
        post(`${rbac}/roles`, named(`${group}/v1`, 'Role', 'often', { rules })),
        ...Array.from({ length: 20 }, (_, i) =>
          post(`${rbac}/rolebindings`, named(`${group}/v1`, 'RoleBinding', `often-${i}`, { roleRef, subjects })),
        ),
        post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { ...review, spec: { namespace: 'default' } }),
        { method: 'DELETE', path: `${rbac}/roles/often` },
      ];
    },
  },
  {
    name: 'label selector',
    requests: () => [
      get(`${CONFIG_MAPS}?${encode({ labelSelector: many(200_000, (i) => `k${i}`).join(',') })}`),
      get(`${CONFIG_MAPS}?${encode({ labelSelector: `k in (${many(200_000, (i) => `v${i}`).join(',')})` })}`),
      get(`${CONFIG_MAPS}?${encode({ labelSelector: many(200_000, () => 'k=a').join(',') })}`),
      get(`${CONFIG_MAPS}?${encode({ labelSelector: many(200_000, () => 'k notin (a)').join(',') })}`),
      get(`${CONFIG_MAPS}?labelSelector=${'('.repeat(400_000)}`),
    ],
  },
  {
    name: 'field selector',
    requests: () => [
      get(`${CONFIG_MAPS}?${encode({ fieldSelector: many(200_000, () => 'metadata.name=a').join(',') })}`),
      get(`${CONFIG_MAPS}?${encode({ fieldSelector: many(200_000, (i) => `metadata.name!=a${i}`).join(',') })}`),
    ],
  },
  {
    name: 'continue token',
    requests: () => [
      get(`${CONFIG_MAPS}?limit=1&continue=${'e'.repeat(700_000)}`),
      get(
        `${CONFIG_MAPS}?limit=1&continue=${Buffer.from(`{"v":"meta.k8s.io/v1","rv":1,"start":"${'a/'.repeat(200_000)}"}`).toString('base64url')}`,
      ),
    ],
  },
  {
    name: 'query',
    requests: () => [
      get(`${CONFIG_MAPS}?${many(700_000, (i) => `a${i}=b`).join('&')}`),
      get(`${CONFIG_MAPS}?${many(700_000, () => 'fieldManager=b').join('&')}`),
      get(`/api/v1${'/'.repeat(700_000)}`),
      get(`/${'a/'.repeat(350_000)}`),
    ],
  },
  {
    name: 'token',
    requests: () => [
      {
        method: 'GET',
        path: '/api',
        headers: {
          authorization: `Bearer ${Buffer.from('{"alg":"RS256"}').toString('base64url')}.${Buffer.from(`{"iss":"https://kubernetes.default.svc","a":[${'1,'.repeat(250_000)}1]}`).toString('base64url')}.AAAA`,
        },
      },
      { method: 'GET', path: '/api', headers: { authorization: `Bearer ${'a.'.repeat(350_000)}` } },
    ],
  },
  {
    name: 'impersonation',
    requests: () => [
      {
        method: 'GET',
        path: '/api',
        headers: {
          'impersonate-user': 'a',
          ...Object.fromEntries(Array.from({ length: 1500 }, (_, i) => [`impersonate-extra-k${i}`, 'v'])),
        },
      },
    ],
  },
  {
    name: 'accept',
    requests: () => [
      get(`${CONFIG_MAPS}`, { accept: 'a/b;c=d,'.repeat(80_000) }),
      get(`${CONFIG_MAPS}`, { accept: `application/json;${'a=b;'.repeat(160_000)}` }),
      get(`${CONFIG_MAPS}`, { accept: '*/*,'.repeat(80_000) + 'a/b,'.repeat(80_000) }),
    ],
  },
];

export const ATTACKS: readonly Attack[] = [...OBJECTS, ...CUSTOM, ...ADMISSION, ...WIRE];
