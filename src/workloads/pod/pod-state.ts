// What controllers look at in a pod.
import type { Pod } from '../../schema/generated/core.v1.js';

export const isEnded = ({ status }: Readonly<Pod>): boolean =>
  status.phase === 'Succeeded' || status.phase === 'Failed';

/** Neither ended nor being deleted. */
export const isActive = (pod: Readonly<Pod>): boolean => !isEnded(pod) && pod.metadata.deletionTimestamp === undefined;

export const isTerminating = (pod: Readonly<Pod>): boolean =>
  !isEnded(pod) && pod.metadata.deletionTimestamp !== undefined;

export const isReady = (pod: Readonly<Pod>): boolean => readySince(pod) !== undefined;

function readySince({ status }: Readonly<Pod>): number | undefined {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' ? Date.parse(ready.lastTransitionTime ?? '') || 0 : undefined;
}

/** How long until a ready pod is available; 0 when it is, undefined while it is not ready. */
function availableInMs(pod: Readonly<Pod>, minReadySeconds: number, nowMs: number): number | undefined {
  const since = readySince(pod);
  if (since === undefined) return undefined;
  return minReadySeconds === 0 ? 0 : Math.max(0, since + minReadySeconds * 1000 - nowMs);
}

export interface Readiness {
  readonly ready: number;
  readonly available: number;
  /** When the next ready pod becomes available. */
  readonly nextMs: number | undefined;
}

export function readinessOf(pods: readonly Readonly<Pod>[], minReadySeconds = 0, nowMs: number): Readiness {
  const waits = pods.map((pod) => availableInMs(pod, minReadySeconds, nowMs)).filter((ms) => ms !== undefined);
  const pending = waits.filter((ms) => ms > 0);
  return {
    ready: waits.length,
    available: waits.length - pending.length,
    nextMs: pending.length === 0 ? undefined : pending.reduce((least, ms) => Math.min(least, ms)),
  };
}

/** Of the container that was restarted most. */
export const restartsOf = ({ status }: Readonly<Pod>): number =>
  (status.containerStatuses ?? []).reduce((most, { restartCount }) => Math.max(most, restartCount), 0);
