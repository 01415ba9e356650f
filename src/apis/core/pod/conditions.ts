import type { PodCondition, PodStatus } from '../../../schema/generated/core.v1.js';

type NewCondition = Pick<PodCondition, 'type' | 'status'> & Partial<Pick<PodCondition, 'reason' | 'message'>>;

/** Sets a condition; its time changes only when its status does. */
export function setPodCondition(status: PodStatus, condition: NewCondition, now: Date): void {
  const conditions = (status.conditions ??= []);
  const at = conditions.findIndex(({ type }) => type === condition.type);
  const old = conditions[at];
  const lastTransitionTime =
    old?.status === condition.status ? old.lastTransitionTime : now.toISOString().replace(/\.\d+Z$/, 'Z');
  const made: PodCondition = { lastProbeTime: null, ...condition, lastTransitionTime };
  if (old === undefined) conditions.push(made);
  else conditions[at] = made;
}
