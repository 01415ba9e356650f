import type { DeviceClaim, DeviceTaint } from '../../schema/generated/resource.v1.js';

export interface Countable {
  allocationMode?: string;
  count?: number;
}

/** A request is for one device unless it says otherwise. */
export function defaultCount(request: Countable): void {
  request.allocationMode ||= 'ExactCount';
  if (request.allocationMode === 'ExactCount') request.count ||= 1;
}

export function defaultClaim({ requests }: DeviceClaim): void {
  for (const { exactly, firstAvailable } of requests ?? []) {
    if (exactly !== undefined) defaultCount(exactly);
    for (const alternative of firstAvailable ?? []) defaultCount(alternative);
  }
}

/** A taint counts from when it was put on. */
export function stampTaint(taint: DeviceTaint, now: Date): void {
  taint.timeAdded ??= `${now.toISOString().slice(0, 19)}Z`;
}
