import { type MaybePromise, whenReady } from '../../lib/async/maybe-promise.js';
import type { Pod, PodSpec } from '../../schema/generated/core.v1.js';
import type { PriorityClass } from '../../schema/generated/scheduling.v1.js';
import type { LifeContext } from '../../registry/kind.js';
import { forbid, onlyFor } from '../forbid.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';

const PRIORITY_CLASSES = { group: 'scheduling.k8s.io', resource: 'priorityclasses' };
const WITHOUT_CLASS = { value: 0, preemptionPolicy: 'PreemptLowerPriority' };

/** Gives each pod the number its priority class stands for, and keeps the default class single. */
export const priority: AdmissionPlugin = {
  name: 'Priority',
  // Deletions reach the plugin, which admits them all.
  handles: (operation) => operation !== 'CONNECT',
  // hot: every pod; the classes are mostly at hand.
  admit: onlyFor('', 'pods', (attributes) => {
    if (attributes.operation === 'CREATE') return setPriority(attributes);
    return attributes.operation === 'UPDATE' ? keepPriority(attributes) : undefined;
  }),
  validate: onlyFor(PRIORITY_CLASSES.group, PRIORITY_CLASSES.resource, async (attributes) => {
    const { object, operation, context } = attributes;
    if (operation === 'DELETE') return;
    const wanted = object as PriorityClass;
    if (!wanted.globalDefault) return;
    const current = await defaultClass(context);
    if (current === undefined) return;
    if (operation === 'UPDATE' && current.metadata?.name === wanted.metadata?.name) return;
    throw forbid(
      attributes,
      `PriorityClass ${current.metadata?.name ?? ''} is already marked as default. Only one default can exist`,
    );
  }),
};

/** What the first write decided stays when a later one leaves it out. */
function keepPriority({ object, old }: AdmissionAttributes): void {
  const { spec } = object as Pod;
  const before = (old as Pod).spec;
  if (spec === undefined || before === undefined) return;
  if (before.priority !== undefined) spec.priority ??= before.priority;
  if (before.preemptionPolicy !== undefined) spec.preemptionPolicy ??= before.preemptionPolicy;
}

function setPriority(attributes: AdmissionAttributes): MaybePromise<void> {
  const { spec } = attributes.object as Pod;
  if (spec === undefined) return undefined;
  return whenReady(classOf(attributes, spec), (found) => takeFrom(found, attributes, spec));
}

type Given = Pick<PriorityClass, 'value' | 'preemptionPolicy'>;

function takeFrom({ value, preemptionPolicy }: Given, attributes: AdmissionAttributes, spec: PodSpec): void {
  if (spec.priority !== undefined && spec.priority !== value) {
    throw forbid(
      attributes,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    );
  }
  spec.priority = value;
  if (preemptionPolicy === undefined) return;
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy) {
    throw forbid(
      attributes,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`,
    );
  }
  spec.preemptionPolicy = preemptionPolicy;
}

function classOf(attributes: AdmissionAttributes, spec: PodSpec): MaybePromise<Given> {
  const { context } = attributes;
  const name = spec.priorityClassName ?? '';
  if (name !== '') {
    return whenReady(context.lookup.get(PRIORITY_CLASSES, '', name), (named) => {
      if (named === undefined) throw forbid(attributes, `no PriorityClass with name ${name} was found`);
      return named as PriorityClass;
    });
  }
  return whenReady(defaultClass(context), (fallback) => {
    if (fallback === undefined) return WITHOUT_CLASS;
    if (fallback.metadata?.name) spec.priorityClassName = fallback.metadata.name;
    return fallback;
  });
}

/** Should two be marked, by a race, the lower one counts. */
const defaultClass = ({ lookup }: LifeContext): MaybePromise<Readonly<PriorityClass> | undefined> =>
  whenReady(lookup.list(PRIORITY_CLASSES, ''), (all) => {
    let lowest: Readonly<PriorityClass> | undefined;
    for (const item of all) {
      const one = item.object() as PriorityClass;
      if (one.globalDefault && (lowest === undefined || one.value < lowest.value)) lowest = one;
    }
    return lowest;
  });
