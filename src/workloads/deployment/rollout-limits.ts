import type { Deployment } from '../../schema/generated/apps.v1.js';

export interface RolloutLimits {
  /** Pods above the wanted number. */
  readonly maxSurge: number;
  /** Pods below it. */
  readonly maxUnavailable: number;
}

const DEFAULT = '25%';

/** Of a rolling update; a surge is rounded up, what may be missing down, and one of them is at least 1. */
export function surgeLimits({ spec }: Readonly<Deployment>): RolloutLimits {
  if (spec.strategy.type === 'Recreate') return { maxSurge: 0, maxUnavailable: 0 };
  const replicas = spec.replicas ?? 1;
  const { maxSurge = DEFAULT, maxUnavailable = DEFAULT } = spec.strategy.rollingUpdate ?? {};
  const surge = shareOf(maxSurge, replicas, Math.ceil);
  const missing = shareOf(maxUnavailable, replicas, Math.floor);
  return { maxSurge: surge, maxUnavailable: surge === 0 && missing === 0 ? 1 : Math.min(missing, replicas) };
}

/** Of a number or a percentage. */
const shareOf = (value: number | string, whole: number, round: (share: number) => number): number =>
  typeof value === 'number' ? value : round((Number(value.replace('%', '')) * whole) / 100);
