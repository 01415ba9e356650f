// A node for clusters that have none, so that pods have somewhere to be.
import { CONTROLLER_MANAGER, NODES, updateSame } from '../../controllers/controller.js';
import type { KubeObject } from '../../machinery/object.js';
import type { UserInfo } from '../../machinery/user.js';
import { timestamp } from '../../registry/registry.js';
import type { Node, NodeCondition, NodeStatus } from '../../schema/generated/core.v1.js';
import type { WorkloadParts } from '../workload-parts.js';

const NAME = 'stand-in';
const CAPACITY = { cpu: '32', 'ephemeral-storage': '256Gi', memory: '128Gi', pods: '10k' };
const KUBELET_PORT = 10250;

/** Made at the start only: a test that deletes it has none. */
export async function ensureNode({ clientAs, clock, context }: WorkloadParts, user: UserInfo): Promise<void> {
  const client = clientAs(user);
  if ((await context().lookup.list(NODES, '')).length > 0) return;
  const node = standInNode(timestamp(new Date(clock.now())));
  if (!(await client.create(NODES, node, CONTROLLER_MANAGER))) return;
  const made = await client.get(NODES, '', NAME);
  if (made === undefined) return;
  // New nodes are not ready to admission, until somebody says they are.
  const untainted = (object: KubeObject): KubeObject => {
    delete (object as Node).spec.taints;
    return object;
  };
  await updateSame(client, { resource: NODES, object: made, change: untainted });
}

function standInNode(now: string): Node {
  return {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: {
      name: NAME,
      labels: {
        'beta.kubernetes.io/arch': 'amd64',
        'beta.kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': NAME,
        'kubernetes.io/os': 'linux',
      },
    },
    spec: { podCIDR: '10.244.0.0/16', podCIDRs: ['10.244.0.0/16'] },
    status: nodeStatus(now),
  };
}

function nodeStatus(now: string): NodeStatus {
  return {
    addresses: [
      { type: 'InternalIP', address: '10.0.0.1' },
      { type: 'Hostname', address: NAME },
    ],
    allocatable: CAPACITY,
    capacity: CAPACITY,
    conditions: CONDITIONS.map(([type, status, reason, message]): NodeCondition => ({
      type,
      status,
      lastHeartbeatTime: now,
      lastTransitionTime: now,
      reason,
      message,
    })),
    daemonEndpoints: { kubeletEndpoint: { Port: KUBELET_PORT } },
    nodeInfo: {
      machineID: '',
      systemUUID: '',
      bootID: '',
      kernelVersion: '',
      osImage: 'Binnacle stand-in',
      containerRuntimeVersion: 'stand-in://0',
      kubeletVersion: 'v1.34.0',
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
  };
}

/** As a kubelet that is well reports them. */
const CONDITIONS = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
] as const;
