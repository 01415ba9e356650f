// How long an RBAC decision takes with 1,000 bindings and 200 roles: cached, and right after a change. And how long
// one of the Node mode takes with 1,000 nodes and 30,000 pods, and what its graph weighs.
//
//   node --expose-gc tools/bench-authz.mjs
import { loadSource } from './bundle.mjs';

const { createRbacIndex, RbacAuthorizer } = await loadSource('src/authz/rbac-index.ts', 'src/authz/rbac.ts');

const source = () => {
  const receivers = [];
  return {
    subscribe: (receive) => receivers.push(receive),
    put: (object) => receivers.forEach((r) => r({ type: 'put', object })),
  };
};
const sources = { roles: source(), roleBindings: source(), clusterRoles: source(), clusterRoleBindings: source() };
const authorizer = new RbacAuthorizer(createRbacIndex(sources));
const rule = (i) => ({ verbs: ['get', 'list', 'watch'], apiGroups: ['', 'apps'], resources: ['pods', `thing${i}s`] });
for (let i = 0; i < 200; i++)
  sources.clusterRoles.put({ metadata: { name: `role-${i}` }, rules: [1, 2, 3, 4, 5].map(rule) });
const bindingOf = (i, namespace) => ({
  metadata: { name: `binding-${i}`, ...(namespace === '' ? {} : { namespace }) },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `role-${i % 200}` },
  subjects: [
    { kind: 'User', name: `user-${i % 100}` },
    { kind: 'Group', name: `group-${i % 50}` },
  ],
});
for (let i = 0; i < 500; i++) sources.clusterRoleBindings.put(bindingOf(i, ''));
for (let i = 0; i < 500; i++) sources.roleBindings.put(bindingOf(i, `namespace-${i % 20}`));

const attributes = (i) => ({
  user: { name: `user-${i % 100}`, groups: [`group-${i % 50}`, 'system:authenticated'] },
  verb: i % 7 === 0 ? 'delete' : 'get',
  resourceRequest: true,
  apiGroup: '',
  apiVersion: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: `namespace-${i % 20}`,
  name: `pod-${i % 10}`,
  path: '',
});
const measure = (name, count, act) => {
  for (let i = 0; i < count / 10; i++) act(i);
  const start = process.hrtime.bigint();
  for (let i = 0; i < count; i++) act(i);
  const ns = Number(process.hrtime.bigint() - start) / count;
  console.log(`${name.padEnd(34)} ${(ns / 1000).toFixed(2)} µs`);
};
measure('decision, seen before', 500_000, (i) => authorizer.authorize(attributes(i)));
let unseen = 0;
measure('decision, new name', 200_000, (i) => authorizer.authorize({ ...attributes(i), name: `pod-x${unseen++}` }));
measure('first decision after a change', 5_000, (i) => {
  sources.clusterRoleBindings.put(bindingOf(i % 500, ''));
  authorizer.authorize(attributes(i));
});

const { NodeGraph, objectKey } = await loadSource('src/authz/node/graph.ts');
const { nodeAuthorizer } = await loadSource('src/authz/node/authorizer.ts');
const { referencesOf } = await loadSource('src/authz/node/pod-references.ts');
const NODES = 1000;
const PODS = 30_000;
const heapMb = () => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
};
const before = heapMb();
const graph = new NodeGraph();
// A pod as deployments make them: an account, a pulled image, two config maps, a secret, and every third a claim whose
// volume is mounted with one secret that all volumes share.
const podOf = (i) => ({
  metadata: { name: `web-${i}-7d9c6b8f5-x2x${i % 97}`, namespace: `team-${i % 200}` },
  spec: {
    nodeName: `node-${i % NODES}`,
    serviceAccountName: `account-${i % 5}`,
    imagePullSecrets: [{ name: 'registry' }],
    containers: [{ name: 'c', envFrom: [{ configMapRef: { name: `settings-${i % 40}` } }] }],
    volumes: [
      { name: 'root', projected: { sources: [{ configMap: { name: 'kube-root-ca.crt' } }] } },
      { name: 'key', secret: { secretName: `key-${i % 60}` } },
      ...(i % 3 === 0 ? [{ name: 'data', persistentVolumeClaim: { claimName: `data-${i}` } }] : []),
    ],
  },
});
const put = (i) => {
  const pod = podOf(i);
  graph.setPod(pod.metadata.namespace, pod.metadata.name, pod.spec.nodeName, referencesOf(pod));
};
const shared = new Set([objectKey('secret', 'storage', 'login')]);
const startFill = process.hrtime.bigint();
for (let i = 0; i < PODS; i++) {
  put(i);
  if (i % 3 === 0) graph.setVolume(`pv-${i}`, objectKey('pvc', `team-${i % 200}`, `data-${i}`), shared);
}
const filledMs = Number(process.hrtime.bigint() - startFill) / 1e6;
console.log(`${'node graph, filled in'.padEnd(34)} ${filledMs.toFixed(0)} ms`);
console.log(`${'node graph, memory'.padEnd(34)} ${(heapMb() - before).toFixed(1)} MB`);

const nodes = nodeAuthorizer({ graph, rules: [], features: { enabled: () => true } });
const asNode = (i, resource, namespace, name) => ({
  ...attributes(1),
  user: { name: `system:node:node-${i % NODES}`, groups: ['system:nodes'] },
  resource,
  namespace,
  name,
});
const expect = (wanted) => (result) => {
  if (result.decision !== wanted) throw new Error(`wanted ${wanted}, got ${result.decision}`);
};
const allowed = expect('allow');
const refused = expect('no-opinion');
const team = (i) => `team-${(i % PODS) % 200}`;
measure('node reads a secret of its pod', 500_000, (i) =>
  allowed(nodes.authorize(asNode(i, 'secrets', team(i), `key-${(i % PODS) % 60}`))),
);
measure('node reads a stranger’s secret', 500_000, (i) =>
  refused(nodes.authorize(asNode(i, 'secrets', team(i), `strange-${i}`))),
);
measure('node reads its volume', 200_000, (i) => {
  const pod = (i * 3) % PODS;
  allowed(nodes.authorize(asNode(pod, 'persistentvolumes', '', `pv-${pod}`)));
});
measure('node reads the volumes’ secret', 200_000, (i) =>
  allowed(nodes.authorize(asNode(i, 'secrets', 'storage', 'login'))),
);
measure('pod is bound or changed', 100_000, (i) => put(i % PODS));
