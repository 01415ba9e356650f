// The status of a pod as a kubelet reports it, from what shall become of the pod and what was reported before.
import type {
  Container,
  ContainerStatus,
  Pod,
  PodCondition,
  PodPhase,
  PodStatus,
} from '../../schema/generated/core.v1.js';
import { CRASH_LOOP, crashLooping, exited, initialized, running } from './container-status.js';
import type { Ending } from './outcome.js';

export interface Surroundings {
  readonly now: string;
  readonly hostIp: string;
  /** An address that no pod has. */
  readonly newPodIp: () => string;
  /** Whether conditions say which generation they are about. */
  readonly generations: boolean;
  /** Containers that wait for a restart get it now. */
  readonly restart: boolean;
}

export function podStatus(pod: Readonly<Pod>, outcome: Ending, around: Surroundings): PodStatus {
  const { spec, status } = pod;
  const { hostIp, now } = around;
  const phase = phaseOf(pod, outcome);
  const containerStatuses = (spec.containers ?? []).map((container) =>
    containerStatus(pod, container, outcome, around),
  );
  const initContainerStatuses = (spec.initContainers ?? []).map((container) =>
    initStatus(pod, container, phase, around),
  );
  const podIp = status.podIP ?? (spec.hostNetwork === true ? hostIp : around.newPodIp());
  return {
    ...status,
    ...(around.generations && pod.metadata.generation !== undefined && { observedGeneration: pod.metadata.generation }),
    phase,
    conditions: conditions(pod, { phase, containerStatuses, initContainerStatuses }, around),
    hostIP: status.hostIP ?? hostIp,
    hostIPs: status.hostIPs ?? [{ ip: hostIp }],
    podIP: podIp,
    podIPs: status.podIPs ?? [{ ip: podIp }],
    startTime: status.startTime ?? now,
    ...(initContainerStatuses.length > 0 && { initContainerStatuses }),
    containerStatuses,
  };
}

/** A container of it has exited and waits for its restart. */
export const isCrashLooping = ({ status }: Readonly<Pod>): boolean =>
  (status.containerStatuses ?? []).some(({ state }) => state.waiting?.reason === CRASH_LOOP);

function phaseOf({ spec }: Readonly<Pod>, outcome: Ending): PodPhase {
  if (outcome === 'succeed' && spec.restartPolicy !== 'Always') return 'Succeeded';
  if (outcome === 'fail' && spec.restartPolicy === 'Never') return 'Failed';
  return outcome === 'terminate' ? 'Failed' : 'Running';
}

function containerStatus(
  { metadata, spec, status }: Readonly<Pod>,
  container: Readonly<Container>,
  outcome: Ending,
  { now, restart }: Surroundings,
): ContainerStatus {
  const known = status.containerStatuses?.find(({ name }) => name === container.name);
  const isWaiting = known?.state.waiting?.reason === CRASH_LOOP;
  const again = isWaiting && (restart || outcome === 'run' || outcome === 'unready');
  const old = again ? restarted(known) : known;
  const run = { podUid: metadata.uid ?? '', container, old, now };
  if (outcome === 'run') return running(run, true);
  if (outcome === 'unready') return running(run, false);
  const exitCode = EXIT_CODES[outcome];
  const isRestarted = spec.restartPolicy === 'Always' || (spec.restartPolicy === 'OnFailure' && outcome === 'fail');
  return isRestarted ? crashLooping(run, exitCode) : exited(run, exitCode);
}

/** The last one is that of SIGTERM. */
const EXIT_CODES = { succeed: 0, fail: 1, terminate: 143 } as const;

const restarted = (old: Readonly<ContainerStatus>): ContainerStatus => ({
  ...old,
  state: {},
  restartCount: old.restartCount + 1,
});

function initStatus(
  { metadata, status }: Readonly<Pod>,
  container: Readonly<Container>,
  phase: PodPhase,
  { now }: Surroundings,
): ContainerStatus {
  const old = status.initContainerStatuses?.find(({ name }) => name === container.name);
  const run = { podUid: metadata.uid ?? '', container, old, now };
  // A sidecar runs for as long as the pod does.
  if (container.restartPolicy !== 'Always') return initialized(run);
  return phase === 'Running' ? running(run, true) : exited(run, 0);
}

interface Reported {
  readonly phase: PodPhase;
  readonly containerStatuses: readonly ContainerStatus[];
  readonly initContainerStatuses: readonly ContainerStatus[];
}

/** Those of a kubelet in its order, then all others as they are. */
function conditions(pod: Readonly<Pod>, reported: Reported, { now, generations }: Surroundings): PodCondition[] {
  const old = pod.status.conditions ?? [];
  const { generation } = pod.metadata;
  const own = [
    { type: 'PodReadyToStartContainers', ...yes(reported.phase === 'Running') },
    { type: 'Initialized', status: 'True' as const, ...(reported.phase === 'Succeeded' && { reason: COMPLETED }) },
    { type: 'Ready', ...readyOf(pod, reported) },
    { type: 'ContainersReady', ...containersReady(pod, reported) },
    { type: 'PodScheduled', status: 'True' as const },
  ].map((condition): PodCondition => {
    const before = old.find(({ type }) => type === condition.type);
    return {
      ...(generations && generation !== undefined && { observedGeneration: generation }),
      lastProbeTime: null,
      ...condition,
      lastTransitionTime: before?.status === condition.status ? before.lastTransitionTime : now,
    };
  });
  return [...own, ...old.filter(({ type }) => !own.some((one) => one.type === type))];
}

interface Verdict {
  readonly status: 'True' | 'False';
  readonly reason?: string;
  readonly message?: string;
}

const COMPLETED = 'PodCompleted';
const yes = (holds: boolean): Verdict => ({ status: holds ? 'True' : 'False' });

function readyOf(pod: Readonly<Pod>, reported: Reported): Verdict {
  const containers = containersReady(pod, reported);
  if (containers.status !== 'True') return containers;
  const missing = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const gate = pod.status.conditions?.find(({ type }) => type === conditionType);
    if (gate?.status === 'True') return [];
    return gate === undefined
      ? [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`]
      : [`the status of pod readiness gate "${conditionType}" is not "True", but ${gate.status}`];
  });
  if (missing.length === 0) return yes(true);
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: missing.join(', ') };
}

function containersReady({ spec }: Readonly<Pod>, reported: Reported): Verdict {
  if (reported.phase === 'Succeeded') return { status: 'False', reason: COMPLETED };
  if (reported.phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  const sidecars = new Set((spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  const judged = [
    ...reported.initContainerStatuses.filter(({ name }) => sidecars.has(name)),
    ...reported.containerStatuses,
  ];
  const unready = judged.filter(({ ready }) => !ready).map(({ name }) => name);
  if (unready.length === 0) return yes(true);
  const message = `containers with unready status: [${unready.join(' ')}]`;
  return { status: 'False', reason: 'ContainersNotReady', message };
}

const isSidecar = ({ restartPolicy }: Readonly<Container>): boolean => restartPolicy === 'Always';
