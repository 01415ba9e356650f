import { addQuantities, compareQuantities, formatQuantity, quantitySign } from '../../../machinery/quantity.js';
import type { Pod, PodSpec, ResourceList, ResourceRequirements } from '../../../schema/generated/core.v1.js';

const COMPUTE = ['cpu', 'memory'];

export type QosClass = 'BestEffort' | 'Burstable' | 'Guaranteed';

export const qosClassOf = ({ spec, status }: Readonly<Pod>): string => status?.qosClass || computeQosClass(spec);

/** How well a pod is protected when its node runs short, from what its containers request. */
export function computeQosClass(spec: Readonly<PodSpec>): QosClass {
  const asking: ResourceRequirements[] = spec.resources
    ? [spec.resources]
    : [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ resources }) => resources);
  const requests: ResourceList = {};
  const limits: ResourceList = {};
  let allLimited = true;
  for (const resources of asking) {
    total(requests, resources.requests);
    const limited = total(limits, resources.limits);
    if (limited < COMPUTE.length && !(spec.resources && !resources.limits)) allLimited = false;
  }
  const requested = Object.keys(requests);
  if (requested.length === 0 && Object.keys(limits).length === 0) return 'BestEffort';
  const met = requested.every((name) => {
    const limit = limits[name];
    return limit !== undefined && compareQuantities(limit, requests[name] ?? '0') === 0;
  });
  return allLimited && met && requested.length === Object.keys(limits).length ? 'Guaranteed' : 'Burstable';
}

/** Adds what counts, and answers how many different resources that were. */
function total(sum: ResourceList, list: Readonly<ResourceList> | undefined): number {
  let count = 0;
  for (const name of COMPUTE) {
    const quantity = list?.[name];
    if (quantity === undefined || quantitySign(quantity) <= 0) continue;
    count++;
    const so = sum[name];
    sum[name] = so === undefined ? quantity : formatQuantity(addQuantities(quantity, so));
  }
  return count;
}
