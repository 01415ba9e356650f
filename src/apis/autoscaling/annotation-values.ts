// The values version 1 of autoscalers keeps in annotations, parsed and encoded by their types. What cannot be read is
// as good as not there: an annotation is anybody's to write.
import { isPlainObject } from '../../lib/values/plain-object.js';
import { mustType } from '../../schema/catalogue.js';
import { decodeTree } from '../../schema/json/decode.js';
import { encodeJson } from '../../schema/json/encode.js';
import type * as v1 from '../../schema/generated/autoscaling.v1.js';
import type * as v2 from '../../schema/generated/autoscaling.v2.js';
import { internalValue } from '../core/internal-form/internal-value.js';
import { metricFromV1, metricToV1, statusFromV1, statusToV1 } from './v1-metrics.js';

export const encodeMetrics = (metrics: readonly v2.MetricSpec[]): string =>
  encodeList('v1.MetricSpec', metrics.map(metricToV1));

export const readMetrics = (text: string | undefined): v2.MetricSpec[] | undefined =>
  readList<v1.MetricSpec>('v1.MetricSpec', text)?.map(metricFromV1);

export const encodeStatuses = (statuses: readonly v2.MetricStatus[]): string =>
  encodeList('v1.MetricStatus', statuses.map(statusToV1));

export const readStatuses = (text: string | undefined): v2.MetricStatus[] | undefined =>
  readList<v1.MetricStatus>('v1.MetricStatus', text)?.map(statusFromV1);

export const encodeConditions = (conditions: readonly v2.HorizontalPodAutoscalerCondition[]): string =>
  encodeList('v1.HorizontalPodAutoscalerCondition', conditions);

export const readConditions = (text: string | undefined): v2.HorizontalPodAutoscalerCondition[] | undefined =>
  readList('v1.HorizontalPodAutoscalerCondition', text);

/** The behavior alone is encoded with the names of kube-apiserver's own struct. */
export const encodeBehavior = (behavior: Readonly<v2.HorizontalPodAutoscalerBehavior>): string =>
  internalValue('HorizontalPodAutoscalerBehavior', behavior).text;

export function readBehavior(text: string | undefined): v2.HorizontalPodAutoscalerBehavior | undefined {
  if (text === undefined) return undefined;
  const behavior = readable(() =>
    decodeTree(autoscalingType('v2.HorizontalPodAutoscalerBehavior'), withSmallNames(JSON.parse(text)), LENIENT),
  )?.object as v2.HorizontalPodAutoscalerBehavior | undefined;
  return behavior?.scaleUp === undefined && behavior?.scaleDown === undefined ? undefined : behavior;
}

const LENIENT = { strict: false };

const autoscalingType = (name: string) => mustType(`io.k8s.api.autoscaling.${name}`);

const encodeList = (type: string, values: readonly object[]): string =>
  `[${values.map((value) => encodeJson(autoscalingType(type), value)).join(',')}]`;

function readList<T>(type: string, text: string | undefined): T[] | undefined {
  if (text === undefined) return undefined;
  return readable(() => {
    const tree: unknown = JSON.parse(text);
    if (tree === null) return [];
    if (!Array.isArray(tree)) return undefined;
    return tree.map((item) => decodeTree(autoscalingType(type), item, LENIENT).object as T);
  });
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** `ScaleUp` as `scaleUp`, all the way down. */
function withSmallNames(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(withSmallNames);
  if (!isPlainObject(tree)) return tree;
  return Object.fromEntries(
    Object.entries(tree).map(([name, value]) => [name.charAt(0).toLowerCase() + name.slice(1), withSmallNames(value)]),
  );
}
