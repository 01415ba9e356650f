import { keysOf } from '../../lib/values/key-cache.js';
import { ownMember, setMember } from '../../lib/values/plain-object.js';
import { compareText } from '../../lib/text/compare-text.js';
import { sortSteps } from '../../lib/scheduling/sort-steps.js';
import { type MaybePromise, whenReady } from '../../lib/async/maybe-promise.js';
import { eachStep, runCooperatively, type StepGenerator } from '../../lib/scheduling/yield.js';
import { aggregateContainers } from '../../apis/core/pod/aggregate-resources.js';
import { aggregateText } from '../../machinery/field-error.js';
import type { GroupResource } from '../../machinery/status.js';
import { addSizeHint } from '../../machinery/size-hint.js';
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
import { forbid, onlyWhere } from '../forbid.js';
import { type Amounts, limitViolations, maxRequest, maximum, minimum, ratio } from '../limit-rules.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';

const LIMIT_RANGES = { group: '', resource: 'limitranges' };
const ANNOTATION = 'kubernetes.io/limit-ranger';
const POD_LEVEL_RESOURCES = ['cpu', 'memory'];

/** Gives containers the namespace's default amounts, and refuses those outside its limits. */
export const limitRanger: AdmissionPlugin = {
  name: 'LimitRanger',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  admit: onlyWhere(mayBeLimited, (attributes) => (isLimited(attributes) ? complete(attributes) : undefined)),
  validate: onlyWhere(mayBeLimited, (attributes) => (isLimited(attributes) ? check(attributes) : undefined)),
};

// hot: every pod; most namespaces have no limits, which is known at once.
function complete(attributes: AdmissionAttributes): MaybePromise<void> {
  if (attributes.resource.resource !== 'pods') return undefined;
  const setAll = async (ranges: readonly LimitRange[]): Promise<void> => {
    for (const range of ranges) await runCooperatively(setDefaults(attributes.object as Pod, range));
  };
  return withRanges(attributes, setAll);
}

const check = (attributes: AdmissionAttributes): MaybePromise<void> =>
  withRanges(attributes, (ranges) => checkAll(attributes, ranges));

function withRanges(
  { context, namespace }: AdmissionAttributes,
  work: (ranges: readonly LimitRange[]) => Promise<void>,
): MaybePromise<void> {
  return whenReady(context.lookup.list(LIMIT_RANGES, namespace), (items) =>
    items.length === 0 ? undefined : loadedAll(items).then((ranges) => work(ranges as LimitRange[])),
  );
}

async function checkAll(attributes: AdmissionAttributes, ranges: readonly LimitRange[]): Promise<void> {
  for (const range of ranges) {
    const wrong = await runCooperatively(
      attributes.resource.resource === 'pods'
        ? violationsOfPod(attributes.object as Pod, range, attributes.context)
        : violationsOfClaim(attributes.object as PersistentVolumeClaim, range),
    );
    if (wrong.length > 0) throw forbid(attributes, aggregateText(wrong));
  }
}

/** Pods when they are made or resized, claims at any write; nothing that is being deleted. */
function isLimited({ resource, subresource, operation, old }: AdmissionAttributes): boolean {
  if (old?.metadata.deletionTimestamp !== undefined) return false;
  return resource.resource !== 'pods' || (operation === 'UPDATE') === (subresource === 'resize');
}

function mayBeLimited({ group, resource }: GroupResource, subresource: string): boolean {
  if (group !== '') return false;
  if (resource === 'pods') return subresource === '' || subresource === 'resize';
  return resource === 'persistentvolumeclaims' && subresource === '';
}

function* setDefaults(pod: Pod, range: LimitRange): StepGenerator<void> {
  const requests: ResourceList = {};
  const limits: ResourceList = {};
  for (const item of limitsOf(range, 'Container')) {
    yield* assignSteps(requests, item.defaultRequest);
    yield* assignSteps(limits, item.default);
  }
  const defaults = { requests, limits };
  const names = { requests: Object.keys(requests), limits: Object.keys(limits) };
  const notes: string[] = [];
  const fill = function* (container: Container, word: string): StepGenerator<void> {
    for (const kind of ['requests', 'limits'] as const) {
      const filled = yield* fillMissing(container, kind, defaults[kind], names[kind]);
      if (filled.length === 0) continue;
      const sorted = yield* sortSteps(filled, compareText);
      notes.push(`${sorted.join(', ')} ${kind.slice(0, -1)} for ${word} ${container.name}`);
    }
  };
  for (const container of pod.spec.containers ?? []) yield* fill(container, 'container');
  for (const container of pod.spec.initContainers ?? []) yield* fill(container, 'init container');
  if (notes.length === 0) return;
  const note = `LimitRanger plugin set: ${notes.join('; ')}`;
  pod.metadata.annotations = { ...pod.metadata.annotations, [ANNOTATION]: note };
  // What was set is named there once, and stands in the containers with its amounts.
  addSizeHint(pod, 3 * note.length);
}

function* assignSteps(to: ResourceList, from: Readonly<ResourceList> | undefined): StepGenerator<void> {
  yield* eachStep(keysOf(from ?? {}), (name) => setMember(to, name, from?.[name]));
}

/** Answers the names it set. */
function* fillMissing(
  container: Container,
  kind: 'requests' | 'limits',
  defaults: Readonly<ResourceList>,
  names: readonly string[],
): StepGenerator<string[]> {
  const given = container.resources[kind] ?? {};
  const missing = names.filter((name) => ownMember(given, name) === undefined);
  if (missing.length === 0) return [];
  const filled = { ...given };
  yield* eachStep(missing, (name) => setMember(filled, name, defaults[name]));
  container.resources[kind] = filled;
  return missing;
}

function* violationsOfPod({ spec }: Pod, range: LimitRange, context: LifeContext): StepGenerator<readonly string[]> {
  const found: string[] = [];
  for (const item of range.spec?.limits ?? []) {
    if (item.type === 'Pod') yield* violations(found, item, podAmounts(spec, context));
    if (item.type !== 'Container') continue;
    for (const { resources } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
      yield* violations(found, item, resources);
    }
  }
  return found;
}

function* violations(found: string[], item: LimitRangeItem, amounts: Amounts): StepGenerator<void> {
  yield* limitViolations({ found, type: item.type, enforced: item.min, amounts, rule: minimum });
  yield* limitViolations({ found, type: item.type, enforced: item.max, amounts, rule: maximum });
  yield* limitViolations({ found, type: item.type, enforced: item.maxLimitRequestRatio, amounts, rule: ratio });
}

function* violationsOfClaim({ spec }: PersistentVolumeClaim, range: LimitRange): StepGenerator<readonly string[]> {
  const amounts: Amounts = spec.resources?.requests === undefined ? {} : { requests: spec.resources.requests };
  const found: string[] = [];
  for (const item of limitsOf(range, 'PersistentVolumeClaim')) {
    yield* limitViolations({ found, type: item.type, enforced: item.min, amounts, rule: minimum });
    yield* limitViolations({ found, type: item.type, enforced: item.max, amounts, rule: maxRequest });
  }
  return found;
}

const limitsOf = ({ spec }: LimitRange, type: string): LimitRangeItem[] =>
  (spec?.limits ?? []).filter((item) => item.type === type);

/** What the pod as a whole requests; what it states at its own level goes before the sum of its containers. */
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
