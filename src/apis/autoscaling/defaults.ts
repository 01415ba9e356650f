import { wasExplicitEmpty } from '../../machinery/explicit-empty.js';
import type { HorizontalPodAutoscaler, HPAScalingRules, MetricSpec } from '../../schema/generated/autoscaling.v2.js';

const PERIOD_SECONDS = 15;
export const DEFAULT_CPU_UTILIZATION = 80;

export function defaultAutoscaler(object: HorizontalPodAutoscaler): void {
  defaultMinReplicas(object);
  const { spec } = object;
  if ((spec.metrics ?? []).length === 0) spec.metrics = [cpuUtilization(DEFAULT_CPU_UTILIZATION)];
  defaultBehavior(object);
}

/** A behavior that came in an annotation of version 1 is filled in only once it is found to be right. */
export function defaultBehavior({ spec }: HorizontalPodAutoscaler): void {
  if (spec.behavior === undefined) return;
  spec.behavior = {
    scaleUp: filledIn(spec.behavior.scaleUp, scaleUpRules()),
    scaleDown: filledIn(spec.behavior.scaleDown, scaleDownRules()),
  };
}

/** An explicitly empty list of policies is an error to report, not one to default. */
function filledIn(rules: HPAScalingRules | undefined, defaults: HPAScalingRules): HPAScalingRules {
  if (rules === undefined) return defaults;
  return { ...defaults, ...(wasExplicitEmpty(rules, 'policies') ? { policies: [] } : {}), ...rules };
}

export function defaultMinReplicas({ spec }: HorizontalPodAutoscaler): void {
  spec.minReplicas ??= 1;
}

/** What version 1 of this kind knows as its one metric. */
export const cpuUtilization = (averageUtilization: number): MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});

const scaleUpRules = (): HPAScalingRules => ({
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: PERIOD_SECONDS },
    { type: 'Percent', value: 100, periodSeconds: PERIOD_SECONDS },
  ],
});

/** How long to wait before scaling down is the controller's own setting, so it has no default here. */
const scaleDownRules = (): HPAScalingRules => ({
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: PERIOD_SECONDS }],
});
