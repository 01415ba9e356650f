// Version 1 of autoscalers knows one metric, the use of CPU. What else the stored object says travels in annotations,
// so that an old client that reads and writes it back loses nothing.
import type * as v1 from '../../schema/generated/autoscaling.v1.js';
import type { HorizontalPodAutoscaler, MetricSpec } from '../../schema/generated/autoscaling.v2.js';
import {
  encodeBehavior,
  encodeConditions,
  encodeMetrics,
  encodeStatuses,
  readBehavior,
  readConditions,
  readMetrics,
  readStatuses,
} from './annotation-values.js';
import { cpuUtilization, DEFAULT_CPU_UTILIZATION, defaultMinReplicas } from './defaults.js';

const PREFIX = 'autoscaling.alpha.kubernetes.io/';
const METRICS = `${PREFIX}metrics`;
const CURRENT_METRICS = `${PREFIX}current-metrics`;
const CONDITIONS = `${PREFIX}conditions`;
const BEHAVIOR = `${PREFIX}behavior`;
const CONVERSION_ANNOTATIONS = [
  METRICS,
  CURRENT_METRICS,
  CONDITIONS,
  BEHAVIOR,
  `${PREFIX}scale-down-tolerance`,
  `${PREFIX}scale-up-tolerance`,
];

/** The annotations belong to version 1 alone: the stored object says the same in its own members. */
export function dropConversionAnnotations(object: HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  const { metadata } = object;
  if (metadata.annotations === undefined) return object;
  const kept = Object.entries(metadata.annotations).filter(([key]) => !CONVERSION_ANNOTATIONS.includes(key));
  if (kept.length === 0) delete metadata.annotations;
  else metadata.annotations = Object.fromEntries(kept);
  return object;
}

/** Without any metric at all the use of CPU is what counts, so version 1 says so. */
export function defaultV1(object: HorizontalPodAutoscaler): void {
  defaultMinReplicas(object);
  const { metadata, spec } = object as v1.HorizontalPodAutoscaler;
  if ((readMetrics(metadata.annotations?.[METRICS]) ?? []).length > 0) return;
  spec.targetCPUUtilizationPercentage ??= DEFAULT_CPU_UTILIZATION;
}

export function fromV1(object: HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  const { metadata, spec, status } = object as v1.HorizontalPodAutoscaler;
  const annotations = metadata.annotations ?? {};
  const { targetCPUUtilizationPercentage: percent, ...rest } = spec;
  const { currentCPUUtilizationPercentage: currentPercent, currentReplicas, ...restOfStatus } = status;
  const metrics = [
    ...(readMetrics(annotations[METRICS]) ?? []),
    ...(percent === undefined ? [] : [cpuUtilization(percent)]),
  ];
  const behavior = readBehavior(annotations[BEHAVIOR]);
  const conditions = readConditions(annotations[CONDITIONS]) ?? [];
  const currentCpu = { averageUtilization: currentPercent ?? 0 };
  const currentMetrics =
    readStatuses(annotations[CURRENT_METRICS]) ??
    (currentPercent === undefined ? null : [{ type: 'Resource', resource: { name: 'cpu', current: currentCpu } }]);
  return dropConversionAnnotations(
    Object.assign(object, {
      spec: {
        ...rest,
        metrics,
        ...(behavior === undefined ? {} : { behavior }),
      },
      status: {
        ...restOfStatus,
        ...(currentReplicas === 0 ? {} : { currentReplicas }),
        currentMetrics,
        ...(conditions.length === 0 ? {} : { conditions }),
      },
    }),
  );
}

export function toV1(object: HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  dropConversionAnnotations(object);
  const { metadata, spec, status } = object;
  const { metrics = [], behavior, ...rest } = spec;
  const { currentMetrics, conditions = [], currentReplicas = 0, ...restOfStatus } = status;
  const statuses = currentMetrics ?? [];
  const others = metrics.filter((metric) => cpuTarget(metric) === undefined);
  const annotations: Record<string, string> = {};
  if (others.length > 0) annotations[METRICS] = encodeMetrics(others);
  if (statuses.length > 0) annotations[CURRENT_METRICS] = encodeStatuses(statuses);
  if (behavior !== undefined) annotations[BEHAVIOR] = encodeBehavior(behavior);
  if (conditions.length > 0) annotations[CONDITIONS] = encodeConditions(conditions);
  if (Object.keys(annotations).length > 0) metadata.annotations = { ...metadata.annotations, ...annotations };

  const percent = metrics.map(cpuTarget).find((each) => each !== undefined);
  const currentPercent = statuses
    .filter(({ type, resource }) => type === 'Resource' && resource?.name === 'cpu')
    .findLast(({ resource }) => resource?.current.averageUtilization !== undefined)?.resource
    ?.current.averageUtilization;
  return Object.assign(object, {
    spec: { ...rest, ...(percent === undefined ? {} : { targetCPUUtilizationPercentage: percent }) },
    status: {
      ...restOfStatus,
      currentReplicas,
      ...(currentPercent === undefined ? {} : { currentCPUUtilizationPercentage: currentPercent }),
    },
  } satisfies Pick<v1.HorizontalPodAutoscaler, 'spec' | 'status'>);
}

/** What version 1 can say of a metric: the wanted use of CPU in percent. */
const cpuTarget = ({ type, resource }: MetricSpec): number | undefined =>
  type === 'Resource' && resource?.name === 'cpu' ? resource.target.averageUtilization : undefined;
