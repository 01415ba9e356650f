// Gives aggregated cluster roles the rules of the roles they select.
import { deepEqual } from '../lib/values/deep-equal.js';
import { labelSelectorAsSelector } from '../machinery/label-selector.js';
import type { ClusterRole, PolicyRule } from '../schema/generated/rbac.v1.js';
import { startInformer } from '../storage/informer.js';
import { type ControllerParts, registryOf } from './controller.js';
import { WorkQueue } from '../lib/async/work-queue.js';

const MANAGER = 'clusterrole-aggregation-controller';
const CLUSTER_ROLES = { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' };

export async function startClusterRoleAggregation(parts: ControllerParts): Promise<void> {
  const { client, clock, signal, log } = parts;
  const aggregated = new Set<string>();
  const queue = new WorkQueue({
    name: 'clusterrole-aggregation',
    concurrency: 5,
    clock,
    signal,
    log,
    async work(name) {
      // With only some of the roles known, a role would lose the others' rules for a while.
      await roles.synced;
      const role = roles.objects.get(name)?.object() as Readonly<ClusterRole> | undefined;
      if (role?.aggregationRule === undefined) return 'done';
      const rules = aggregatedRules(
        role,
        [...roles.objects.values()].map((stored) => stored.object() as Readonly<ClusterRole>),
      );
      if (deepEqual(rules, role.rules ?? [])) return 'done';
      const configuration = {
        kind: 'ClusterRole',
        apiVersion: 'rbac.authorization.k8s.io/v1',
        metadata: { name },
        rules,
      };
      await client.apply({ resource: CLUSTER_ROLES, object: role, configuration, manager: MANAGER });
      return 'done';
    },
  });
  // Which roles a change concerns is not known: all aggregated ones look, and they are few.
  const lookAll = (): void => {
    for (const name of aggregated) queue.add(name);
  };
  const roles = startInformer({
    store: registryOf(parts, CLUSTER_ROLES).store,
    signal,
    log,
    onUpsert: (stored) => {
      if ((stored.object() as Readonly<ClusterRole>).aggregationRule !== undefined) aggregated.add(stored.key);
      else aggregated.delete(stored.key);
      lookAll();
    },
    onDelete: (stored) => {
      aggregated.delete(stored.key);
      lookAll();
    },
  });
  await roles.synced;
}

/** The selected roles' rules, selector by selector and name by name, each rule once. */
function aggregatedRules(role: Readonly<ClusterRole>, all: readonly Readonly<ClusterRole>[]): PolicyRule[] {
  const rules: PolicyRule[] = [];
  for (const selector of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const matcher = labelSelectorAsSelector(selector);
    const selected = all
      .filter(({ metadata }) => metadata.name !== role.metadata.name && matcher.matches(metadata.labels ?? {}))
      .toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
    for (const rule of selected.flatMap((other) => other.rules ?? [])) {
      if (!rules.some((known) => deepEqual(known, rule))) rules.push(rule);
    }
  }
  return rules;
}
