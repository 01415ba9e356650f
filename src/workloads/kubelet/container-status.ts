// The status of a container as a kubelet with containerd reports it.
import { createHash } from 'node:crypto';
import type { Container, ContainerState, ContainerStatus } from '../../schema/generated/core.v1.js';

export interface ContainerRun {
  readonly podUid: string;
  readonly container: Readonly<Container>;
  readonly old: Readonly<ContainerStatus> | undefined;
  /** As the status writes times. */
  readonly now: string;
}

export function running(run: ContainerRun, ready: boolean): ContainerStatus {
  const { old, now } = run;
  const startedAt = old?.state.running?.startedAt ?? now;
  return status(run, { state: { running: { startedAt } }, lastState: old?.lastState ?? {}, ready, started: true });
}

export function exited(run: ContainerRun, exitCode: number): ContainerStatus {
  const { old } = run;
  if (old?.state.terminated !== undefined) return { ...old, ready: false };
  return status(run, {
    state: { terminated: terminated(run, exitCode) },
    lastState: old?.lastState ?? {},
    ready: false,
    started: false,
  });
}

/** An init container that has done its work is ready for good. */
export function initialized(run: ContainerRun): ContainerStatus {
  const { old } = run;
  return { ...(old?.state.terminated === undefined ? exited(run, 0) : old), ready: true };
}

/** Waits for its next restart. */
export function crashLooping(run: ContainerRun, exitCode: number): ContainerStatus {
  const { old, container, podUid } = run;
  if (old?.state.waiting?.reason === CRASH_LOOP) return { ...old };
  const message = `back-off 10s restarting failed container=${container.name} pod=${podUid}`;
  return status(run, {
    state: { waiting: { reason: CRASH_LOOP, message } },
    lastState: { terminated: terminated(run, exitCode) },
    ready: false,
    started: false,
  });
}

export const CRASH_LOOP = 'CrashLoopBackOff';

function terminated(run: ContainerRun, exitCode: number): NonNullable<ContainerState['terminated']> {
  const { old, now } = run;
  return {
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    startedAt: old?.state.running?.startedAt ?? now,
    finishedAt: now,
    containerID: containerId(run),
  };
}

type Changing = Pick<ContainerStatus, 'state' | 'lastState' | 'ready' | 'started'>;

function status(run: ContainerRun, changing: Changing): ContainerStatus {
  const { container, old } = run;
  const image = fullImageName(container.image ?? '');
  const { resources, volumeMounts = [] } = container;
  const mounts = volumeMounts.map(({ name, mountPath, readOnly }) => ({
    name,
    mountPath,
    ...(readOnly === true && { readOnly, recursiveReadOnly: 'Disabled' as const }),
  }));
  return {
    name: container.name,
    ...changing,
    restartCount: old?.restartCount ?? 0,
    image,
    imageID: imageId(image),
    containerID: containerId(run),
    ...(changing.state.running !== undefined && Object.keys(resources).length > 0 && { resources }),
    ...(mounts.length > 0 && { volumeMounts: mounts }),
  };
}

const containerId = ({ podUid, container, old }: ContainerRun): string =>
  `containerd://${sha256(`${podUid}/${container.name}/${old?.restartCount ?? 0}`)}`;

const imageId = (image: string): string => `${image.slice(0, versionAt(image))}@sha256:${sha256(image)}`;

/** Where the tag or digest begins; the end where there is none. */
function versionAt(image: string): number {
  const name = image.lastIndexOf('/') + 1;
  const at = [image.indexOf('@', name), image.indexOf(':', name)].filter((place) => place >= 0);
  return at.reduce((first, place) => Math.min(first, place), image.length);
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** As containerd spells it: `web` is `docker.io/library/web:latest`. */
function fullImageName(image: string): string {
  const [first = '', ...rest] = image.split('/');
  const hasHost = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  const named = hasHost ? image : rest.length > 0 ? `docker.io/${image}` : `docker.io/library/${image}`;
  return versionAt(named) < named.length ? named : `${named}:latest`;
}
