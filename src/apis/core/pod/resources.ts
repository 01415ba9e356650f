// What a whole pod requests, as quota and schedulers count it.
import { ownMember } from '../../../lib/values/plain-object.js';
import { addQuantities, compareQuantities, formatQuantity, quantitySign } from '../../../machinery/quantity.js';
import type { FeatureGates } from '../../../registry/kind.js';
import type { Container, ContainerStatus, Pod, PodSpec, ResourceList } from '../../../schema/generated/core.v1.js';
import { aggregateContainers } from './aggregate-resources.js';
import { isSidecar } from './containers.js';
import { isPodLevelResource } from './validation/resource-names.js';

/** The sum of its containers, or what it states as a whole, and what its runtime costs. */
export function podRequests(pod: Readonly<Pod>, features: FeatureGates): ResourceList {
  const total = withPodLevel(pod, features, 'requests');
  for (const [name, overhead] of Object.entries(pod.spec.overhead ?? {})) {
    const so = ownMember(total, name);
    total[name] = so === undefined ? overhead : formatQuantity(addQuantities(so, overhead));
  }
  return total;
}

/** A pod's limits; the runtime's cost raises only limits that are there. */
export function podLimits(pod: Readonly<Pod>, features: FeatureGates): ResourceList {
  const total = withPodLevel(pod, features, 'limits');
  for (const [name, overhead] of Object.entries(pod.spec.overhead ?? {})) {
    const so = ownMember(total, name);
    if (so !== undefined && quantitySign(so) !== 0) total[name] = formatQuantity(addQuantities(so, overhead));
  }
  return total;
}

/** Whether the pod states amounts as a whole. */
export const hasPodLevelResources = ({ resources }: Readonly<PodSpec>): boolean =>
  [...Object.keys(resources?.requests ?? {}), ...Object.keys(resources?.limits ?? {})].some(isPodLevelResource);

function withPodLevel(pod: Readonly<Pod>, features: FeatureGates, kind: 'requests' | 'limits'): ResourceList {
  const spec = features.enabled('InPlacePodVerticalScaling') ? asRunning(pod) : pod.spec;
  const total = aggregateContainers(spec, kind);
  if (features.enabled('PodLevelResources')) {
    for (const [name, quantity] of Object.entries(pod.spec.resources?.[kind] ?? {})) {
      if (isPodLevelResource(name)) total[name] = quantity;
    }
  }
  return total;
}

/** While a pod is being resized, the larger of what is wanted and what still runs counts. */
function asRunning({ spec, status }: Readonly<Pod>): PodSpec {
  const statuses = new Map<string, ContainerStatus>();
  for (const one of [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]) {
    if (one.resources) statuses.set(one.name, one);
  }
  if (statuses.size === 0) return spec;
  const infeasible = (status?.conditions ?? []).some(
    ({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible',
  );
  const running = (container: Container): Container => {
    const seen = statuses.get(container.name);
    if (seen === undefined) return container;
    const wanted = infeasible ? {} : container.resources;
    const requests = largest(wanted.requests, seen.resources?.requests, seen.allocatedResources);
    const limits = largest(wanted.limits, seen.resources?.limits);
    return { ...container, resources: { ...container.resources, requests, limits } };
  };
  return {
    ...spec,
    containers: (spec.containers ?? []).map(running),
    initContainers: (spec.initContainers ?? []).map((one) => (isSidecar(one) ? running(one) : one)),
  };
}

function largest(...lists: readonly (Readonly<ResourceList> | undefined)[]): ResourceList {
  const result: ResourceList = {};
  for (const [name, quantity] of lists.flatMap((list) => Object.entries(list ?? {}))) {
    const so = ownMember(result, name);
    if (so === undefined || compareQuantities(quantity, so) > 0) result[name] = quantity;
  }
  return result;
}
