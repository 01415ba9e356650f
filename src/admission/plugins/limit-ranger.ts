import { ownMember } from '../../lib/plain-object.js';
import { aggregateContainers } from '../../apis/core/pod/aggregate-resources.js';
import { aggregateText } from '../../machinery/field-error.js';
import type { LifeContext } from '../../registry/kind.js';
import type {
  Container,
  LimitRange,
  LimitRangeItem,
  PersistentVolumeClaim,
  Pod,
  PodSpec,
  ResourceList,
} from '../../schema/generated/core.v1.js';
import { loadedAll } from '../../storage/store.js';
import { forbid } from '../forbid.js';
import { type Amounts, limitViolations, type LimitRule, maxRequest, maximum, minimum, ratio } from '../limit-rules.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';

const LIMIT_RANGES = { group: '', resource: 'limitranges' };
const ANNOTATION = 'kubernetes.io/limit-ranger';
const POD_LEVEL_RESOURCES = ['cpu', 'memory'];

/** Gives containers the namespace's default amounts, and refuses those outside its limits. */
export const limitRanger: AdmissionPlugin = {
  name: 'LimitRanger',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  admit: (attributes) => (isLimited(attributes) ? complete(attributes) : undefined),
  validate: (attributes) => (isLimited(attributes) ? check(attributes) : undefined),
};

async function complete(attributes: AdmissionAttributes): Promise<void> {
  if (attributes.resource.resource !== 'pods') return;
  for (const range of await rangesOf(attributes)) setDefaults(attributes.object as Pod, range);
}

async function check(attributes: AdmissionAttributes): Promise<void> {
  for (const range of await rangesOf(attributes)) {
    const wrong =
      attributes.resource.resource === 'pods'
        ? violationsOfPod(attributes.object as Pod, range, attributes.context)
        : violationsOfClaim(attributes.object as PersistentVolumeClaim, range);
    if (wrong.length > 0) throw forbid(attributes, aggregateText(wrong));
  }
}

/** Pods when they are made or resized, claims at any write; nothing that is being deleted. */
function isLimited({ resource, subresource, operation, old }: AdmissionAttributes): boolean {
  if (resource.group !== '' || old?.metadata.deletionTimestamp !== undefined) return false;
  if (resource.resource === 'pods') {
    return operation === 'UPDATE' ? subresource === 'resize' : subresource === '';
  }
  return resource.resource === 'persistentvolumeclaims' && subresource === '';
}

async function rangesOf({ context, namespace }: AdmissionAttributes): Promise<readonly LimitRange[]> {
  const items = await context.lookup.list(LIMIT_RANGES, namespace);
  return items.length === 0 ? [] : ((await loadedAll(items)) as LimitRange[]);
}

function setDefaults(pod: Pod, range: LimitRange): void {
  const requests: ResourceList = {};
  const limits: ResourceList = {};
  for (const item of limitsOf(range, 'Container')) {
    Object.assign(requests, item.defaultRequest);
    Object.assign(limits, item.default);
  }
  const notes: string[] = [];
  const fill = (container: Container, word: string): void => {
    const note = (kind: 'request' | 'limit', names: readonly string[]): void => {
      if (names.length > 0) notes.push(`${[...names].sort().join(', ')} ${kind} for ${word} ${container.name}`);
    };
    note('request', fillMissing(container, 'requests', requests));
    note('limit', fillMissing(container, 'limits', limits));
  };
  for (const container of pod.spec.containers ?? []) fill(container, 'container');
  for (const container of pod.spec.initContainers ?? []) fill(container, 'init container');
  if (notes.length === 0) return;
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [ANNOTATION]: `LimitRanger plugin set: ${notes.join('; ')}`,
  };
}

/** Answers the names it set. */
function fillMissing(
  container: Container,
  kind: 'requests' | 'limits',
  defaults: Readonly<ResourceList>,
): readonly string[] {
  const given = container.resources[kind] ?? {};
  const missing = Object.keys(defaults).filter((name) => ownMember(given, name) === undefined);
  if (missing.length === 0) return [];
  const filled = { ...given };
  for (const name of missing) filled[name] = defaults[name] as string;
  container.resources[kind] = filled;
  return missing;
}

function violationsOfPod({ spec }: Pod, range: LimitRange, context: LifeContext): readonly string[] {
  return (range.spec?.limits ?? []).flatMap((item) => {
    if (item.type === 'Pod') return violations(item, podAmounts(spec, context));
    if (item.type !== 'Container') return [];
    const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
    return containers.flatMap(({ resources }) => violations(item, resources));
  });
}

const violations = (item: LimitRangeItem, amounts: Amounts): readonly string[] => [
  ...limitViolations(item.type, item.min, amounts, minimum),
  ...limitViolations(item.type, item.max, amounts, maximum),
  ...limitViolations(item.type, item.maxLimitRequestRatio, amounts, ratio),
];

function violationsOfClaim({ spec }: PersistentVolumeClaim, range: LimitRange): readonly string[] {
  const amounts: Amounts = spec.resources?.requests === undefined ? {} : { requests: spec.resources.requests };
  const against = (item: LimitRangeItem, enforced: ResourceList | undefined, rule: LimitRule): readonly string[] =>
    limitViolations(item.type, enforced, amounts, rule);
  return limitsOf(range, 'PersistentVolumeClaim').flatMap((item) => [
    ...against(item, item.min, minimum),
    ...against(item, item.max, maxRequest),
  ]);
}

const limitsOf = ({ spec }: LimitRange, type: string): LimitRangeItem[] =>
  (spec?.limits ?? []).filter((item) => item.type === type);

/** What the pod as a whole asks for; what it states at its own level goes before the sum of its containers. */
function podAmounts(spec: PodSpec, { features }: LifeContext): Amounts {
  const amounts = { requests: aggregateContainers(spec, 'requests'), limits: aggregateContainers(spec, 'limits') };
  if (spec.resources && features.enabled('PodLevelResources')) {
    for (const kind of ['requests', 'limits'] as const) {
      for (const name of POD_LEVEL_RESOURCES) {
        const quantity = spec.resources[kind]?.[name];
        if (quantity !== undefined) amounts[kind][name] = quantity;
      }
    }
  }
  return amounts;
}
