// Conditions of a status, each type once. A condition that says the same again is left as it is.
interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly lastTransitionTime: string | null;
}

export function withCondition<T extends Condition>(conditions: readonly T[] | undefined, condition: T): T[] {
  const old = conditionOf(conditions, condition.type);
  if (old !== undefined && old.status === condition.status && old.reason === condition.reason) {
    return [...(conditions ?? [])];
  }
  const since = old?.status === condition.status ? old.lastTransitionTime : condition.lastTransitionTime;
  return [...withoutCondition(conditions, condition.type), { ...condition, lastTransitionTime: since }];
}

export const conditionOf = <T extends Condition>(conditions: readonly T[] | undefined, type: string): T | undefined =>
  conditions?.find((condition) => condition.type === type);

export const withoutCondition = <T extends Condition>(conditions: readonly T[] | undefined, type: string): T[] =>
  (conditions ?? []).filter((condition) => condition.type !== type);
