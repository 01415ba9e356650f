// How requests share the server from the start: priority levels, and the schemas that sort requests into them.
// `mandatory` ones are always as here; suggested ones may be changed by people.
import type {
  FlowSchema,
  FlowSchemaSpec,
  PolicyRulesWithSubjects,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  Subject,
} from '../../schema/generated/flowcontrol.v1.js';

export const FLOW_CONTROL_GROUP = 'flowcontrol.apiserver.k8s.io';
export const AUTO_UPDATE_SPEC = 'apf.kubernetes.io/autoupdate-spec';

export interface DefaultObject<T> {
  readonly object: T;
  readonly mandatory: boolean;
}

const API_VERSION = `${FLOW_CONTROL_GROUP}/v1`;

function level(
  name: string,
  spec: PriorityLevelConfigurationSpec,
  mandatory = false,
): DefaultObject<PriorityLevelConfiguration> {
  const object: PriorityLevelConfiguration = {
    kind: 'PriorityLevelConfiguration',
    apiVersion: API_VERSION,
    metadata: { name, annotations: { [AUTO_UPDATE_SPEC]: 'true' } },
    spec,
    status: {},
  };
  return { object, mandatory };
}

const queued = (
  shares: number,
  lendablePercent: number,
  queues: number,
  handSize: number,
): PriorityLevelConfigurationSpec => ({
  type: 'Limited',
  limited: {
    nominalConcurrencyShares: shares,
    limitResponse: { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 50 } },
    lendablePercent,
  },
});

export const PRIORITY_LEVELS: readonly DefaultObject<PriorityLevelConfiguration>[] = [
  level('exempt', { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }, true),
  level(
    'catch-all',
    {
      type: 'Limited',
      limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 },
    },
    true,
  ),
  // Kubelets and what else keeps running pods alive.
  level('system', queued(30, 33, 64, 6)),
  // Nodes telling that they are well must get through even when much else is going on.
  level('node-high', queued(40, 25, 64, 6)),
  level('leader-election', queued(10, 0, 16, 4)),
  level('workload-high', queued(40, 50, 128, 6)),
  level('workload-low', queued(100, 90, 128, 6)),
  level('global-default', queued(20, 50, 128, 6)),
];

type Rule = Omit<PolicyRulesWithSubjects, 'subjects'>;

function schema(
  name: string,
  levelName: string,
  matchingPrecedence: number,
  distinguisher: '' | 'ByUser' | 'ByNamespace',
  subjects: readonly Subject[],
  rule: Rule,
  mandatory = false,
): DefaultObject<FlowSchema> {
  const spec: FlowSchemaSpec = {
    priorityLevelConfiguration: { name: levelName },
    matchingPrecedence,
    ...(distinguisher === '' ? {} : { distinguisherMethod: { type: distinguisher } }),
    rules: [{ subjects: [...subjects], ...rule }],
  };
  const metadata = { name, annotations: { [AUTO_UPDATE_SPEC]: 'true' } };
  return { object: { kind: 'FlowSchema', apiVersion: API_VERSION, metadata, spec, status: {} }, mandatory };
}

const group = (name: string): Subject => ({ kind: 'Group', group: { name } });
const user = (name: string): Subject => ({ kind: 'User', user: { name } });
const SYSTEM_ACCOUNTS: Subject = { kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name: '*' } };
const EVERYBODY = [group('system:unauthenticated'), group('system:authenticated')];

const EVERYTHING: Rule = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};
const PROBES: Rule = { nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }] };
const LEASES: Rule = {
  resourceRules: [
    {
      verbs: ['get', 'create', 'update'],
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      namespaces: ['*'],
    },
  ],
};
const NODE_HEALTH: Rule = {
  resourceRules: [
    { verbs: ['*'], apiGroups: [''], resources: ['nodes', 'nodes/status'], clusterScope: true, namespaces: ['*'] },
    { verbs: ['*'], apiGroups: ['coordination.k8s.io'], resources: ['leases'], namespaces: ['*'] },
  ],
};
const MANAGER = user('system:kube-controller-manager');
const SCHEDULER = user('system:kube-scheduler');

export const FLOW_SCHEMAS: readonly DefaultObject<FlowSchema>[] = [
  schema('exempt', 'exempt', 1, '', [group('system:masters')], EVERYTHING, true),
  schema('catch-all', 'catch-all', 10_000, 'ByUser', EVERYBODY, EVERYTHING, true),
  schema('system-nodes', 'system', 500, 'ByUser', [group('system:nodes')], EVERYTHING),
  schema('system-node-high', 'node-high', 400, 'ByUser', [group('system:nodes')], NODE_HEALTH),
  schema('probes', 'exempt', 2, '', EVERYBODY, PROBES),
  schema('system-leader-election', 'leader-election', 100, 'ByUser', [MANAGER, SCHEDULER, SYSTEM_ACCOUNTS], LEASES),
  schema('kube-controller-manager', 'workload-high', 800, 'ByNamespace', [MANAGER], EVERYTHING),
  schema('kube-scheduler', 'workload-high', 800, 'ByNamespace', [SCHEDULER], EVERYTHING),
  schema('kube-system-service-accounts', 'workload-high', 900, 'ByNamespace', [SYSTEM_ACCOUNTS], EVERYTHING),
  schema('service-accounts', 'workload-low', 9000, 'ByUser', [group('system:serviceaccounts')], EVERYTHING),
  schema('global-default', 'global-default', 9900, 'ByUser', EVERYBODY, EVERYTHING),
];
