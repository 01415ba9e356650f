// What those who come in may do, from the options.
import { abacAuthorizer } from '../authz/abac/authorizer.js';
import type { AbacPolicy } from '../authz/abac/policy.js';
import { readPolicyFile } from '../authz/abac/policy-file.js';
import type { Authorizer } from '../authz/authorizer.js';
import { authorizerChain, type ChainMember } from '../authz/chain.js';
import { alwaysAllow, alwaysDeny } from '../authz/fixed.js';
import { decisionMetrics, graphMetrics } from '../authz/metrics.js';
import { nodeAuthorizer } from '../authz/node/authorizer.js';
import { feedGraph, type GraphStores } from '../authz/node/feed-graph.js';
import { NodeGraph } from '../authz/node/graph.js';
import { rbacAuthorizer } from '../authz/rbac.js';
import { createRbacIndex, type RuleResolver } from '../authz/rbac-index.js';
import { RBAC_GROUP, type BindingObject, type RoleObject } from '../authz/rbac-objects.js';
import { createStoreSource, type StoreSource } from '../authz/store-source.js';
import { nodeRules } from '../bootstrap/rbac/default-policy.js';
import { errorText } from '../lib/error-text.js';
import type { Logger } from '../lib/log.js';
import type { MetricRegistry } from '../lib/metrics.js';
import type { KubeObject } from '../machinery/object.js';
import type { Options } from '../options/options.js';
import type { AuthorizationMode } from '../options/validate/authorization.js';
import type { Resources } from './resources.js';

export interface Authorization {
  readonly authorizer: Authorizer;
  readonly rules: RuleResolver;
  /** Resolves when what was there at the start is known of all that decisions rest on. */
  readonly synced: Promise<void>;
  /** The kinds of which that is not so yet. */
  readonly unsynced: () => readonly string[];
}

export interface AuthorizationParts {
  readonly resources: Resources;
  readonly metrics: MetricRegistry;
  readonly stopping: AbortSignal;
  readonly log: Logger;
}

export function buildAuthorization(options: Options, parts: AuthorizationParts): Authorization {
  const waiting = new Map<string, Promise<unknown>>();
  const rules = followRules(parts, waiting);
  const builtIn = builtInAuthorizers(options, parts, rules, waiting);
  const members = authorizationModes(options).map((mode): ChainMember => {
    return { type: mode, name: mode.toLowerCase(), authorizer: builtIn(mode as Exclude<AuthorizationMode, 'Webhook'>) };
  });
  for (const [kind, known] of waiting) void known.then(() => waiting.delete(kind));
  return {
    authorizer: authorizerChain(members, decisionMetrics(parts.metrics)),
    rules,
    synced: Promise.all(waiting.values()).then(() => undefined),
    unsynced: () => [...waiting.keys()],
  };
}

/** None with --authorization-config, which is not read yet: then only system:masters may do anything. */
export function authorizationModes({ authorization }: Options): readonly string[] {
  return authorization.authorizationMode;
}

/** Roles and bindings are followed in every mode: who hands out rights by them must hold them. */
function followRules({ resources, stopping, log }: AuthorizationParts, waiting: Map<string, Promise<unknown>>) {
  const source = <T extends RoleObject | BindingObject>(
    kind: string,
    resource: string,
  ): StoreSource<T & KubeObject> => {
    const followed = createStoreSource<T & KubeObject>({
      store: resources.store({ group: RBAC_GROUP, resource }),
      signal: stopping,
      log: (message) => log.warning(message),
    });
    waiting.set(kind, followed.synced);
    return followed;
  };
  return createRbacIndex({
    roles: source<RoleObject>('Role', 'roles'),
    roleBindings: source<BindingObject>('RoleBinding', 'rolebindings'),
    clusterRoles: source<RoleObject>('ClusterRole', 'clusterroles'),
    clusterRoleBindings: source<BindingObject>('ClusterRoleBinding', 'clusterrolebindings'),
  });
}

function builtInAuthorizers(
  options: Options,
  parts: AuthorizationParts,
  rules: RuleResolver,
  waiting: Map<string, Promise<unknown>>,
): (mode: Exclude<AuthorizationMode, 'Webhook'>) => Authorizer {
  return (mode) => {
    switch (mode) {
      case 'AlwaysAllow':
        return alwaysAllow;
      case 'AlwaysDeny':
        return alwaysDeny;
      case 'ABAC':
        return abacAuthorizer(policiesOf(options));
      case 'RBAC':
        return rbacAuthorizer(rules);
      case 'Node':
        return followNodes(options, parts, waiting);
    }
  };
}

function policiesOf({ authorization }: Options): AbacPolicy[] {
  try {
    return readPolicyFile(authorization.authorizationPolicyFile);
  } catch (error) {
    throw new Error(`invalid authorization config: ${errorText(error)}`, { cause: error });
  }
}

const GRAPH_RESOURCES = {
  Pod: { group: '', resource: 'pods' },
  PersistentVolume: { group: '', resource: 'persistentvolumes' },
  VolumeAttachment: { group: 'storage.k8s.io', resource: 'volumeattachments' },
  ResourceSlice: { group: 'resource.k8s.io', resource: 'resourceslices' },
  PodCertificateRequest: { group: 'certificates.k8s.io', resource: 'podcertificaterequests' },
} as const;

function followNodes(
  { featureGates }: Options,
  { resources, metrics, stopping, log }: AuthorizationParts,
  waiting: Map<string, Promise<unknown>>,
): Authorizer {
  const graph = new NodeGraph();
  const stores: GraphStores = Object.fromEntries(
    Object.entries(GRAPH_RESOURCES).flatMap(([kind, resource]) => {
      const registry = resources.registry(resource);
      return registry === undefined ? [] : [[kind, registry.store]];
    }),
  );
  const synced = feedGraph({
    graph,
    stores,
    signal: stopping,
    log: (message) => log.warning(message),
    observe: graphMetrics(metrics),
    nowMs: () => performance.now(),
  });
  for (const [kind, known] of synced) waiting.set(kind, known);
  return nodeAuthorizer({ graph, rules: nodeRules(featureGates), features: featureGates });
}
