import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exposedCollector } from '../lib/scheduling/collector.js';
import type { AuthorizationAttributes } from './authorizer.js';
import { authorizerChain } from './chain.js';
import { RbacAuthorizer } from './rbac.js';
import { createRbacIndex } from './rbac-index.js';
import type { BindingObject, NamedObject, RbacChange, RbacSource, RoleObject } from './rbac-objects.js';

class TestSource<T extends NamedObject> implements RbacSource<T> {
  private receive: (change: RbacChange<T>) => void = () => undefined;
  subscribe(receive: (change: RbacChange<T>) => void): void {
    this.receive = receive;
  }
  put(object: T): void {
    this.receive({ type: 'put', object });
  }
  delete(namespace: string, name: string): void {
    this.receive({ type: 'delete', namespace, name });
  }
}

function setUp() {
  const sources = {
    roles: new TestSource<RoleObject>(),
    roleBindings: new TestSource<BindingObject>(),
    clusterRoles: new TestSource<RoleObject>(),
    clusterRoleBindings: new TestSource<BindingObject>(),
  };
  const rbac = { type: 'RBAC', name: 'rbac', authorizer: new RbacAuthorizer(createRbacIndex(sources)) };
  const authorizer = authorizerChain([rbac], () => undefined);
  const may = (user: string, verb: string, resource: string, more: Partial<AuthorizationAttributes> = {}) =>
    authorizer.authorize({
      user: { name: user, groups: [] },
      verb,
      resourceRequest: true,
      apiGroup: '',
      apiVersion: 'v1',
      resource,
      subresource: '',
      namespace: 'a',
      name: '',
      path: '',
      ...more,
    });
  return { ...sources, may };
}

const binding = (name: string, roleKind: string, role: string, ...subjects: string[]): BindingObject => ({
  metadata: { name, namespace: 'a' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: roleKind, name: role },
  subjects: subjects.map((text) => {
    const [kind = '', subject = ''] = text.split('=');
    return { kind, name: subject };
  }),
});

test('a binding to a role that is missing grants nothing and says so; the role helps at once when it comes', async () => {
  const { may, roleBindings, roles } = setUp();
  roleBindings.put(binding('b', 'Role', 'r', 'User=alice', 'ServiceAccount=robot'));
  assert.deepEqual(await may('alice', 'get', 'pods'), {
    decision: 'no-opinion',
    reason: 'RBAC: role.rbac.authorization.k8s.io "r" not found',
  });
  roles.put({
    metadata: { name: 'r', namespace: 'a' },
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
  });
  assert.deepEqual(await may('alice', 'get', 'pods'), {
    decision: 'allow',
    reason: 'RBAC: allowed by RoleBinding "b/a" of Role "r" to User "alice"',
  });
  const robot = await may('system:serviceaccount:a:robot', 'get', 'pods');
  assert.equal(robot.reason, 'RBAC: allowed by RoleBinding "b/a" of Role "r" to ServiceAccount "robot/a"');
  assert.equal((await may('alice', 'get', 'pods', { namespace: 'b' })).decision, 'no-opinion');
  roleBindings.delete('a', 'b');
  assert.deepEqual(await may('alice', 'get', 'pods'), { decision: 'no-opinion', reason: '' });
});

test('names, subresources and URLs with stars match as kube-apiserver has them', async () => {
  const { may, clusterRoles, clusterRoleBindings } = setUp();
  clusterRoleBindings.put({ ...binding('b', 'ClusterRole', 'r', 'User=u'), metadata: { name: 'b' } });
  clusterRoles.put({
    metadata: { name: 'r' },
    rules: [
      { verbs: ['update'], apiGroups: ['apps'], resources: ['*'], resourceNames: ['web'] },
      { verbs: ['get'], apiGroups: ['*'], resources: ['*/scale', 'pods/log'] },
      { verbs: ['get'], nonResourceURLs: ['/healthz', '/api/*'] },
    ],
  });
  const allowed = async (...args: Parameters<typeof may>) => (await may(...args)).decision === 'allow';
  assert.equal(await allowed('u', 'update', 'deployments', { apiGroup: 'apps', name: 'web' }), true);
  assert.equal(await allowed('u', 'update', 'deployments', { apiGroup: 'apps', name: 'other' }), false);
  assert.equal(await allowed('u', 'update', 'deployments', { apiGroup: 'apps', name: '' }), false);
  assert.equal(await allowed('u', 'get', 'deployments', { apiGroup: 'x', subresource: 'scale' }), true);
  assert.equal(await allowed('u', 'get', 'pods', { subresource: 'log' }), true);
  assert.equal(await allowed('u', 'get', 'pods'), false);
  const path = (text: string) => allowed('u', 'get', '', { resourceRequest: false, path: text });
  assert.equal(await path('/healthz'), true);
  assert.equal(await path('/healthz/x'), false);
  assert.equal(await path('/api/v1'), true);
  assert.equal(await path('/apis'), false);
});

test('system:masters may do all, without a reason', async () => {
  const { may } = setUp();
  assert.equal((await may('x', 'delete', 'nodes')).decision, 'no-opinion');
  assert.deepEqual(await may('x', 'delete', 'nodes', { user: { name: 'x', groups: ['system:masters'] } }), {
    decision: 'allow',
    reason: '',
  });
});

test('of a hundred thousand groups those count that something is bound to, and deciding yields to the event loop', async () => {
  const { may, roleBindings, clusterRoleBindings, roles, clusterRoles } = setUp();
  const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }];
  roles.put({ metadata: { name: 'r', namespace: 'a' }, rules });
  clusterRoles.put({ metadata: { name: 'c' }, rules });
  roleBindings.put(binding('b', 'Role', 'r', 'Group=g70000'));
  const groups = Array.from({ length: 100_000 }, (_, i) => `g${i}`);
  let yields = 0;
  const others = setInterval(() => yields++, 0);
  const many = { user: { name: 'eve', groups } };
  const { reason } = await may('eve', 'get', 'pods', many);
  clearInterval(others);
  assert.equal(reason, 'RBAC: allowed by RoleBinding "b/a" of Role "r" to Group "g70000"');
  assert.ok(yields > 0);
  assert.equal((await may('eve', 'get', 'pods', { ...many, namespace: 'b' })).decision, 'no-opinion');
  clusterRoleBindings.put(binding('d', 'ClusterRole', 'c', 'Group=g99999'));
  assert.equal((await may('eve', 'get', 'pods', { ...many, namespace: 'b' })).decision, 'allow');
});

test('names, paths and users as long as a request may be are not cached', () => {
  const { may } = setUp();
  const collect = collector();
  const long = 1024 * 1024;
  const before = collect();
  for (let i = 0; i < 40; i++) {
    const text = `${i}`.padEnd(long, 'x');
    void may('u', 'get', 'pods', { name: text });
    void may('u', 'get', 'pods', { namespace: text });
    void may('u', 'get', '', { resourceRequest: false, path: text });
    void may(text, 'get', 'pods');
  }
  const grownBytes = collect() - before;
  assert.ok(grownBytes < 20 * long, `${grownBytes} bytes are kept`);
});

/** Tells what the heap holds after a collection. */
function collector(): () => number {
  const collect = exposedCollector();
  return () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
}

test('a role that is bound many times is checked once', async () => {
  const { may, roleBindings, roles } = setUp();
  let checks = 0;
  const resourceNames = new Proxy(['x'], {
    get(target, key, receiver) {
      if (key === 'includes') checks++;
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
  const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames };
  roles.put({ metadata: { name: 'r', namespace: 'a' }, rules: [rule] });
  for (const name of ['one', 'two', 'three']) roleBindings.put(binding(name, 'Role', 'r', 'User=u'));
  assert.equal((await may('u', 'get', 'pods', { name: 'y' })).decision, 'no-opinion');
  assert.equal(checks, 1);
  assert.equal((await may('u', 'get', 'pods', { name: 'x' })).decision, 'allow');
});
