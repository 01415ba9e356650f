import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Grant, RbacIndex } from '../../authz/rbac-index.js';
import { RbacAuthorizer } from '../../authz/rbac.js';
import type { KubeObject } from '../../machinery/object.js';
import { StatusError } from '../../machinery/status.js';
import type { LifeContext } from '../../registry/kind.js';
import type { ClusterRole, PolicyRule, RoleBinding } from '../../schema/generated/rbac.v1.js';
import { checkBinding, checkRoleEscalation } from './escalation.js';
import { uncoveredRules, type Uncovered } from './policy-cover.js';

const pods: PolicyRule = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] };
const holding = (...grants: Grant[]) => {
  const rules: RbacIndex = { version: 1, isBound: () => true, grantsFor: () => grants };
  return { authorizer: new RbacAuthorizer(rules), rules };
};
const contextOf = (roles: Record<string, KubeObject> = {}): LifeContext =>
  ({
    user: { name: 'alice', groups: ['dev', 'system:authenticated'] },
    namespace: 'ns',
    lookup: { get: async (_: unknown, __: string, name: string) => roles[name], list: async () => [] },
  }) as unknown as LifeContext;
const roleOf = (...rules: PolicyRule[]): ClusterRole => ({ metadata: { name: 'r', namespace: 'ns' }, rules });

async function refusal(act: Promise<void>): Promise<string> {
  const error = await act.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof StatusError ? `${error.code} ${error.message}` : 'allowed';
}

test('a role may hold only what its writer holds; what is missing is reported, verbs together', async () => {
  const services = holding({ source: 's', rules: [pods] }, { error: 'no role', missingRole: 'x' });
  assert.equal(
    await refusal(checkRoleEscalation(services, { resource: 'roles', role: roleOf(pods), context: contextOf() })),
    'allowed',
  );
  const wider = roleOf({ ...pods, verbs: ['get', 'create', 'delete'], resources: ['pods', 'secrets'] });
  assert.equal(
    await refusal(checkRoleEscalation(services, { resource: 'roles', role: wider, context: contextOf() })),
    '403 roles.rbac.authorization.k8s.io "r" is forbidden: user "alice" (groups=["dev" "system:authenticated"]) is ' +
      'attempting to grant RBAC permissions not currently held:\n' +
      '{APIGroups:[""], Resources:["pods"], Verbs:["create" "delete"]}\n' +
      '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "create" "delete"]}' +
      '; resolution errors: [roles.rbac.authorization.k8s.io "x" not found]',
  );
});

test('only owners and finalizers may change without the rights; a label may not', async () => {
  const services = holding();
  const old = roleOf(pods);
  const act = (metadata: ClusterRole['metadata']) =>
    refusal(
      checkRoleEscalation(services, { resource: 'roles', role: { ...old, metadata }, old, context: contextOf() }),
    );
  assert.equal(await act({ ...old.metadata, finalizers: ['a/b'] }), 'allowed');
  assert.match(await act({ ...old.metadata, labels: { a: 'b' } }), /^403 /);
});

test('an aggregation rule requires all rights', async () => {
  const services = holding({ source: 's', rules: [pods] });
  const aggregating = { ...roleOf(), aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } };
  const text = await refusal(
    checkRoleEscalation(services, { resource: 'clusterroles', role: aggregating, context: contextOf() }),
  );
  assert.match(text, /must have cluster-admin privileges to use the aggregationRule$/);
});

test('a binding needs the rights of its role, or the right to bind it; a missing role is not found', async () => {
  const binding: RoleBinding = {
    metadata: { name: 'b' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
  };
  const act = (services: ReturnType<typeof holding>, roles: Record<string, KubeObject>) =>
    refusal(checkBinding(services, { resource: 'rolebindings', binding, context: contextOf(roles) }));
  const roles = { r: roleOf(pods) as KubeObject };
  assert.equal(await act(holding(), {}), '404 rolebindings.rbac.authorization.k8s.io "r" not found');
  assert.match(
    await act(holding(), roles),
    /^403 rolebindings.rbac.authorization.k8s.io "b" is forbidden: user "alice"/,
  );
  assert.equal(await act(holding({ source: 's', rules: [pods] }), roles), 'allowed');
  const bind: PolicyRule = {
    verbs: ['bind'],
    apiGroups: ['rbac.authorization.k8s.io'],
    resources: ['roles'],
    resourceNames: ['r'],
  };
  assert.equal(await act(holding({ source: 's', rules: [bind] }), roles), 'allowed');
});

test('a rule of very many pieces is refused before they are all looked at', { timeout: 20_000 }, async () => {
  const many = (prefix: string) => Array.from({ length: 500 }, (_, i) => `${prefix}${i}`);
  const huge: PolicyRule = { verbs: many('v'), apiGroups: many('g'), resources: many('r'), resourceNames: many('n') };
  const attempt = (services: ReturnType<typeof holding>) =>
    refusal(checkRoleEscalation(services, { resource: 'roles', role: roleOf(huge), context: contextOf() }));
  assert.match(await attempt(holding({ source: 's', rules: [pods] })), /^403 .*not currently held:\n/);
  const halves = [many('v').slice(0, 250), many('v').slice(250)].map((verbs) => ({ ...huge, verbs }));
  assert.match(
    await attempt(holding({ source: 's', rules: halves })),
    /the rules are more than this server compares with those held$/,
  );
  assert.equal(
    await attempt(holding({ source: 's', rules: [{ ...huge, verbs: ['*'], resourceNames: [] }] })),
    'allowed',
  );
  assert.equal(await attempt(holding({ source: 's', rules: [huge] })), 'allowed');
});

test('a rule without names is not covered by one with names, nor one with names by one with others', async () => {
  const services = holding({ source: 's', rules: [{ ...pods, resourceNames: ['a', 'b'] }] });
  const attempt = (resourceNames: string[]) =>
    refusal(
      checkRoleEscalation(services, {
        resource: 'roles',
        role: roleOf({ ...pods, resourceNames }),
        context: contextOf(),
      }),
    );
  assert.match(await attempt([]), /^403 /);
  assert.match(await attempt(['a', 'c']), /^403 /);
  assert.equal(await attempt(['b', 'a']), 'allowed');
});

test('very many rules are held against very many in steps: those one has are handed out, others are refused in time', async () => {
  const held = Array.from({ length: 1_200 }, (_, i): PolicyRule => ({ ...pods, resourceNames: [`n${i}`] }));
  const wanted = (verbs: string[]): PolicyRule[] => held.map((rule) => ({ ...rule, verbs }));
  const looked = (rules: PolicyRule[]): { steps: number; uncovered: Uncovered } => {
    const work = uncoveredRules(held, rules, { missing: 10_000, comparisons: 100_000, wholeComparisons: 100_000 });
    for (let steps = 0; ; steps++) {
      const { done, value } = work.next();
      if (done) return { steps, uncovered: value };
    }
  };
  const same = looked(wanted(['get', 'list']));
  assert.deepEqual(same.uncovered, { missing: [], isCutShort: false });
  const less = looked(wanted(['get']));
  assert.deepEqual(less.uncovered, { missing: [], isCutShort: true });
  assert.ok(less.steps > 400, `${less.steps} steps`);
});
