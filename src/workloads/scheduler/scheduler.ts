// The stand-in of the scheduler: puts pods on nodes that their selectors and the nodes' taints allow, the one with the
// fewest pods first. It does not look at what pods request.
import { bindPod } from '../../apis/core/pod/binding.js';
import { setPodCondition } from '../../apis/core/pod/conditions.js';
import { updateSame } from '../../controllers/controller.js';
import { WorkQueue } from '../../lib/async/work-queue.js';
import type { KubeObject } from '../../machinery/object.js';
import { AUTHENTICATED_GROUP, type UserInfo } from '../../machinery/user.js';
import type { Node, Pod } from '../../schema/generated/core.v1.js';
import type { SharedInformer } from '../shared-informer.js';
import { PODS, type WorkloadParts } from '../workload-parts.js';
import { misfit } from './node-fit.js';

const OWN_NAME = 'default-scheduler';
const MANAGER = 'kube-scheduler';
const SCHEDULER_USER: UserInfo = { name: 'system:kube-scheduler', groups: [AUTHENTICATED_GROUP] };
// One at a time: the next decision counts what the last one did.
const CONCURRENCY = 1;

export function addScheduler(parts: WorkloadParts, pods: SharedInformer, nodes: SharedInformer): void {
  const scheduler = new Scheduler(parts, nodes);
  pods.subscribe(scheduler);
  nodes.subscribe({ onUpsert: () => scheduler.retry(), onDelete: () => undefined });
}

class Scheduler {
  readonly #parts: WorkloadParts;
  readonly #nodes: SharedInformer;
  readonly #queue: WorkQueue;
  readonly #unbound = new Set<string>();
  /** The node of each pod that has one, and how many pods each node has. */
  readonly #placed = new Map<string, string>();
  readonly #load = new Map<string, number>();

  constructor(parts: WorkloadParts, nodes: SharedInformer) {
    const { clock, signal, log } = parts;
    this.#parts = parts;
    this.#nodes = nodes;
    const work = (key: string): Promise<'done'> => this.#sync(key);
    this.#queue = new WorkQueue({ name: 'scheduler', work, concurrency: CONCURRENCY, clock, signal, log });
  }

  onUpsert(object: Readonly<KubeObject>, key: string): void {
    const { spec } = object as Readonly<Pod>;
    if (spec.nodeName) this.#place(key, spec.nodeName);
    else if (isOurs(object as Readonly<Pod>)) {
      this.#unbound.add(key);
      this.#queue.add(key);
    }
  }

  onDelete(_: Readonly<KubeObject>, key: string): void {
    this.#unbound.delete(key);
    const node = this.#placed.get(key);
    if (node === undefined) return;
    this.#placed.delete(key);
    this.#load.set(node, (this.#load.get(node) ?? 1) - 1);
  }

  /** A node that is new, or has changed, may be one for pods that had none. */
  retry(): void {
    for (const key of this.#unbound) this.#queue.add(key);
  }

  #place(key: string, node: string): void {
    this.#unbound.delete(key);
    if (this.#placed.has(key)) return;
    this.#placed.set(key, node);
    this.#load.set(node, (this.#load.get(node) ?? 0) + 1);
  }

  async #sync(key: string): Promise<'done'> {
    const { context, operations } = this.#parts;
    const [namespace = '', name = ''] = key.split('/');
    const pod = (await context().lookup.get(PODS, namespace, name)) as Readonly<Pod> | undefined;
    if (pod === undefined || pod.spec.nodeName || !isOurs(pod)) return 'done';
    const nodes = [...this.#nodes.objects.values()].map((stored) => stored.object() as Readonly<Node>);
    const refusals = nodes.map((node) => misfit(pod, node));
    const fitting = nodes.filter((_, i) => refusals[i] === undefined).map(({ metadata }) => metadata.name ?? '');
    const [chosen] = fitting.sort((a, b) => (this.#load.get(a) ?? 0) - (this.#load.get(b) ?? 0));
    if (chosen === undefined) await this.#reportUnschedulable(pod, unschedulableText(refusals));
    else {
      const { uid = '' } = pod.metadata;
      const body = { metadata: { name, namespace, uid }, target: { kind: 'Node', name: chosen } };
      await bindPod({ name, namespace, body, context: { ...context(), namespace }, operations });
      this.#place(key, chosen);
    }
    return 'done';
  }

  async #reportUnschedulable(pod: Readonly<Pod>, message: string): Promise<void> {
    const { clientAs, context } = this.#parts;
    const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message } as const;
    const change = (object: KubeObject): KubeObject => {
      setPodCondition((object as Pod).status, condition, context().now());
      return object;
    };
    const client = clientAs(SCHEDULER_USER);
    await updateSame(client, { resource: PODS, object: pod, change, subresource: 'status', manager: MANAGER });
  }
}

const isOurs = ({ metadata, spec, status }: Readonly<Pod>): boolean =>
  spec.schedulerName === OWN_NAME &&
  spec.schedulingGates === undefined &&
  metadata.deletionTimestamp === undefined &&
  status.phase === 'Pending';

/** `0/2 nodes are available: 1 node(s) were unschedulable, 1 …`, the most frequent reasons first as they sort. */
function unschedulableText(refusals: readonly (string | undefined)[]): string {
  if (refusals.length === 0) return 'no nodes available to schedule pods';
  const counts = new Map<string, number>();
  for (const why of refusals) if (why !== undefined) counts.set(why, (counts.get(why) ?? 0) + 1);
  const texts = Array.from(counts, ([why, count]) => `${count} ${why}`).sort();
  return `0/${refusals.length} nodes are available: ${texts.join(', ')}.`;
}
