// Fields behind feature gates, over the API: for every release that can be emulated and every setting its gate allows,
// the field is kept exactly while the gate is on, and once it is there it stays when the gate goes off.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { appsKinds } from '../../apis/apps/index.js';
import { autoscalingKinds } from '../../apis/autoscaling/index.js';
import { batchKinds } from '../../apis/batch/index.js';
import { coordinationKinds } from '../../apis/coordination/index.js';
import { nodes } from '../../apis/core/node/definition.js';
import { persistentVolumeClaims } from '../../apis/core/persistentvolumeclaim/definition.js';
import { pods } from '../../apis/core/pod/definition.js';
import { discoveryKinds } from '../../apis/discovery/index.js';
import { storageKinds } from '../../apis/storage/index.js';
import { openMemoryStore } from '../../kv/memory.js';
import { chooseFeatureGates, type FeatureGate, featureStateAt } from '../../machinery/feature-gates.js';
import { RELEASE } from '../../machinery/names.js';
import type { KindDefinition } from '../../registry/kind.js';
import { type Body, TestApi, type TestApiOptions } from '../testing/test-api.js';

interface GatedCase {
  readonly gate: FeatureGate;
  readonly kind: keyof typeof KINDS;
  /** Members of the object beside its name. */
  readonly object: object;
  /** `spec.containers.0.lifecycle`: where the field is then. */
  readonly at: string;
}

const KINDS = {
  Pod: ['v1', 'pods', true],
  Node: ['v1', 'nodes', false],
  PersistentVolumeClaim: ['v1', 'persistentvolumeclaims', true],
  Job: ['batch/v1', 'jobs', true],
  StatefulSet: ['apps/v1', 'statefulsets', true],
  Deployment: ['apps/v1', 'deployments', true],
  EndpointSlice: ['discovery.k8s.io/v1', 'endpointslices', true],
  HorizontalPodAutoscaler: ['autoscaling/v2', 'horizontalpodautoscalers', true],
  Lease: ['coordination.k8s.io/v1', 'leases', true],
  CSIDriver: ['storage.k8s.io/v1', 'csidrivers', false],
} as const;

const kinds = [
  pods,
  nodes,
  persistentVolumeClaims,
  ...appsKinds,
  ...batchKinds,
  ...discoveryKinds,
  ...autoscalingKinds,
  ...coordinationKinds,
  ...storageKinds,
] as readonly KindDefinition[];

const container = (members: object = {}) => ({ name: 'c', image: 'i', ...members });
const pod = (members: object) => ({ spec: { containers: [container()], ...members } });
const podWith = (members: object) => ({ spec: { containers: [container(members)] } });
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [container()] } };
const selector = { matchLabels: { a: 'b' } };
const job = (members: object) => ({
  spec: { template: { spec: { restartPolicy: 'Never', containers: [container()] } }, ...members },
});
const indexed = { completionMode: 'Indexed', completions: 2 };
const statefulSet = (members: object) => ({ spec: { serviceName: 's', selector, template, ...members } });
const spread = (members: object) =>
  pod({
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'k', whenUnsatisfiable: 'DoNotSchedule', ...members }],
  });
const affinity = (members: object) =>
  pod({
    affinity: {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'k', labelSelector: selector, ...members }],
      },
    },
  });
const slice = (members: object) => ({ addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'], ...members }] });
const claim = (members: object) => ({
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...members },
});
const autoscaler = (members: object) => ({
  spec: { scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }, maxReplicas: 3, ...members },
});
const source = { kind: 'Populator', name: 'p', apiGroup: 'example.test' };
const mount = { name: 'v', mountPath: '/v', readOnly: true };
const volume = { name: 'v', emptyDir: {} };

const CASES: readonly GatedCase[] = [
  { gate: 'UserNamespacesSupport', kind: 'Pod', object: pod({ hostUsers: false }), at: 'spec.hostUsers' },
  {
    gate: 'SupplementalGroupsPolicy',
    kind: 'Pod',
    object: pod({ securityContext: { supplementalGroupsPolicy: 'Strict' } }),
    at: 'spec.securityContext.supplementalGroupsPolicy',
  },
  {
    gate: 'PodLevelResources',
    kind: 'Pod',
    object: pod({ resources: { limits: { cpu: '1' } } }),
    at: 'spec.resources.limits',
  },
  {
    gate: 'NodeInclusionPolicyInPodTopologySpread',
    kind: 'Pod',
    object: spread({ nodeTaintsPolicy: 'Honor' }),
    at: 'spec.topologySpreadConstraints.0.nodeTaintsPolicy',
  },
  {
    gate: 'MatchLabelKeysInPodTopologySpread',
    kind: 'Pod',
    object: spread({ labelSelector: selector, matchLabelKeys: ['x'] }),
    at: 'spec.topologySpreadConstraints.0.matchLabelKeys',
  },
  {
    gate: 'MatchLabelKeysInPodAffinity',
    kind: 'Pod',
    object: affinity({ matchLabelKeys: ['x'] }),
    at: 'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.0.matchLabelKeys',
  },
  {
    gate: 'DynamicResourceAllocation',
    kind: 'Pod',
    object: pod({ resourceClaims: [{ name: 'r', resourceClaimName: 'c' }] }),
    at: 'spec.resourceClaims',
  },
  {
    gate: 'ClusterTrustBundleProjection',
    kind: 'Pod',
    object: pod({
      volumes: [
        {
          name: 'v',
          projected: {
            sources: [{ secret: { name: 's' } }, { clusterTrustBundle: { name: 'b', path: 'p' } }],
          },
        },
      ],
    }),
    at: 'spec.volumes.0.projected.sources.1.clusterTrustBundle',
  },
  {
    gate: 'InPlacePodVerticalScaling',
    kind: 'Pod',
    object: podWith({ resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }] }),
    at: 'spec.containers.0.resizePolicy',
  },
  {
    gate: 'SidecarContainers',
    kind: 'Pod',
    object: pod({ initContainers: [container({ name: 'i', restartPolicy: 'Always' })] }),
    at: 'spec.initContainers.0.restartPolicy',
  },
  {
    gate: 'RecursiveReadOnlyMounts',
    kind: 'Pod',
    object: {
      spec: {
        containers: [container({ volumeMounts: [{ ...mount, recursiveReadOnly: 'IfPossible' }] })],
        volumes: [volume],
      },
    },
    at: 'spec.containers.0.volumeMounts.0.recursiveReadOnly',
  },
  { gate: 'HostnameOverride', kind: 'Pod', object: pod({ hostnameOverride: 'h' }), at: 'spec.hostnameOverride' },
  {
    gate: 'PodLifecycleSleepAction',
    kind: 'Pod',
    object: podWith({ lifecycle: { preStop: { sleep: { seconds: 3 } } } }),
    at: 'spec.containers.0.lifecycle',
  },
  {
    gate: 'SELinuxChangePolicy',
    kind: 'Pod',
    object: pod({ securityContext: { seLinuxChangePolicy: 'Recursive' } }),
    at: 'spec.securityContext.seLinuxChangePolicy',
  },
  {
    gate: 'PodLifecycleSleepAction',
    kind: 'Deployment',
    object: {
      spec: {
        selector,
        template: {
          ...template,
          spec: { containers: [container({ lifecycle: { postStart: { sleep: { seconds: 3 } } } })] },
        },
      },
    },
    at: 'spec.template.spec.containers.0.lifecycle',
  },
  {
    gate: 'JobSuccessPolicy',
    kind: 'Job',
    object: job({ ...indexed, successPolicy: { rules: [{ succeededCount: 1 }] } }),
    at: 'spec.successPolicy',
  },
  {
    gate: 'JobBackoffLimitPerIndex',
    kind: 'Job',
    object: job({ ...indexed, backoffLimitPerIndex: 1 }),
    at: 'spec.backoffLimitPerIndex',
  },
  { gate: 'JobPodReplacementPolicy', kind: 'Job', object: job({}), at: 'spec.podReplacementPolicy' },
  { gate: 'JobManagedBy', kind: 'Job', object: job({ managedBy: 'example.test/me' }), at: 'spec.managedBy' },
  {
    gate: 'StatefulSetAutoDeletePVC',
    kind: 'StatefulSet',
    object: statefulSet({}),
    at: 'spec.persistentVolumeClaimRetentionPolicy',
  },
  {
    gate: 'MaxUnavailableStatefulSet',
    kind: 'StatefulSet',
    object: statefulSet({}),
    at: 'spec.updateStrategy.rollingUpdate.maxUnavailable',
  },
  {
    gate: 'TopologyAwareHints',
    kind: 'EndpointSlice',
    object: slice({ hints: { forZones: [{ name: 'z' }] } }),
    at: 'endpoints.0.hints',
  },
  {
    gate: 'PreferSameTrafficDistribution',
    kind: 'EndpointSlice',
    object: slice({ hints: { forZones: [{ name: 'z' }], forNodes: [{ name: 'n' }] } }),
    at: 'endpoints.0.hints.forNodes',
  },
  {
    gate: 'SupplementalGroupsPolicy',
    kind: 'Node',
    object: { status: { features: { supplementalGroupsPolicy: true } } },
    at: 'status.features',
  },
  {
    gate: 'AnyVolumeDataSource',
    kind: 'PersistentVolumeClaim',
    object: claim({ dataSourceRef: source }),
    at: 'spec.dataSourceRef',
  },
  {
    gate: 'VolumeAttributesClass',
    kind: 'PersistentVolumeClaim',
    object: claim({ volumeAttributesClassName: 'fast' }),
    at: 'spec.volumeAttributesClassName',
  },
  {
    gate: 'HPAConfigurableTolerance',
    kind: 'HorizontalPodAutoscaler',
    object: autoscaler({ behavior: { scaleUp: { tolerance: '100m' } } }),
    at: 'spec.behavior.scaleUp.tolerance',
  },
  {
    gate: 'CoordinatedLeaderElection',
    kind: 'Lease',
    object: { spec: { strategy: 'OldestEmulationVersion' } },
    at: 'spec.strategy',
  },
  {
    gate: 'SELinuxMountReadWriteOncePod',
    kind: 'CSIDriver',
    object: { spec: { seLinuxMount: true } },
    at: 'spec.seLinuxMount',
  },
  {
    gate: 'MutableCSINodeAllocatableCount',
    kind: 'CSIDriver',
    object: { spec: { nodeAllocatableUpdatePeriodSeconds: 60 } },
    at: 'spec.nodeAllocatableUpdatePeriodSeconds',
  },
];

const MINORS = [31, 32, 33, 34];

describe('fields behind feature gates', () => {
  for (const tried of CASES) {
    it(`${tried.gate}: ${tried.kind} ${tried.at}`, async () => {
      for (const minor of MINORS) {
        for (const gates of settings(tried.gate, minor)) {
          const on = isOn(tried.gate, gates, minor);
          const { status, body } = await create(api(gates, minor), tried);
          assert.equal(status, 201, `${body.message} (1.${minor} ${JSON.stringify(gates)})`);
          const kept = valueAt(body, tried.at) !== undefined;
          assert.equal(kept, on, `at 1.${minor} with ${JSON.stringify(gates)}`);
        }
      }
    });

    const minor = MINORS.find((each) => mayBe(tried.gate, each, true) && mayBe(tried.gate, each, false));
    if (minor === undefined) continue;
    it(`${tried.gate}: ${tried.kind} ${tried.at} stays when the gate goes off`, async () => {
      const kv = openMemoryStore();
      await create(api({ [tried.gate]: true }, minor, { kv }), tried);
      const later = api({ [tried.gate]: false }, minor, { kv });
      const annotated = { metadata: { annotations: { a: 'b' } } };
      const headers = { 'content-type': 'application/merge-patch+json' };
      const { status, body } = await later.send('PATCH', `${pathOf(tried)}/x`, { body: annotated, headers });
      assert.equal(status, 200, body.message);
      assert.notEqual(valueAt(body, tried.at), undefined);
    });
  }
});

const emulated = (minor: number) => ({
  version: { major: 1, minor },
  forwardCompatible: false,
  namedForwardCompatible: false,
});

const api = (gates: Readonly<Record<string, boolean>>, minor: number, more: Partial<TestApiOptions> = {}): TestApi =>
  new TestApi({ kinds: kinds, gates, emulated: emulated(minor), ...more });

function pathOf({ kind }: GatedCase): string {
  const [apiVersion, plural, namespaced] = KINDS[kind];
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return namespaced ? `${base}/namespaces/n/${plural}` : `${base}/${plural}`;
}

const create = (server: TestApi, tried: GatedCase) =>
  server.post(pathOf(tried), {
    apiVersion: KINDS[tried.kind][0],
    kind: tried.kind,
    metadata: { name: 'x' },
    ...tried.object,
  });

/** The gate's default, and what else it may be set to. */
const settings = (gate: FeatureGate, minor: number): Readonly<Record<string, boolean>>[] => [
  {},
  ...[true, false].filter((on) => mayBe(gate, minor, on)).map((on) => ({ [gate]: on })),
];

function mayBe(gate: FeatureGate, minor: number, on: boolean): boolean {
  const { stage, locked, default: byDefault } = featureStateAt(gate, { ...RELEASE, minor });
  return stage !== 'prealpha' && (!locked || byDefault === on);
}

const isOn = (gate: FeatureGate, gates: Readonly<Record<string, boolean>>, minor: number): boolean =>
  chooseFeatureGates(new Map(Object.entries(gates)), { ...RELEASE, minor }).gates.enabled(gate);

const valueAt = (body: Body, path: string): unknown =>
  path.split('.').reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], body);
