import { timeOf } from '../../../machinery/time.js';
import type { PodCondition, PodStatus } from '../../../schema/generated/core.v1.js';

type NewCondition = Pick<PodCondition, 'type' | 'status'> & Partial<Pick<PodCondition, 'reason' | 'message'>>;

/** Sets a condition; its time changes only when its status does. */
export function setPodCondition(status: PodStatus, condition: NewCondition, now: Date): void {
  const conditions = (status.conditions ??= []);
  const at = conditions.findIndex(({ type }) => type === condition.type);
  const old = at < 0 ? undefined : conditions[at];
  const { type, status: wanted, reason, message } = condition;
  const lastTransitionTime = old?.status === wanted ? old.lastTransitionTime : timeOf(now);
  const made: PodCondition = { type, status: wanted, lastProbeTime: null, lastTransitionTime };
  if (reason !== undefined) made.reason = reason;
  if (message !== undefined) made.message = message;
  if (old === undefined) conditions.push(made);
  else conditions[at] = made;
}
