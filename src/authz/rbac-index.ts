// Roles and bindings, kept ready for the question "which rules does this user have here?".
//
//   clusterBindings:        User alice ─┬─ ClusterRoleBinding a ── ClusterRole x ── rules
//                           Group dev  ─┘
//   namespaceBindings[ns]:  User alice ─── RoleBinding b ───────── Role y ───────── rules
//
// A binding stands under each of its subjects, so that a decision looks only at the bindings of the user.
import { goQuote } from '../lib/go/quote.js';
import type { UserInfo } from '../machinery/user.js';
import type {
  BindingObject,
  NamedObject,
  PolicyRule,
  RbacChange,
  RbacSources,
  RoleObject,
  RoleRef,
  Subject,
} from './rbac-objects.js';
import { RBAC_GROUP } from './rbac-objects.js';

/** Rules someone has through one binding, or why the binding grants none. */
export type Grant = { readonly source: string; readonly rules: readonly PolicyRule[] } | BrokenGrant;

export interface BrokenGrant {
  readonly error: string;
  /** The name of the role, when all that is wrong is that it is not there. */
  readonly missingRole?: string;
}

export interface RuleResolver {
  /** Everything the user is granted, cluster-wide first, then in the namespace (none when it is empty). */
  grantsFor(user: UserInfo, namespace: string): readonly Grant[];
  /** Rises with every change, for those who cache answers. */
  readonly version: number;
}

export interface RbacIndex extends RuleResolver {
  /** Whether anything is bound to the group, cluster-wide or in the namespace. */
  isBound(group: string, namespace: string): boolean;
}

export function createRbacIndex(sources: RbacSources): RbacIndex {
  const roles = new Map<string, RoleObject>();
  const clusterRoles = new Map<string, RoleObject>();
  const clusterBindings = new BindingTable();
  const namespaceBindings = new Map<string, BindingTable>();
  let version = 0;

  follow(sources.roles, roles);
  follow(sources.clusterRoles, clusterRoles);
  sources.clusterRoleBindings.subscribe((change) => {
    version++;
    clusterBindings.apply(change);
  });
  sources.roleBindings.subscribe((change) => {
    version++;
    const namespace = namespaceOf(change);
    let table = namespaceBindings.get(namespace);
    if (table === undefined) namespaceBindings.set(namespace, (table = new BindingTable()));
    table.apply(change);
    if (table.size === 0) namespaceBindings.delete(namespace);
  });

  return {
    get version() {
      return version;
    },
    isBound: (group, namespace) =>
      clusterBindings.isBound(group) || namespaceBindings.get(namespace)?.isBound(group) === true,
    grantsFor(user, namespace) {
      const grants = clusterBindings.boundTo(user).map((bound) => grantOf(bound, ''));
      if (namespace === '') return grants;
      const local = namespaceBindings.get(namespace)?.boundTo(user) ?? [];
      return [...grants, ...local.map((bound) => grantOf(bound, namespace))];
    },
  };

  function follow(source: RbacSources['roles'], map: Map<string, RoleObject>): void {
    source.subscribe((change) => {
      version++;
      if (change.type === 'put') map.set(objectKey(change.object.metadata), change.object);
      else map.delete(objectKey(change));
    });
  }

  function grantOf({ binding, subject }: Bound, namespace: string): Grant {
    const { roleRef } = binding;
    const role = findRole(roleRef, namespace);
    if ('error' in role) return role;
    return { source: describe(binding, subject, namespace), rules: role.rules ?? [] };
  }

  function findRole(ref: RoleRef, namespace: string): RoleObject | BrokenGrant {
    switch (ref.kind) {
      case 'Role':
        return roles.get(`${namespace}/${ref.name}`) ?? missing('role', ref.name);
      case 'ClusterRole':
        return clusterRoles.get(`/${ref.name}`) ?? missing('clusterrole', ref.name);
      default:
        return { error: `unsupported role reference kind: ${goQuote(ref.kind)}` };
    }
  }
}

const missing = (singular: string, name: string): BrokenGrant => ({
  error: `${singular}.${RBAC_GROUP} ${goQuote(name)} not found`,
  missingRole: name,
});

interface Bound {
  readonly binding: BindingObject;
  readonly subject: Subject;
}

/** Bindings of one scope by subject. */
class BindingTable {
  private readonly bindings = new Map<string, BindingObject>();
  private readonly bySubject = new Map<string, Set<BindingObject>>();

  get size(): number {
    return this.bindings.size;
  }

  apply(change: RbacChange<BindingObject>): void {
    const name = change.type === 'put' ? (change.object.metadata.name ?? '') : change.name;
    this.remove(name);
    if (change.type === 'delete') return;
    const binding = change.object;
    this.bindings.set(name, binding);
    for (const key of subjectKeysOf(binding)) {
      let under = this.bySubject.get(key);
      if (under === undefined) this.bySubject.set(key, (under = new Set()));
      under.add(binding);
    }
  }

  isBound(group: string): boolean {
    return this.bySubject.has(groupKey(group));
  }

  /**
   * The bindings that name the user or one of the groups, each with the first subject that does. In descending
   * order of names, which finds the `system:` bindings that most requests rest on early.
   */
  boundTo(user: UserInfo): Bound[] {
    const found = new Set<BindingObject>(this.bySubject.get(userKey(user.name)));
    for (const group of user.groups) {
      for (const binding of this.bySubject.get(groupKey(group)) ?? []) found.add(binding);
    }
    const keys = new Set([userKey(user.name), ...user.groups.map(groupKey)]);
    return [...found].toSorted(byNameDescending).flatMap((binding) => {
      const subject = binding.subjects?.find((candidate) => keys.has(subjectKey(candidate, binding) ?? ''));
      return subject === undefined ? [] : [{ binding, subject }];
    });
  }

  private remove(name: string): void {
    const old = this.bindings.get(name);
    if (old === undefined) return;
    this.bindings.delete(name);
    for (const key of subjectKeysOf(old)) {
      const under = this.bySubject.get(key);
      under?.delete(old);
      if (under?.size === 0) this.bySubject.delete(key);
    }
  }
}

const userKey = (name: string): string => `u:${name}`;
const groupKey = (name: string): string => `g:${name}`;

/** Undefined for subjects that are nobody. A service account is the user of its long name. */
function subjectKey(subject: Subject, binding: BindingObject): string | undefined {
  switch (subject.kind) {
    case 'User':
      return userKey(subject.name);
    case 'Group':
      return groupKey(subject.name);
    case 'ServiceAccount': {
      const namespace = subject.namespace || (binding.metadata.namespace ?? '');
      return namespace === '' ? undefined : userKey(`system:serviceaccount:${namespace}:${subject.name}`);
    }
    default:
      return undefined;
  }
}

const subjectKeysOf = (binding: BindingObject): string[] =>
  (binding.subjects ?? []).flatMap((subject) => subjectKey(subject, binding) ?? []);

function describe(binding: BindingObject, subject: Subject, namespace: string): string {
  const { roleRef, metadata } = binding;
  const name = metadata.name ?? '';
  const head =
    namespace === '' ? `ClusterRoleBinding ${goQuote(name)}` : `RoleBinding ${goQuote(`${name}/${namespace}`)}`;
  const who = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace || namespace}` : subject.name;
  return `${head} of ${roleRef.kind} ${goQuote(roleRef.name)} to ${subject.kind} ${goQuote(who)}`;
}

const namespaceOf = (change: RbacChange<NamedObject>): string =>
  change.type === 'put' ? (change.object.metadata.namespace ?? '') : change.namespace;

const objectKey = ({ namespace = '', name = '' }: { namespace?: string; name?: string }): string =>
  `${namespace}/${name}`;

function byNameDescending(left: BindingObject, right: BindingObject): number {
  const a = left.metadata.name ?? '';
  const b = right.metadata.name ?? '';
  return a < b ? 1 : a > b ? -1 : 0;
}
