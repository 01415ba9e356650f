// The RBAC objects of a new server.
import type { FeatureGates } from '../../registry/kind.js';
import type { ClusterRole, PolicyRule, RoleBinding } from '../../schema/generated/rbac.v1.js';
import { CLUSTER_ROLE_BINDINGS, NAMESPACE_ROLE_BINDINGS } from './bindings.js';
import { CLUSTER_ROLES } from './cluster-roles.js';
import { CONTROLLER_ROLES } from './controller-roles.js';
import { NAMESPACE_ROLES } from './namespace-roles.js';
import { bindingOf, parseBindings, parseRoles } from './notation.js';

export interface DefaultPolicy {
  readonly clusterRoles: readonly ClusterRole[];
  readonly clusterRoleBindings: readonly RoleBinding[];
  readonly roles: readonly ClusterRole[];
  readonly roleBindings: readonly RoleBinding[];
}

const CONTROLLER_PREFIX = 'system:controller:';

export function defaultPolicy(features: FeatureGates): DefaultPolicy {
  const controllers = parseRoles(CONTROLLER_ROLES, 'ClusterRole', features, CONTROLLER_PREFIX);
  return {
    clusterRoles: [...parseRoles(CLUSTER_ROLES, 'ClusterRole', features), ...controllers],
    clusterRoleBindings: [
      ...parseBindings(CLUSTER_ROLE_BINDINGS, 'ClusterRoleBinding', features),
      ...controllers.map(({ metadata: { name = '' } }) =>
        bindingOf({
          kind: 'ClusterRoleBinding',
          name,
          roleKind: 'ClusterRole',
          role: name,
          subjects: [`account=kube-system/${name.slice(CONTROLLER_PREFIX.length)}`],
        }),
      ),
    ],
    roles: parseRoles(NAMESPACE_ROLES, 'Role', features),
    roleBindings: parseBindings(NAMESPACE_ROLE_BINDINGS, 'RoleBinding', features),
  };
}

/** What every node may do, as far as it does not depend on which node. */
export const nodeRules = (features: FeatureGates): readonly PolicyRule[] =>
  parseRoles(CLUSTER_ROLES, 'ClusterRole', features).find(({ metadata }) => metadata.name === 'system:node')?.rules ??
  [];
