// Nobody hands out more than they hold: the checks that stand before every write of a role or binding.
import { ownMember } from '../../lib/values/plain-object.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { goQuote } from '../../lib/go/quote.js';
import type { Authorizer } from '../../authz/authorizer.js';
import { RBAC_GROUP } from '../../authz/rbac-objects.js';
import type { RuleResolver } from '../../authz/rbac-index.js';
import { runCooperatively } from '../../lib/scheduling/yield.js';
import { badRequest, forbidden, notFound, StatusError } from '../../machinery/status.js';
import { MASTERS_GROUP, type UserInfo } from '../../machinery/user.js';
import type { KubeObject } from '../../machinery/object.js';
import type { LifeContext } from '../../registry/kind.js';
import type { ClusterRole, PolicyRule, RoleRef } from '../../schema/generated/rbac.v1.js';
import { describeRules, quotedList, uncoveredRules } from './policy-cover.js';

export interface EscalationServices {
  readonly authorizer: Authorizer;
  readonly rules: RuleResolver;
}

type RoleResource = 'roles' | 'clusterroles';
type BindingResource = 'rolebindings' | 'clusterrolebindings';

export interface RoleChange {
  readonly resource: RoleResource;
  readonly role: Readonly<ClusterRole>;
  readonly old?: Readonly<ClusterRole> | undefined;
  readonly context: LifeContext;
}

/** `name` is the one in the request's path: empty on create. Throws a 403 StatusError. */
export async function checkRoleEscalation(
  services: EscalationServices,
  { resource, role, old, context }: RoleChange,
): Promise<void> {
  const { user } = context;
  if (isSuperuser(user) || onlyForGarbageCollector(role, old)) return;
  const name = old?.metadata.name ?? '';
  if (await allowed(services, { user, verb: 'escalate', resource, namespace: context.namespace, name })) return;
  const refuse = (why: string) => forbidden({ group: RBAC_GROUP, resource }, role.metadata.name ?? '', why);
  const missing = await missingRights(services.rules, resource, role.rules ?? [], context);
  if (missing !== undefined) throw refuse(missing);
  if (!aggregates(role) && !(old !== undefined && aggregates(old))) return;
  // Aggregation gathers whatever others put into roles, so it requires all rights there are.
  if ((await missingRights(services.rules, resource, FULL_AUTHORITY, context)) !== undefined) {
    throw refuse('must have cluster-admin privileges to use the aggregationRule');
  }
}

export interface BindingChange {
  readonly resource: BindingResource;
  readonly binding: Readonly<KubeObject & { roleRef: RoleRef }>;
  readonly old?: Readonly<KubeObject> | undefined;
  readonly context: LifeContext;
}

export async function checkBinding(
  services: EscalationServices,
  { resource, binding, old, context }: BindingChange,
): Promise<void> {
  const { user, namespace } = context;
  if (isSuperuser(user) || onlyForGarbageCollector(binding, old)) return;
  const { roleRef } = binding;
  const roleResource = ownMember(ROLE_RESOURCES, roleRef.kind);
  if (roleResource !== undefined && roleRef.apiGroup === RBAC_GROUP) {
    if (await allowed(services, { user, verb: 'bind', resource: roleResource, namespace, name: roleRef.name })) return;
  }
  const wanted = await rulesOf(roleRef, resource, context);
  const missing = await missingRights(services.rules, resource, wanted, context);
  if (missing !== undefined) throw forbidden({ group: RBAC_GROUP, resource }, binding.metadata.name ?? '', missing);
}

const ROLE_RESOURCES: Readonly<Record<string, RoleResource | undefined>> = {
  Role: 'roles',
  ClusterRole: 'clusterroles',
};

const FULL_AUTHORITY: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

const isSuperuser = (user: UserInfo): boolean => user.groups.includes(MASTERS_GROUP);

const aggregates = (role: Readonly<ClusterRole>): boolean =>
  (role.aggregationRule?.clusterRoleSelectors ?? []).length > 0;

/** Owners and finalizers are changed so that an object can be deleted; that gives nobody any rights. */
function onlyForGarbageCollector(object: Readonly<KubeObject>, old: Readonly<KubeObject> | undefined): boolean {
  return old !== undefined && deepEqual(withoutGarbageFields(object), withoutGarbageFields(old));
}

function withoutGarbageFields(object: Readonly<KubeObject>): object {
  const { ownerReferences: _o, finalizers: _f, selfLink: _s, managedFields: _m, ...metadata } = object.metadata;
  return { ...object, metadata };
}

interface EscalationRequest {
  readonly user: UserInfo;
  readonly verb: 'escalate' | 'bind';
  readonly resource: RoleResource;
  readonly namespace: string;
  readonly name: string;
}

async function allowed(
  services: EscalationServices,
  { user, verb, resource, namespace, name }: EscalationRequest,
): Promise<boolean> {
  const { decision } = await services.authorizer.authorize({
    user,
    verb,
    resourceRequest: true,
    apiGroup: RBAC_GROUP,
    apiVersion: '*',
    resource,
    subresource: '',
    namespace,
    name,
    path: '',
  });
  return decision === 'allow';
}

/** Undefined when the user holds all of the wanted rules. */
async function missingRights(
  rules: RuleResolver,
  resource: RoleResource | BindingResource,
  wanted: readonly PolicyRule[],
  context: LifeContext,
): Promise<string | undefined> {
  const { user, namespace } = context;
  const grants = rules.grantsFor(user, namespace);
  const held = grants.flatMap((grant) => ('rules' in grant ? grant.rules : []));
  const { missing, isCutShort } = await runCooperatively(uncoveredRules(held, wanted));
  if (missing.length === 0)
    return isCutShort ? 'the rules are more than this server compares with those held' : undefined;
  const errors = grants.flatMap((grant) => {
    if (!('error' in grant)) return [];
    return grant.missingRole === undefined ? [grant.error] : [notFound(requested(resource), grant.missingRole).message];
  });
  const resolution = errors.length === 0 ? '' : `; resolution errors: [${aggregate(errors)}]`;
  const who = `user ${goQuote(user.name)} (groups=${quotedList(user.groups)})`;
  const what = `is attempting to grant RBAC permissions not currently held:\n${describeRules(missing)}`;
  return `${who} ${what}${resolution}`;
}

const aggregate = (errors: readonly string[]): string =>
  errors.length === 1 ? errors.join('') : `[${errors.join(', ')}]`;

async function rulesOf(ref: RoleRef, resource: BindingResource, context: LifeContext): Promise<readonly PolicyRule[]> {
  const roleResource = ownMember(ROLE_RESOURCES, ref.kind);
  if (roleResource === undefined) {
    throw new StatusError(500, '', `unsupported role reference kind: ${goQuote(ref.kind)}`);
  }
  const namespace = roleResource === 'roles' ? context.namespace : '';
  if (roleResource === 'roles' && namespace === '') throw badRequest('namespace is required');
  const role = await context.lookup.get({ group: RBAC_GROUP, resource: roleResource }, namespace, ref.name);
  if (role === undefined) throw notFound(requested(resource), ref.name);
  return (role as ClusterRole).rules ?? [];
}

/** The error about a missing role names the requested resource, as kube-apiserver's does. */
const requested = (resource: RoleResource | BindingResource) => ({ group: RBAC_GROUP, resource });
