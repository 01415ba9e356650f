// Reads the short notation of the default policy.
//
//   view label=aggregate-to-edit gathers=aggregate-to-view      a role, its labels, and the labels it gathers roles by
//     read | core | pods,services                               verbs | groups | resources
//     get | core | configmaps | cluster-info                    … | names
//     get | /healthz,/livez                                     verbs | URLs
//     read | resource.k8s.io | resourceclaims [SomeGate]        only with these feature gates, as may stand on a role
//     +events                                                   the rule nearly every controller has
import { RBAC_GROUP } from '../../authz/rbac-objects.js';
import type { FeatureGates } from '../../registry/kind.js';
import type { ClusterRole, PolicyRule, RoleBinding, Subject } from '../../schema/generated/rbac.v1.js';

const API_VERSION = `${RBAC_GROUP}/v1`;
const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update'];
const VERB_WORDS: Readonly<Record<string, readonly string[]>> = {
  read: READ,
  write: WRITE,
  'read-write': [...READ, ...WRITE].toSorted(),
  'read-update': [...READ, 'patch', 'update'].toSorted(),
};
const EVENTS = 'create,patch,update | core,events.k8s.io | events';

/** Roles in the order written, without those whose gates are off. `prefix` goes before each name. */
export function parseRoles(
  text: string,
  kind: 'Role' | 'ClusterRole',
  features: FeatureGates,
  prefix = '',
): ClusterRole[] {
  const roles: ClusterRole[] = [];
  let wanted = false;
  for (const line of linesOf(text)) {
    const { content, on } = splitGates(line, features);
    if (!line.startsWith(' ')) {
      wanted = on;
      if (wanted) roles.push(parseHead(content, kind, prefix));
    } else if (wanted && on) {
      const role = roles.at(-1);
      if (role !== undefined) role.rules = [...(role.rules ?? []), parseRule(content)];
    }
  }
  return roles;
}

/** `name -> role: subjects` */
export function parseBindings(
  text: string,
  kind: 'RoleBinding' | 'ClusterRoleBinding',
  features: FeatureGates,
): RoleBinding[] {
  const roleKind = kind === 'RoleBinding' ? 'Role' : 'ClusterRole';
  return linesOf(text).flatMap((line) => {
    const { content, on } = splitGates(line, features);
    const match = /^(?:([\w-]+)\/)?(\S+?)(?: -> (\S+?))?:(?: (.*))?$/.exec(content);
    if (match === null) throw new Error(`malformed binding: ${line}`);
    const [, namespace, name = '', role = name, subjects = ''] = match;
    return on
      ? [bindingOf({ kind, name, namespace, roleKind, role, subjects: subjects.split(' ').filter(Boolean) })]
      : [];
  });
}

export function bindingOf(binding: {
  readonly kind: 'RoleBinding' | 'ClusterRoleBinding';
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly roleKind: 'Role' | 'ClusterRole';
  readonly role: string;
  readonly subjects: readonly string[];
}): RoleBinding {
  const { kind, name, namespace, roleKind, role, subjects } = binding;
  return {
    kind,
    apiVersion: API_VERSION,
    metadata: defaultMetadata(name, namespace, []),
    ...(subjects.length === 0 ? {} : { subjects: subjects.map(parseSubject) }),
    roleRef: { apiGroup: RBAC_GROUP, kind: roleKind, name: role },
  };
}

function parseHead(content: string, kind: string, prefix: string): ClusterRole {
  const [path = '', ...words] = content.split(' ');
  const slash = kind === 'Role' ? path.indexOf('/') : -1;
  const values = (key: string) =>
    words.flatMap((word) => (word.startsWith(`${key}=`) ? [word.slice(key.length + 1)] : []));
  const selectors = values('gathers').map((label) => ({ matchLabels: { [`${RBAC_GROUP}/${label}`]: 'true' } }));
  return {
    kind,
    apiVersion: API_VERSION,
    metadata: defaultMetadata(
      prefix + path.slice(slash + 1),
      slash < 0 ? undefined : path.slice(0, slash),
      values('label').map((label) => `${RBAC_GROUP}/${label}`),
    ),
    rules: null,
    ...(selectors.length === 0 ? {} : { aggregationRule: { clusterRoleSelectors: selectors } }),
  };
}

/** Marks the object as a default one, and as one that is kept up to date until somebody says otherwise. */
function defaultMetadata(
  name: string,
  namespace: string | undefined,
  labels: readonly string[],
): ClusterRole['metadata'] {
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: {
      'kubernetes.io/bootstrapping': 'rbac-defaults',
      ...Object.fromEntries(labels.map((label) => [label, 'true'])),
    },
    annotations: { [AUTO_UPDATE]: 'true' },
  };
}

export const AUTO_UPDATE = 'rbac.authorization.kubernetes.io/autoupdate';

function parseRule(content: string): PolicyRule {
  const [verbs = '', second = '', resources, names] = (content === '+events' ? EVENTS : content).split(' | ');
  const list = (text: string) => text.split(',');
  const head = { verbs: [...(VERB_WORDS[verbs] ?? list(verbs))] };
  if (resources === undefined) return { ...head, nonResourceURLs: list(second) };
  return {
    ...head,
    apiGroups: list(second).map((group) => (group === 'core' ? '' : group)),
    resources: list(resources),
    ...(names === undefined ? {} : { resourceNames: list(names) }),
  };
}

function parseSubject(text: string): Subject {
  const [kind = '', name = ''] = text.split('=');
  switch (kind) {
    case 'group':
      return { kind: 'Group', apiGroup: RBAC_GROUP, name };
    case 'user':
      return { kind: 'User', apiGroup: RBAC_GROUP, name };
    case 'account': {
      const [namespace = '', account = ''] = name.split('/');
      return { kind: 'ServiceAccount', name: account, namespace };
    }
    default:
      throw new Error(`malformed subject: ${text}`);
  }
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');

function splitGates(line: string, features: FeatureGates): { content: string; on: boolean } {
  const match = /^(.*?)(?: \[([\w,]+)\])?$/.exec(line.trim());
  const gates = match?.[2]?.split(',') ?? [];
  return { content: match?.[1] ?? '', on: gates.every((gate) => features.enabled(gate)) };
}
