// The RBAC objects as far as decisions need them. The generated API types fit these shapes.

export interface PolicyRule {
  verbs: string[] | null;
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

export interface RoleRef {
  apiGroup: string;
  kind: string;
  name: string;
}

export interface Subject {
  kind: string;
  apiGroup?: string;
  name: string;
  namespace?: string;
}

export interface NamedObject {
  metadata: { name?: string; namespace?: string };
}

export interface RoleObject extends NamedObject {
  rules: PolicyRule[] | null;
}

export interface BindingObject extends NamedObject {
  subjects?: Subject[];
  roleRef: RoleRef;
}

/**
 * The objects of one resource, as they are and as they change. On `subscribe` every existing object is handed over
 * as a `put`, at once or a little later; then every change, in order.
 */
export interface RbacSource<T extends NamedObject> {
  subscribe(receive: (change: RbacChange<T>) => void): void;
}

export type RbacChange<T extends NamedObject> =
  | { readonly type: 'put'; readonly object: Readonly<T> }
  | { readonly type: 'delete'; readonly namespace: string; readonly name: string };

export interface RbacSources {
  readonly roles: RbacSource<RoleObject>;
  readonly roleBindings: RbacSource<BindingObject>;
  readonly clusterRoles: RbacSource<RoleObject>;
  readonly clusterRoleBindings: RbacSource<BindingObject>;
}

export const RBAC_GROUP = 'rbac.authorization.k8s.io';
