import type { Pod } from '../../schema/generated/core.v1.js';
import type { PriorityClass } from '../../schema/generated/scheduling.v1.js';
import type { LifeContext } from '../../registry/kind.js';
import { forbid, onlyFor } from '../forbid.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';

const PRIORITY_CLASSES = { group: 'scheduling.k8s.io', resource: 'priorityclasses' };
const DEFAULT_PRIORITY = 0;
const DEFAULT_PREEMPTION = 'PreemptLowerPriority';

/** Gives each pod the number its priority class stands for, and keeps the default class single. */
export const priority: AdmissionPlugin = {
  name: 'Priority',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  admit: onlyFor('', 'pods', async (attributes) => {
    if (attributes.operation === 'UPDATE') keepPriority(attributes);
    else await setPriority(attributes);
  }),
  validate: onlyFor(PRIORITY_CLASSES.group, PRIORITY_CLASSES.resource, async (attributes) => {
    const { object, operation, context } = attributes;
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

async function setPriority(attributes: AdmissionAttributes): Promise<void> {
  const { spec } = attributes.object as Pod;
  if (spec === undefined) return;
  const { value, preemptionPolicy } = await resolve(attributes, spec);
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

async function resolve(
  attributes: AdmissionAttributes,
  spec: NonNullable<Pod['spec']>,
): Promise<{ value: number; preemptionPolicy?: string }> {
  const { context } = attributes;
  const name = spec.priorityClassName ?? '';
  if (name !== '') {
    const named = (await context.lookup.get(PRIORITY_CLASSES, '', name)) as PriorityClass | undefined;
    if (named === undefined) throw forbid(attributes, `no PriorityClass with name ${name} was found`);
    return named;
  }
  const fallback = await defaultClass(context);
  if (fallback === undefined) return { value: DEFAULT_PRIORITY, preemptionPolicy: DEFAULT_PREEMPTION };
  if (fallback.metadata?.name) spec.priorityClassName = fallback.metadata.name;
  return fallback;
}

/** Should two be marked, by a race, the lower one counts. */
async function defaultClass({ lookup }: LifeContext): Promise<Readonly<PriorityClass> | undefined> {
  const all = await lookup.list(PRIORITY_CLASSES, '');
  const marked = all.map((item) => item.object() as PriorityClass).filter((one) => one.globalDefault);
  return marked.sort((a, b) => a.value - b.value)[0];
}
