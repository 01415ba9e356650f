// Brings the default roles and bindings about, and back: what is missing is added, what others added stays.
import type { Logger } from '../../lib/telemetry/log.js';
import { runSync } from '../../lib/scheduling/yield.js';
import { uncoveredRules } from '../../apis/rbac/policy-cover.js';
import { RBAC_GROUP } from '../../authz/rbac-objects.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import type { KubeObject } from '../../machinery/object.js';
import type { GroupResource } from '../../machinery/status.js';
import type { FeatureGates } from '../../registry/kind.js';
import type { ClusterRole, RoleBinding } from '../../schema/generated/rbac.v1.js';
import { type ServerClient, SERVER_MANAGER } from '../../registry/server-client.js';
import { defaultPolicy } from './default-policy.js';
import { AUTO_UPDATE } from './notation.js';

export interface BootstrapRbacOptions {
  readonly client: ServerClient;
  readonly features: FeatureGates;
  readonly log: Logger;
}

const resourceOf = (resource: string): GroupResource => ({ group: RBAC_GROUP, resource });

/** All at once: an empty store has the whole policy after one round of writes. Rejects with the first failure. */
export async function bootstrapRbac({ client, features, log }: BootstrapRbacOptions): Promise<void> {
  const policy = defaultPolicy(features);
  await moveOldRoles(client);
  await splitDiscoveryBinding(client, policy.clusterRoleBindings);
  await Promise.all([
    ...policy.clusterRoles.map((role) => reconcileRole(client, resourceOf('clusterroles'), role, log)),
    ...policy.roles.map((role) => reconcileRole(client, resourceOf('roles'), role, log)),
    ...policy.clusterRoleBindings.map((binding) =>
      reconcileBinding(client, resourceOf('clusterrolebindings'), binding, log),
    ),
    ...policy.roleBindings.map((binding) => reconcileBinding(client, resourceOf('rolebindings'), binding, log)),
  ]);
}

/** The role as it shall be, or undefined when it is right already. */
function reconciledRole(existing: Readonly<ClusterRole>, expected: Readonly<ClusterRole>): ClusterRole | undefined {
  const role: ClusterRole = { ...existing, metadata: mergedMetadata(existing, expected) };
  // On every start but the first they are the same, and computing what covers what is far slower.
  const sameRules = deepEqual(existing.rules, expected.rules);
  const missingRules = sameRules ? [] : runSync(uncoveredRules(existing.rules ?? [], expected.rules ?? [])).missing;
  if (missingRules.length > 0) role.rules = [...(existing.rules ?? []), ...missingRules];
  const has = existing.aggregationRule?.clusterRoleSelectors ?? [];
  const missing = (expected.aggregationRule?.clusterRoleSelectors ?? []).filter(
    (selector) => !has.some((own) => deepEqual(own, selector)),
  );
  if (expected.aggregationRule === undefined) delete role.aggregationRule;
  else if (missing.length > 0) role.aggregationRule = { clusterRoleSelectors: [...has, ...missing] };
  return deepEqual(role, existing) ? undefined : role;
}

/** The binding as it shall be, 'recreate' when it binds another role, or undefined when it is right already. */
function reconciledBinding(
  existing: Readonly<RoleBinding>,
  expected: Readonly<RoleBinding>,
): RoleBinding | 'recreate' | undefined {
  if (!deepEqual(existing.roleRef, expected.roleRef)) return 'recreate';
  const binding: RoleBinding = { ...existing, metadata: mergedMetadata(existing, expected) };
  const has = existing.subjects ?? [];
  const missing = (expected.subjects ?? []).filter((subject) => !has.some((own) => deepEqual(own, subject)));
  if (missing.length > 0) binding.subjects = [...has, ...missing];
  return deepEqual(binding, existing) ? undefined : binding;
}

/** What stands there wins: labels and annotations are only added. */
function mergedMetadata(existing: Readonly<KubeObject>, expected: Readonly<KubeObject>): KubeObject['metadata'] {
  return {
    ...existing.metadata,
    labels: { ...expected.metadata.labels, ...existing.metadata.labels },
    annotations: { ...expected.metadata.annotations, ...existing.metadata.annotations },
  };
}

/** An annotation says that this object is left alone. */
const isProtected = (object: Readonly<KubeObject>): boolean => object.metadata.annotations?.[AUTO_UPDATE] === 'false';

async function reconcileRole(
  client: ServerClient,
  resource: GroupResource,
  expected: ClusterRole,
  log: Logger,
): Promise<void> {
  const existing = await currentOrCreated(client, resource, expected);
  if (existing === undefined || reconciledRole(existing as ClusterRole, expected) === undefined) return;
  const text = `${resource.resource} ${expected.metadata.name ?? ''}`;
  if (isProtected(existing)) {
    log.info(`skipped reconcile-protected ${text} with missing permissions`);
    return;
  }
  const change = (current: KubeObject): KubeObject => reconciledRole(current as ClusterRole, expected) ?? current;
  await client.update({ resource, object: existing, change, manager: SERVER_MANAGER });
  log.info(`updated ${text} with additional permissions`);
}

async function reconcileBinding(
  client: ServerClient,
  resource: GroupResource,
  expected: RoleBinding,
  log: Logger,
): Promise<void> {
  const existing = await currentOrCreated(client, resource, expected);
  if (existing === undefined) return;
  const reconciled = reconciledBinding(existing as RoleBinding, expected);
  if (reconciled === undefined) return;
  const text = `${resource.resource} ${expected.metadata.name ?? ''}`;
  if (isProtected(existing)) {
    log.info(`skipped reconcile-protected ${text} with missing subjects`);
    return;
  }
  if (reconciled === 'recreate') {
    await client.delete(resource, existing);
    await client.create(resource, expected, SERVER_MANAGER);
    log.info(`recreated ${text}`);
    return;
  }
  const change = (current: KubeObject): KubeObject => {
    const next = reconciledBinding(current as RoleBinding, expected);
    return next === undefined || next === 'recreate' ? current : next;
  };
  await client.update({ resource, object: existing, change, manager: SERVER_MANAGER });
  log.info(`updated ${text} with additional subjects`);
}

/** Undefined when the object was missing and is now created as expected. */
async function currentOrCreated(
  client: ServerClient,
  resource: GroupResource,
  expected: KubeObject,
): Promise<Readonly<KubeObject> | undefined> {
  const { namespace = '', name = '' } = expected.metadata;
  const existing = await client.get(resource, namespace, name);
  if (existing !== undefined) return existing;
  // Another server may have been quicker.
  if (await client.create(resource, structuredClone(expected), SERVER_MANAGER)) return undefined;
  return client.get(resource, namespace, name);
}

/** Very old clusters kept in `admin` itself what is gathered from `system:aggregate-to-admin` today. */
async function moveOldRoles(client: ServerClient): Promise<void> {
  const resource = resourceOf('clusterroles');
  for (const name of ['admin', 'edit', 'view']) {
    const target = `system:aggregate-to-${name}`;
    if ((await client.get(resource, '', target)) !== undefined) continue;
    const old = (await client.get(resource, '', name)) as ClusterRole | undefined;
    if (old === undefined || old.aggregationRule !== undefined) continue;
    const { labels, annotations } = old.metadata;
    const moved = { ...structuredClone(old), metadata: structuredClone({ name: target, labels, annotations }) };
    await client.create(resource, moved, SERVER_MANAGER);
  }
}

/** Clusters older than `system:public-info-viewer` keep those they let see it under `system:discovery`. */
async function splitDiscoveryBinding(client: ServerClient, bindings: readonly RoleBinding[]): Promise<void> {
  const resource = resourceOf('clusterrolebindings');
  const template = bindings.find((binding) => binding.metadata.name === 'system:public-info-viewer');
  const source = (await client.get(resource, '', 'system:discovery')) as RoleBinding | undefined;
  if (template === undefined || source === undefined) return;
  if ((await client.get(resource, '', 'system:public-info-viewer')) !== undefined) return;
  const { labels, annotations } = source.metadata;
  const metadata = structuredClone({ ...template.metadata, labels, annotations });
  const subjects = source.subjects === undefined ? {} : { subjects: structuredClone(source.subjects) };
  const { subjects: _, ...rest } = structuredClone(template);
  await client.create(resource, { ...rest, metadata, ...subjects }, SERVER_MANAGER);
}
