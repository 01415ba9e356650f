import { parseInt64, SyntaxMistake } from '../../../lib/go/strconv.js';
import { type FieldErrors, FieldPath, invalid } from '../../../machinery/field-error.js';
import { NOT_NEGATIVE } from '../../../machinery/validation/fields.js';
import { selectorHasInvalidLabelValue } from '../../../machinery/validation/label-selector.js';
import { nameIsDnsSubdomain } from '../../../machinery/validation/names.js';
import { AGE_COLUMN, ageCell, column, labelsCell, NAME_COLUMN, wideColumn } from '../../../registry/columns.js';
import type { KindDefinition } from '../../../registry/kind.js';
import type { DaemonSet } from '../../../schema/generated/apps.v1.js';
import { containerCells, containerColumns } from '../../core/pod/columns.js';
import { defaultPodTemplate, defaultTemplateBehindGates } from '../../core/pod/defaults.js';
import { equalityOf, samePodTemplate } from '../../core/pod/equal.js';
import { isNewGeneration, selectorCell, templateWarnings, workloadHooks } from '../../core/pod/template-strategy.js';
import { podRules } from '../../core/pod/validation/options.js';
import { validateImmutableSelector } from '../shared/selector.js';
import { validateDaemonSetSpec, validateDaemonSetStatus } from './validation.js';

/** Counts the changes of the template. It once was a field; in this version an annotation carries it. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

const count = (name: string, description: string) => ({ name, type: 'integer', description }) as const;

const sameSpec = equalityOf<DaemonSet['spec']>('io.k8s.api.apps.v1.DaemonSetSpec');

export const daemonSets: KindDefinition<DaemonSet> = {
  group: 'apps',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  singular: 'daemonset',
  shortNames: ['ds'],
  categories: ['all'],
  namespaced: true,
  storage: { keyPrefix: 'daemonsets' },
  versions: [
    {
      version: 'v1',
      defaults: setDefaults,
      unconvertible: uncounted,
      defaultsBehindGates: ({ spec }, features) => defaultTemplateBehindGates(spec.template, features),
    },
  ],
  storageVersion: 'v1',
  metadataAlone: ({ annotations, ...metadata }) => {
    if (annotations === undefined) return metadata;
    const { [TEMPLATE_GENERATION]: _, ...others } = annotations;
    return Object.keys(others).length === 0 ? metadata : { ...metadata, annotations: others };
  },
  strategy: {
    ...workloadHooks<DaemonSet>({
      same: (a, b) => sameSpec(a.spec, b.spec),
      template: ({ spec }) => spec.template,
      prepare: (object, old) => {
        if (old === undefined) object.status = { ...NOTHING_SCHEDULED };
        countTemplate(object, old);
      },
    }),
    hasStatus: true,
    hasGeneration: false,
    metadataRules: { validateName: nameIsDnsSubdomain },
    validate: ({ spec }, context) => validateDaemonSetSpec(spec, podRules(context, false)),
    validateUpdate: ({ metadata, spec }, old, context) => {
      const rules = podRules(context, false, old.spec.template);
      const allowInvalidAffinityLabelValue =
        rules.allowInvalidAffinityLabelValue || selectorHasInvalidLabelValue(old.spec.selector);
      return [
        ...validateCount(countOf(metadata), countOf(old.metadata)),
        ...validateImmutableSelector(spec.selector, old.spec.selector, FieldPath.of('spec', 'selector')),
        ...validateDaemonSetSpec(spec, { ...rules, allowInvalidAffinityLabelValue }),
      ];
    },
    warningsOnCreate: ({ spec }, context) => templateWarnings(spec.template, context),
    warningsOnUpdate: (object, old, context) => {
      const changed = isNewGeneration(object, old) && !samePodTemplate(object.spec.template, old.spec.template);
      return changed ? templateWarnings(object.spec.template, context) : [];
    },
    status: {
      prepareForUpdate: countTemplate,
      validateUpdate: ({ status }, old) => validateDaemonSetStatus(status, old.status),
    },
  },
  table: {
    columns: [
      NAME_COLUMN,
      count('Desired', 'How many nodes should run its pod.'),
      count('Current', 'How many of those have a pod.'),
      count('Ready', 'How many of those have a ready pod.'),
      count('Up-to-date', 'How many have a pod of the newest template.'),
      count('Available', 'How many have had a ready pod long enough.'),
      column('Node Selector', 'The labels of nodes that run its pod.'),
      AGE_COLUMN,
      ...containerColumns,
      wideColumn('Selector', 'The labels of its pods.'),
    ],
    row: (object, now) => [
      object.metadata.name ?? '',
      object.status.desiredNumberScheduled,
      object.status.currentNumberScheduled,
      object.status.numberReady,
      object.status.updatedNumberScheduled ?? 0,
      object.status.numberAvailable ?? 0,
      labelsCell(object.spec.template.spec.nodeSelector),
      ageCell(object, now),
      ...containerCells(object.spec.template.spec.containers),
      selectorCell(object.spec.selector),
    ],
  },
};

const NOTHING_SCHEDULED = {
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
};

function countTemplate({ metadata, spec }: DaemonSet, old: Readonly<DaemonSet> | undefined): void {
  let generation = countOf(metadata) < 1n ? 1n : countOf(metadata);
  if (old) generation = countOf(old.metadata) + (samePodTemplate(spec.template, old.spec.template) ? 0n : 1n);
  metadata.annotations = { ...metadata.annotations, [TEMPLATE_GENERATION]: String(BigInt.asIntN(64, generation)) };
}

const countOf = ({ annotations }: Readonly<DaemonSet>['metadata']): bigint =>
  parseInt64(annotations?.[TEMPLATE_GENERATION] ?? '0');

/** One more than the largest goes round. */
function validateCount(now: bigint, old: bigint): FieldErrors {
  if (now >= old) return [];
  const path = FieldPath.of('spec', 'templateGeneration');
  return [invalid(path, now, 'must not be decremented'), invalid(path, now, NOT_NEGATIVE)];
}

function uncounted({ metadata }: Readonly<DaemonSet>): string | undefined {
  try {
    countOf(metadata);
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxMistake) return error.message;
    throw error;
  }
}

function setDefaults({ metadata, spec }: DaemonSet): void {
  (metadata.annotations ??= {})[TEMPLATE_GENERATION] ??= '0';
  spec.updateStrategy.type ||= 'RollingUpdate';
  if (spec.updateStrategy.type === 'RollingUpdate') {
    const rolling = (spec.updateStrategy.rollingUpdate ??= {});
    rolling.maxUnavailable ??= 1;
    rolling.maxSurge ??= 0;
  }
  spec.revisionHistoryLimit ??= 10;
  defaultPodTemplate(spec.template);
}
