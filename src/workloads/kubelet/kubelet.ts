// The stand-in of all kubelets: says of pods that are bound to a node that they run, and ends those that are deleted.
// No container runs.
import { NODES, updateSame } from '../../controllers/controller.js';
import { WorkQueue } from '../../lib/async/work-queue.js';
import type { KubeObject } from '../../machinery/object.js';
import { AUTHENTICATED_GROUP, type UserInfo } from '../../machinery/user.js';
import { timestamp } from '../../registry/registry.js';
import type { Node, Pod } from '../../schema/generated/core.v1.js';
import type { SharedInformer } from '../shared-informer.js';
import { PODS, type WorkloadParts } from '../workload-parts.js';
import { type Ending, outcomeOf } from './outcome.js';
import { PodAddresses } from './pod-addresses.js';
import { isEnded, restartsOf } from '../pod/pod-state.js';
import { isCrashLooping, podStatus } from './pod-status.js';

const CONCURRENCY = 16;
const MANAGER = 'kubelet';
/** Of a pod whose node has no address. */
const HOST_IP = '10.0.0.1';
/** Containers that exit are restarted after pauses that double, as a kubelet does, from a shorter one. */
const FIRST_RESTART_MS = 20;
const MAX_RESTART_MS = 300_000;

export function addKubelet(parts: WorkloadParts, pods: SharedInformer): void {
  const kubelet = new Kubelet(parts);
  pods.subscribe(kubelet);
}

class Kubelet {
  readonly #parts: WorkloadParts;
  readonly #queue: WorkQueue;
  readonly #addresses = new PodAddresses();
  /** Timers of the next restart, and the pods whose time has come, by key. */
  readonly #restarts = new Map<string, (() => void) | 'due'>();

  constructor(parts: WorkloadParts) {
    const { clock, signal, log } = parts;
    this.#parts = parts;
    const work = (key: string): Promise<'done'> => this.#sync(key);
    this.#queue = new WorkQueue({ name: 'kubelet', work, concurrency: CONCURRENCY, clock, signal, log });
  }

  onUpsert(object: Readonly<KubeObject>, key: string): void {
    const pod = object as Readonly<Pod>;
    this.#addresses.hold(pod);
    if (pod.spec.nodeName) this.#queue.add(key);
  }

  onDelete(object: Readonly<KubeObject>, key: string): void {
    this.#addresses.release(object as Readonly<Pod>);
    this.#cancelRestart(key);
  }

  async #sync(key: string): Promise<'done'> {
    const [namespace = '', name = ''] = key.split('/');
    const { context, clientAs } = this.#parts;
    const pod = (await context().lookup.get(PODS, namespace, name)) as Readonly<Pod> | undefined;
    if (!pod?.spec.nodeName) return 'done';
    const outcome = outcomeOf(pod);
    const client = clientAs(kubeletUser(pod.spec.nodeName));
    if (pod.metadata.deletionTimestamp !== undefined) {
      if (pod.metadata.deletionGracePeriodSeconds === 0) return 'done';
      if (pod.status.startTime !== undefined && !isEnded(pod)) await this.#report(pod, key, endOf(pod));
      await client.delete(PODS, pod, { gracePeriodSeconds: 0 });
    } else if (outcome !== 'pending' && !isEnded(pod)) {
      await this.#report(pod, key, outcome);
      if (outcome === 'fail' || outcome === 'succeed') this.#restartLater(pod, key);
      else this.#cancelRestart(key);
    }
    return 'done';
  }

  async #report(pod: Readonly<Pod>, key: string, outcome: Ending): Promise<void> {
    const { clock, context, clientAs } = this.#parts;
    const { nodeName = '' } = pod.spec;
    const hostIp = await this.#hostIp(nodeName);
    const restart = this.#restarts.get(key) === 'due';
    if (restart) this.#restarts.delete(key);
    const around = {
      now: timestamp(new Date(clock.now())),
      hostIp,
      newPodIp: () => this.#addresses.next(pod.metadata.uid ?? ''),
      generations: context().features.enabled('PodObservedGenerationTracking'),
      restart,
    };
    const change = (object: KubeObject): KubeObject => {
      const current = object as Pod;
      // A pod that is deleted ends, whatever its restart policy.
      const ending = { ...current, spec: { ...current.spec, restartPolicy: 'Never' as const } };
      const subject = current.metadata.deletionTimestamp === undefined ? current : ending;
      current.status = podStatus(subject, outcome, around);
      return current;
    };
    const client = clientAs(kubeletUser(nodeName));
    await updateSame(client, { resource: PODS, object: pod, change, subresource: 'status', manager: MANAGER });
  }

  async #hostIp(nodeName: string): Promise<string> {
    const node = (await this.#parts.context().lookup.get(NODES, '', nodeName)) as Readonly<Node> | undefined;
    return node?.status.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? HOST_IP;
  }

  #restartLater(pod: Readonly<Pod>, key: string): void {
    if (this.#restarts.has(key) || !isCrashLooping(pod)) return;
    const ms = Math.min(FIRST_RESTART_MS * 2 ** Math.min(restartsOf(pod), 20), MAX_RESTART_MS);
    const cancel = this.#parts.clock.after(ms, () => {
      this.#restarts.set(key, 'due');
      this.#queue.add(key);
    });
    this.#restarts.set(key, cancel);
  }

  #cancelRestart(key: string): void {
    const pending = this.#restarts.get(key);
    if (typeof pending === 'function') pending();
    this.#restarts.delete(key);
  }
}

/** Admission lets a kubelet write about the pods of its node alone. */
const kubeletUser = (node: string): UserInfo => ({
  name: `system:node:${node}`,
  groups: ['system:nodes', AUTHENTICATED_GROUP],
});

/** Servers end well when they are asked to, and what has not done its work has failed. */
const endOf = ({ spec }: Readonly<Pod>): Ending => (spec.restartPolicy === 'Always' ? 'succeed' : 'terminate');
