// How long an RBAC decision takes with 1,000 bindings and 200 roles: remembered, and right after a change.
//
//   node tools/bench-authz.mjs
import { loadSource } from './bundle.mjs';

const { createRbacAuthorizer } = await loadSource('src/authz/rbac.ts');

const source = () => {
  const receivers = [];
  return {
    subscribe: (receive) => receivers.push(receive),
    put: (object) => receivers.forEach((r) => r({ type: 'put', object })),
  };
};
const sources = { roles: source(), roleBindings: source(), clusterRoles: source(), clusterRoleBindings: source() };
const authorizer = createRbacAuthorizer(sources);
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
