import type {
  DeviceClaim,
  DeviceTaint,
  DeviceToleration,
  ResourceClaimStatus,
} from '../../schema/generated/resource.v1.js';

export interface Tolerant {
  tolerations?: DeviceToleration[];
}

export interface Countable extends Tolerant {
  allocationMode?: string;
  count?: number;
}

export function defaultClaim({ requests }: DeviceClaim): void {
  for (const { exactly, firstAvailable } of requests ?? []) {
    if (exactly !== undefined) defaultWanted(exactly);
    for (const alternative of firstAvailable ?? []) defaultWanted(alternative);
  }
}

export function defaultResults(status: ResourceClaimStatus | undefined): void {
  for (const result of status?.allocation?.devices.results ?? []) defaultTolerations(result);
}

export function defaultWanted(wanted: Countable): void {
  defaultCount(wanted);
  defaultTolerations(wanted);
}

/** A request is for one device unless it says otherwise. */
export function defaultCount(request: Countable): void {
  request.allocationMode ||= 'ExactCount';
  if (request.allocationMode === 'ExactCount') request.count ||= 1;
}

export function defaultTolerations({ tolerations }: Tolerant): void {
  for (const toleration of tolerations ?? []) toleration.operator ||= 'Equal';
}

/** A taint counts from when it was put on. */
export function stampTaint(taint: DeviceTaint, now: Date): void {
  taint.timeAdded ??= `${now.toISOString().slice(0, 19)}Z`;
}
