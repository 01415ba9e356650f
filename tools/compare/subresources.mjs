// Requests that are no objects of their own: reviews, subresources and options of a delete, with what must be there.
const AUTHORIZATION = 'authorization.k8s.io/v1';
const AUTHENTICATION = 'authentication.k8s.io/v1';
const STRATEGIC = 'application/strategic-merge-patch+json';
const container = (more) => ({ name: 'c', image: 'i', ...more });

/** Created first, each at its path. */
export const neededIn = (ns) => {
  const core = `/api/v1/namespaces/${ns}`;
  const rules = [{ apiGroups: ['', 'apps'], resources: ['pods'], verbs: ['get', 'list'], resourceNames: ['a'] }];
  const subjects = [{ kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' };
  const labels = { a: 'b' };
  const template = { metadata: { labels }, spec: { containers: [container()] } };
  const sized = { requests: { cpu: '1' }, limits: { cpu: '1' } };
  return [
    [`/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles`, { metadata: { name: 'r' }, rules }],
    [
      `/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/rolebindings`,
      { metadata: { name: 'r' }, roleRef, subjects },
    ],
    [`${core}/pods`, { metadata: { name: 'p' }, spec: { containers: [container()] } }],
    [
      `${core}/pods`,
      { metadata: { name: 'run' }, spec: { nodeName: 'n', containers: [container({ resources: sized })] } },
    ],
    [`${core}/configmaps`, { metadata: { name: 'c', finalizers: ['example.com/f'] } }],
    [
      `/apis/apps/v1/namespaces/${ns}/deployments`,
      { metadata: { name: 'd' }, spec: { replicas: 2, selector: { matchLabels: labels }, template } },
    ],
  ];
};

/** Each as the request whose body is changed. `like`: the kind of what a patch without a kind is part of. */
export const subresourcesOf = (ns) => {
  const core = `/api/v1/namespaces/${ns}`;
  const apps = `/apis/apps/v1/namespaces/${ns}`;
  const dry = '?dryRun=All';
  const fields = { requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['a'] }] };
  const labels = { requirements: [{ key: 'a', operator: 'NotIn', values: ['a', 'b'] }] };
  const attributes = { namespace: ns, verb: 'get', version: 'v1', resource: 'pods', name: 'a' };
  const review = (kind, spec, metadata) => ({ apiVersion: AUTHORIZATION, kind, ...(metadata && { metadata }), spec });
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: { replicas: 5 } };
  const deletion = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 5, dryRun: ['All'] };
  const target = { kind: 'Node', name: 'n', apiVersion: 'v1' };
  const debug = { name: 'dbg', image: 'i', stdin: true, targetContainerName: 'c', terminationMessagePolicy: 'File' };
  const larger = { requests: { cpu: '2' }, limits: { cpu: '2' } };
  return [
    {
      name: 'subjectaccessreviews',
      path: `/apis/${AUTHORIZATION}/subjectaccessreviews`,
      body: review('SubjectAccessReview', {
        user: 'alice',
        groups: ['dev'],
        extra: { 'a/b': ['c'] },
        resourceAttributes: { ...attributes, fieldSelector: fields, labelSelector: labels },
      }),
    },
    {
      name: 'subjectaccessreviews of a path',
      path: `/apis/${AUTHORIZATION}/subjectaccessreviews`,
      body: review('SubjectAccessReview', { user: 'alice', nonResourceAttributes: { path: '/healthz', verb: 'get' } }),
    },
    {
      name: 'localsubjectaccessreviews',
      path: `/apis/${AUTHORIZATION}/namespaces/${ns}/localsubjectaccessreviews`,
      body: review('LocalSubjectAccessReview', { user: 'alice', resourceAttributes: attributes }, { namespace: ns }),
    },
    {
      name: 'tokenreviews',
      path: `/apis/${AUTHENTICATION}/tokenreviews`,
      body: { apiVersion: AUTHENTICATION, kind: 'TokenReview', spec: { token: 'unknown', audiences: ['a'] } },
    },
    {
      name: 'serviceaccounts/token',
      path: `${core}/serviceaccounts/default/token${dry}`,
      body: {
        apiVersion: AUTHENTICATION,
        kind: 'TokenRequest',
        spec: {
          audiences: ['a'],
          expirationSeconds: 3600,
          boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' },
        },
      },
    },
    {
      name: 'pods/eviction',
      path: `${core}/pods/p/eviction${dry}`,
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p', namespace: ns }, deleteOptions: {} },
    },
    {
      name: 'pods/binding',
      path: `${core}/pods/p/binding${dry}`,
      body: { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p', namespace: ns, labels: { a: 'b' } }, target },
    },
    { name: 'deployments/scale', method: 'PUT', path: `${apps}/deployments/d/scale${dry}`, body: scale },
    {
      name: 'deployments/scale merged',
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      path: `${apps}/deployments/d/scale${dry}`,
      body: scale,
    },
    {
      name: 'deployments/scale applied',
      method: 'PATCH',
      contentType: 'application/apply-patch+yaml',
      path: `${apps}/deployments/d/scale${dry}&fieldManager=m&force=true`,
      body: scale,
    },
    {
      name: 'pods/ephemeralcontainers',
      method: 'PATCH',
      contentType: STRATEGIC,
      like: { apiVersion: 'v1', kind: 'Pod' },
      path: `${core}/pods/run/ephemeralcontainers${dry}`,
      body: { spec: { ephemeralContainers: [debug] } },
    },
    {
      name: 'pods/resize',
      method: 'PATCH',
      contentType: STRATEGIC,
      like: { apiVersion: 'v1', kind: 'Pod' },
      path: `${core}/pods/run/resize${dry}`,
      body: { spec: { containers: [{ name: 'c', resources: larger }] } },
    },
    {
      name: 'namespaces/finalize',
      method: 'PUT',
      path: `/api/v1/namespaces/${ns}/finalize${dry}`,
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: ns }, spec: { finalizers: ['kubernetes'] } },
    },
    { name: 'delete', method: 'DELETE', path: `${core}/configmaps/c${dry}`, body: { ...deletion, preconditions: {} } },
    { name: 'delete of a pod', method: 'DELETE', path: `${core}/pods/run${dry}`, body: deletion },
    { name: 'delete of a collection', method: 'DELETE', path: `${core}/configmaps${dry}`, body: deletion },
  ];
};
