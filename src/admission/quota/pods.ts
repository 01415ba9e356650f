import { ownMember } from '../../lib/values/plain-object.js';
import { computeQosClass } from '../../apis/core/pod/qos.js';
import { hasPodLevelResources, podLimits, podRequests } from '../../apis/core/pod/resources.js';
import { isExtendedResource, isHugePages, isNativeResource } from '../../apis/core/pod/validation/resource-names.js';
import type { LifeContext } from '../../registry/kind.js';
import type {
  Pod,
  PodAffinityTerm,
  PodSpec,
  ResourceList,
  ScopedResourceSelectorRequirement,
} from '../../schema/generated/core.v1.js';
import type { AdmissionAttributes } from '../plugin.js';
import type { QuotaEvaluator } from './evaluator.js';
import { scopeSelects } from './scope.js';

const COUNTED: ReadonlySet<string> = new Set([
  'count/pods',
  'pods',
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
]);
/** What each container must state where a quota is on it, since leaving it out would go around the quota. */
const DEMANDED: ReadonlySet<string> = new Set([
  'cpu',
  'memory',
  'requests.cpu',
  'requests.memory',
  'limits.cpu',
  'limits.memory',
]);

export const podEvaluator: QuotaEvaluator = {
  resource: { group: '', resource: 'pods' },
  handles: isCounted,
  counts: (name) =>
    COUNTED.has(name) ||
    isHugePages(name) ||
    name.startsWith('requests.hugepages-') ||
    (!isNativeResource(name) && name.startsWith('requests.')),
  matchesScope: (scope, object) => matchesScope(scope, object as Pod),
  missing(names, object, { features }) {
    const { spec } = object as Pod;
    if (features.enabled('PodLevelResources') && hasPodLevelResources(spec)) return undefined;
    return missingAmounts(
      spec,
      names.filter((name) => DEMANDED.has(name)),
    );
  },
  usage: (object, context) => usageOf(object as Pod, context),
};

function isCounted({ operation, subresource, object, old }: AdmissionAttributes): boolean {
  if (subresource === 'resize') return operation === 'UPDATE';
  if (subresource !== '') return false;
  if (operation === 'CREATE') return true;
  // An update can move a pod between the scopes of those that end by themselves and those that do not.
  return operation === 'UPDATE' && endsByItself(object as Pod) !== endsByItself(old as Pod);
}

const endsByItself = ({ spec }: Pod): boolean => (spec.activeDeadlineSeconds ?? -1) >= 0;

function matchesScope(scope: ScopedResourceSelectorRequirement, pod: Pod): boolean {
  switch (scope.scopeName) {
    case 'Terminating':
      return endsByItself(pod);
    case 'NotTerminating':
      return !endsByItself(pod);
    case 'BestEffort':
      return qosOf(pod) === 'BestEffort';
    case 'NotBestEffort':
      return qosOf(pod) !== 'BestEffort';
    case 'PriorityClass':
      return scopeSelects(scope, pod.spec.priorityClassName || undefined);
    case 'CrossNamespacePodAffinity':
      return looksAcrossNamespaces(pod.spec);
    default:
      return false;
  }
}

const qosOf = ({ spec, status }: Pod): string => status?.qosClass || computeQosClass(spec);

function looksAcrossNamespaces({ affinity }: PodSpec): boolean {
  const crosses = ({ namespaces, namespaceSelector }: PodAffinityTerm): boolean =>
    (namespaces ?? []).length > 0 || namespaceSelector !== undefined;
  return [affinity?.podAffinity, affinity?.podAntiAffinity].some(
    (one) =>
      (one?.requiredDuringSchedulingIgnoredDuringExecution ?? []).some(crosses) ||
      (one?.preferredDuringSchedulingIgnoredDuringExecution ?? []).some((term) => crosses(term.podAffinityTerm)),
  );
}

/** `must specify cpu for: a,b; limits.memory for: a`. */
function missingAmounts(spec: PodSpec, names: readonly string[]): string | undefined {
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name, resources }) => ({
    name,
    stated: computeUsage(resources.requests ?? {}, resources.limits ?? {}),
  }));
  const texts = [...names].sort().flatMap((name) => {
    const without = containers.filter(({ stated }) => ownMember(stated, name) === undefined).map((one) => one.name);
    return without.length === 0 ? [] : [`${name} for: ${[...new Set(without)].sort().join(',')}`];
  });
  return texts.length === 0 ? undefined : `must specify ${texts.join('; ')}`;
}

/** A pod that is over counts as an object still, but uses nothing. */
function usageOf(pod: Pod, context: LifeContext): ResourceList {
  if (isOver(pod, context.now())) return { 'count/pods': '1' };
  const { features } = context;
  return { 'count/pods': '1', ...computeUsage(podRequests(pod, features), podLimits(pod, features)) };
}

function isOver({ metadata, status }: Pod, now: Date): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return true;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false;
  return now.getTime() > Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
}

function computeUsage(requests: Readonly<ResourceList>, limits: Readonly<ResourceList>): ResourceList {
  const usage: ResourceList = { pods: '1' };
  for (const name of ['cpu', 'memory', 'ephemeral-storage']) {
    const [request, limit] = [requests[name], limits[name]];
    if (request !== undefined) usage[name] = usage[`requests.${name}`] = request;
    if (limit !== undefined) usage[`limits.${name}`] = limit;
  }
  for (const [name, request] of Object.entries(requests)) {
    if (isHugePages(name)) usage[name] = usage[`requests.${name}`] = request;
    else if (isExtendedResource(name)) usage[`requests.${name}`] = request;
  }
  return usage;
}
