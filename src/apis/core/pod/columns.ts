import { AGE_COLUMN, ageCell, column, NAME_COLUMN, sinceCell, wideColumn } from '../../../registry/columns.js';
import type { Cell, Column } from '../../../registry/kind.js';
import type { Container, ContainerStateTerminated, ContainerStatus, Pod } from '../../../schema/generated/core.v1.js';
import { isSidecar } from './containers.js';

export const podColumns: readonly Column[] = [
  NAME_COLUMN,
  column('Ready', 'The aggregate readiness state of this pod for accepting traffic.'),
  column('Status', 'The aggregate status of the containers in this pod.'),
  column(
    'Restarts',
    'The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.',
  ),
  AGE_COLUMN,
  wideColumn('IP', 'Its address inside the cluster.'),
  wideColumn('Node', 'The node it runs on.'),
  wideColumn('Nominated Node', 'The node that is being cleared for it.'),
  wideColumn('Readiness Gates', 'How many of its own readiness conditions hold.'),
];

export function podRow(pod: Readonly<Pod>, now: Date): readonly Cell[] {
  const { spec, status, metadata } = pod;
  const { ready, total, reason, restarts, lastRestart } = summary(pod);
  return [
    metadata.name ?? '',
    `${ready}/${total}`,
    reason,
    restarts > 0 && lastRestart !== undefined ? `${restarts} (${sinceCell(lastRestart, now)} ago)` : String(restarts),
    ageCell(pod, now),
    status.podIPs?.[0]?.ip || '<none>',
    spec.nodeName || '<none>',
    status.nominatedNodeName || '<none>',
    readinessGatesCell(pod),
  ];
}

/** Names and images of a template's containers, for the wide columns of workloads. */
export const containerCells = (containers: readonly Container[] | null | undefined): readonly [string, string] => [
  (containers ?? []).map(({ name }) => name).join(','),
  (containers ?? []).map(({ image = '' }) => image).join(','),
];

export const containerColumns: readonly Column[] = [
  wideColumn('Containers', 'Names of each container in the template.'),
  wideColumn('Images', 'Images referenced by each container in the template.'),
];

interface Summary {
  ready: number;
  total: number;
  reason: string;
  restarts: number;
  lastRestart: string | undefined;
}

/** What one line can say of all containers: the last thing that holds the pod up, or that it runs. */
function summary(pod: Readonly<Pod>): Summary {
  const { spec, status, metadata } = pod;
  const sidecars = new Set((spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  const row: Summary = {
    ready: 0,
    total: (spec.containers ?? []).length + sidecars.size,
    reason: status.reason || (status.phase ?? ''),
    restarts: 0,
    lastRestart: undefined,
  };
  const scheduled = (status.conditions ?? []).find(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated',
  );
  if (scheduled) row.reason = 'SchedulingGated';

  const initializing = summarizeInit(pod, sidecars, row);
  const initialized = (status.conditions ?? []).find(({ type }) => type === 'Initialized')?.status === 'True';
  if (!initializing || initialized) {
    const ran = (status.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name));
    row.restarts = 0;
    row.lastRestart = undefined;
    for (const each of ran.slice(0, initStatusesSeen(pod, sidecars))) countRestarts(each, row);
    summarizeRunning(pod, row);
  }
  if (metadata.deletionTimestamp !== undefined) {
    if (status.reason === 'NodeLost') row.reason = 'Unknown';
    else if (status.phase !== 'Failed' && status.phase !== 'Succeeded') row.reason = 'Terminating';
  }
  return row;
}

/** Looks at init containers up to the first that is not done. True when there is one. */
function summarizeInit({ spec, status }: Readonly<Pod>, sidecars: ReadonlySet<string>, row: Summary): boolean {
  for (const [position, container] of (status.initContainerStatuses ?? []).entries()) {
    countRestarts(container, row);
    const { terminated, waiting } = container.state;
    if (terminated?.exitCode === 0) continue;
    if (sidecars.has(container.name) && container.started) {
      if (container.ready) row.ready++;
      continue;
    }
    if (terminated) row.reason = `Init:${endOf(terminated)}`;
    else if (waiting?.reason && waiting.reason !== 'PodInitializing') row.reason = `Init:${waiting.reason}`;
    else row.reason = `Init:${position}/${(spec.initContainers ?? []).length}`;
    return true;
  }
  return false;
}

/** How many sidecars' statuses come before the first init container that is not done, that one included. */
function initStatusesSeen({ status }: Readonly<Pod>, sidecars: ReadonlySet<string>): number {
  let seen = 0;
  for (const container of status.initContainerStatuses ?? []) {
    if (sidecars.has(container.name)) seen++;
    const done = container.state.terminated?.exitCode === 0 || (sidecars.has(container.name) && container.started);
    if (!done) break;
  }
  return seen;
}

function summarizeRunning({ status }: Readonly<Pod>, row: Summary): void {
  let running = false;
  for (const container of (status.containerStatuses ?? []).toReversed()) {
    countRestarts(container, row);
    const { waiting, terminated } = container.state;
    if (waiting?.reason) row.reason = waiting.reason;
    else if (terminated) row.reason = endOf(terminated);
    else if (container.ready && container.state.running) {
      running = true;
      row.ready++;
    }
  }
  if (row.reason === 'Completed' && running) {
    const ready = (status.conditions ?? []).some((each) => each.type === 'Ready' && each.status === 'True');
    row.reason = ready ? 'Running' : 'NotReady';
  }
}

function countRestarts({ restartCount, lastState }: Readonly<ContainerStatus>, row: Summary): void {
  row.restarts += restartCount;
  const ended = lastState.terminated?.finishedAt;
  if (ended && (row.lastRestart === undefined || ended > row.lastRestart)) row.lastRestart = ended;
}

function endOf({ reason, signal, exitCode }: Readonly<ContainerStateTerminated>): string {
  return reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`);
}

function readinessGatesCell({ spec, status }: Readonly<Pod>): string {
  const gates = spec.readinessGates ?? [];
  if (gates.length === 0) return '<none>';
  const first = new Map((status.conditions ?? []).toReversed().map((condition) => [condition.type, condition.status]));
  const open = gates.filter(({ conditionType }) => first.get(conditionType) === 'True');
  return `${open.length}/${gates.length}`;
}
