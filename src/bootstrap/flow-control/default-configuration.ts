// How requests share the server from the start: priority levels, and the schemas that sort requests into them.
// `mandatory` ones are always as here; suggested ones may be changed by people.
import { MANDATORY_FLOW_SCHEMAS, MANDATORY_PRIORITY_LEVELS } from '../../apis/flowcontrol/mandatory.js';
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
  /** Whether a spec that differs is one people may have set all the same. */
  readonly allowed?: (current: unknown) => boolean;
}

const API_VERSION = `${FLOW_CONTROL_GROUP}/v1`;

const metadataOf = (name: string) => ({ name, annotations: { [AUTO_UPDATE_SPEC]: 'true' } });

function level(
  name: string,
  spec: PriorityLevelConfigurationSpec,
  mandatory = false,
): DefaultObject<PriorityLevelConfiguration> {
  const metadata = metadataOf(name);
  const object = { kind: 'PriorityLevelConfiguration', apiVersion: API_VERSION, metadata, spec, status: {} };
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

const isExempt = (spec: unknown): boolean => (spec as PriorityLevelConfigurationSpec).type === 'Exempt';

export const PRIORITY_LEVELS: readonly DefaultObject<PriorityLevelConfiguration>[] = [
  ...[...MANDATORY_PRIORITY_LEVELS].map(([name, spec]) => ({
    ...level(name, spec, true),
    // How many seats those have that need none is for people to say.
    ...(spec.type === 'Exempt' && { allowed: isExempt }),
  })),
  // Kubelets and what else keeps running pods alive.
  level('system', queued(30, 33, 64, 6)),
  // Health updates of nodes must get through under any other load.
  level('node-high', queued(40, 25, 64, 6)),
  level('leader-election', queued(10, 0, 16, 4)),
  level('workload-high', queued(40, 50, 128, 6)),
  level('workload-low', queued(100, 90, 128, 6)),
  level('global-default', queued(20, 50, 128, 6)),
];

type Rule = Omit<PolicyRulesWithSubjects, 'subjects'>;

function schema(name: string, spec: FlowSchemaSpec, mandatory = false): DefaultObject<FlowSchema> {
  const object = { kind: 'FlowSchema', apiVersion: API_VERSION, metadata: metadataOf(name), spec, status: {} };
  return { object, mandatory };
}

interface SuggestedSchema {
  readonly level: string;
  readonly precedence: number;
  readonly by?: 'ByUser' | 'ByNamespace';
  readonly subjects: readonly Subject[];
  readonly rule: Rule;
}

function suggested(
  name: string,
  { level: levelName, precedence, by, subjects, rule }: SuggestedSchema,
): DefaultObject<FlowSchema> {
  return schema(name, {
    priorityLevelConfiguration: { name: levelName },
    matchingPrecedence: precedence,
    ...(by === undefined ? {} : { distinguisherMethod: { type: by } }),
    rules: [{ subjects: [...subjects], ...rule }],
  });
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
  ...[...MANDATORY_FLOW_SCHEMAS].map(([name, spec]) => schema(name, spec, true)),
  suggested('system-nodes', {
    level: 'system',
    precedence: 500,
    by: 'ByUser',
    subjects: [group('system:nodes')],
    rule: EVERYTHING,
  }),
  suggested('system-node-high', {
    level: 'node-high',
    precedence: 400,
    by: 'ByUser',
    subjects: [group('system:nodes')],
    rule: NODE_HEALTH,
  }),
  suggested('probes', { level: 'exempt', precedence: 2, subjects: EVERYBODY, rule: PROBES }),
  suggested('system-leader-election', {
    level: 'leader-election',
    precedence: 100,
    by: 'ByUser',
    subjects: [MANAGER, SCHEDULER, SYSTEM_ACCOUNTS],
    rule: LEASES,
  }),
  suggested('kube-controller-manager', {
    level: 'workload-high',
    precedence: 800,
    by: 'ByNamespace',
    subjects: [MANAGER],
    rule: EVERYTHING,
  }),
  suggested('kube-scheduler', {
    level: 'workload-high',
    precedence: 800,
    by: 'ByNamespace',
    subjects: [SCHEDULER],
    rule: EVERYTHING,
  }),
  suggested('kube-system-service-accounts', {
    level: 'workload-high',
    precedence: 900,
    by: 'ByNamespace',
    subjects: [SYSTEM_ACCOUNTS],
    rule: EVERYTHING,
  }),
  suggested('service-accounts', {
    level: 'workload-low',
    precedence: 9000,
    by: 'ByUser',
    subjects: [group('system:serviceaccounts')],
    rule: EVERYTHING,
  }),
  suggested('global-default', {
    level: 'global-default',
    precedence: 9900,
    by: 'ByUser',
    subjects: EVERYBODY,
    rule: EVERYTHING,
  }),
];
