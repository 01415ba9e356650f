// What every kind that makes pods from a template does alike.
import { FieldPath } from '../../../machinery/field-error.js';
import { isDns1123Label } from '../../../machinery/validation/names.js';
import { SelectorError } from '../../../machinery/label-requirement.js';
import { labelSelectorAsSelector } from '../../../machinery/label-selector.js';
import type { KubeObject } from '../../../machinery/object.js';
import type { LifeContext, Strategy } from '../../../registry/kind.js';
import type { LabelSelector } from '../../../schema/generated/meta.v1.js';
import type { PodTemplateSpec } from '../../../schema/generated/core.v1.js';
import type { Same } from './equal.js';
import { dropDisabledSpecFields } from './drop-disabled-fields.js';
import { warningsForPodTemplate } from './warnings.js';

interface Workload<T extends KubeObject> {
  /** Whether nothing changed that makes a new generation. */
  readonly same: Same<T>;
  readonly template: (object: Readonly<T>) => PodTemplateSpec | undefined;
  /** Runs after disabled fields were dropped; `old` is absent on creation. */
  readonly prepare?: (object: T, old: Readonly<T> | undefined, context: LifeContext) => void;
}

/** Drops disabled fields of the template and counts generations. */
export function workloadHooks<T extends KubeObject>({
  same,
  template,
  prepare,
}: Workload<T>): Required<Pick<Strategy<T>, 'prepareForCreate' | 'prepareForUpdate'>> {
  const drop = (object: T, old: Readonly<T> | undefined, { features }: LifeContext): void => {
    const made = template(object);
    if (made) dropDisabledSpecFields(made.spec, old && template(old)?.spec, features);
  };
  return {
    prepareForCreate(object, context) {
      object.metadata.generation = 1;
      drop(object, undefined, context);
      prepare?.(object, undefined, context);
    },
    prepareForUpdate(object, old, context) {
      drop(object, old, context);
      prepare?.(object, old, context);
      if (same(object, old)) return;
      object.metadata.generation = (old.metadata.generation ?? 0) + 1;
    },
  };
}

const TEMPLATE = FieldPath.of('spec', 'template');

/** The name goes into the names of pods, and those into hostnames. */
export function podNameWarnings({ metadata }: Readonly<KubeObject>): string[] {
  const messages = isDns1123Label(metadata.name ?? '');
  if (messages.length === 0) return [];
  const what = 'this is used in Pod names and hostnames, which can result in surprising behavior';
  return [`metadata.name: ${what}; a DNS label is recommended: [${messages.join(' ')}]`];
}

export const templateWarnings = (
  template: Readonly<PodTemplateSpec> | undefined,
  { features }: Pick<LifeContext, 'features'>,
  path = TEMPLATE,
): string[] => (template ? warningsForPodTemplate(template, path, features) : []);

/** Warnings of a template are repeated only for what changed the object. */
export const isNewGeneration = (object: Readonly<KubeObject>, old: Readonly<KubeObject>): boolean =>
  object.metadata.generation !== old.metadata.generation;

/** The cell under a Selector column. */
export function selectorCell(selector: Readonly<LabelSelector> | null | undefined): string {
  return selectorText(selector, '<error>') || '<none>';
}

export function selectorText(selector: Readonly<LabelSelector> | null | undefined, malformed = ''): string {
  try {
    return labelSelectorAsSelector(selector).toString();
  } catch (error) {
    if (error instanceof SelectorError) return malformed;
    throw error;
  }
}
