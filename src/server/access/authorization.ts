// The authorizer, built from the options.
import os from 'node:os';
import { abacAuthorizer } from '../../authz/abac/authorizer.js';
import { readPolicyFile } from '../../authz/abac/policy-file.js';
import type { Authorizer } from '../../authz/authorizer.js';
import { alwaysAllow, alwaysDeny } from '../../authz/fixed.js';
import { decisionMetrics, graphMetrics } from '../../authz/metrics.js';
import { nodeAuthorizer } from '../../authz/node/authorizer.js';
import { feedGraph, type GraphStores } from '../../authz/node/feed-graph.js';
import { NodeGraph } from '../../authz/node/graph.js';
import { RbacAuthorizer } from '../../authz/rbac.js';
import { createRbacIndex, type RbacIndex, type RuleResolver } from '../../authz/rbac-index.js';
import { RBAC_GROUP, type BindingObject, type RoleObject } from '../../authz/rbac-objects.js';
import { createStoreSource, type StoreSource } from '../../authz/store-source.js';
import { webhookMetrics } from '../../authz/webhook/metrics.js';
import { identityOf } from '../../bootstrap/identity-lease.js';
import { nodeRules } from '../../bootstrap/rbac/default-policy.js';
import type { ReviewConditionCompiler } from '../../cel/review-condition.js';
import type { BuiltInType } from '../../config/authorization/config.js';
import { reloadMetrics } from '../../config/reload-metrics.js';
import { errorText } from '../../lib/text/error-text.js';
import type { ReloadRequests } from '../../lib/files/reload-requests.js';
import type { Logger } from '../../lib/telemetry/log.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { KubeObject } from '../../machinery/object.js';
import type { Options } from '../../options/options.js';
import type { Dialer } from '../../outbound/dialer.js';
import { buildChain, type ReplaceableChain } from './authorization-chain.js';
import { type ChainConfig, followChainConfig, readChainConfig } from './authorization-config.js';
import type { WebhookParts } from './authorization-webhooks.js';
import type { Resources } from '../kinds/resources.js';
import { restClientMetrics } from '../metrics/rest-client-metrics.js';

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
  readonly dialer: Dialer;
  readonly expressions: ReviewConditionCompiler;
  readonly metrics: MetricRegistry;
  readonly stopping: AbortSignal;
  readonly reloads: ReloadRequests;
  readonly log: Logger;
}

/** Throws when a file that was named cannot be used. */
export function buildAuthorization(options: Options, parts: AuthorizationParts): Authorization {
  const waiting = new Map<string, Promise<unknown>>();
  const rules = followRules(parts, waiting);
  const chain = startChain(options, parts, builtInAuthorizers(options, parts, rules, waiting));
  for (const [kind, known] of waiting) void known.then(() => waiting.delete(kind));
  return {
    authorizer: chain.authorizer,
    rules,
    synced: Promise.all(waiting.values()).then(() => undefined),
    unsynced: () => [...waiting.keys()],
  };
}

function startChain(
  options: Options,
  { expressions, dialer, metrics, stopping, reloads, log }: AuthorizationParts,
  builtIn: (type: BuiltInType) => Authorizer,
): ReplaceableChain {
  let config: ChainConfig;
  let chain: ReplaceableChain;
  let webhooks: WebhookParts | undefined;
  try {
    config = readChainConfig(options, expressions);
    chain = buildChain(config.authorizers, {
      builtIn,
      webhooks: () =>
        (webhooks ??= { dialer, metrics: webhookMetrics(metrics), observe: restClientMetrics(metrics), stopping, log }),
      observe: decisionMetrics(metrics),
    });
  } catch (error) {
    throw new Error(`invalid authorization config: ${errorText(error)}`, { cause: error });
  }
  const file = options.authorization.authorizationConfig;
  if (file === '') return chain;
  const counts = reloadMetrics(metrics, {
    topic: 'authorization',
    serverId: identityOf(os.hostname()),
    stability: 'BETA',
    nowMs: Date.now,
  });
  followChainConfig({ file, config, chain, compiler: expressions, metrics: counts, stopping, reloads, log });
  return chain;
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
      log,
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
  rules: RbacIndex,
  waiting: Map<string, Promise<unknown>>,
): (type: BuiltInType) => Authorizer {
  return (type) => {
    switch (type) {
      case 'AlwaysAllow':
        return alwaysAllow;
      case 'AlwaysDeny':
        return alwaysDeny;
      case 'ABAC':
        return abacAuthorizer(readPolicyFile(options.authorization.authorizationPolicyFile));
      case 'RBAC':
        return new RbacAuthorizer(rules);
      case 'Node':
        return followNodes(options, parts, waiting);
    }
  };
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
    log,
    observe: graphMetrics(metrics),
    nowMs: () => performance.now(),
  });
  for (const [kind, known] of synced) waiting.set(kind, known);
  return nodeAuthorizer({ graph, rules: nodeRules(featureGates), features: featureGates });
}
