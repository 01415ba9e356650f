import { append } from '../../lib/values/append.js';
import { duplicate, type FieldErrors, FieldPath } from '../../machinery/field-error.js';
import { invalidEach, validateImmutableField } from '../../machinery/validation/fields.js';
import { validateLabels } from '../../machinery/validation/label-selector.js';
import { nameIsDnsLabel } from '../../machinery/validation/names.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../registry/columns.js';
import type { KindDefinition, LifeContext } from '../../registry/kind.js';
import type { Toleration } from '../../schema/generated/core.v1.js';
import type { RuntimeClass } from '../../schema/generated/node.v1.js';
import { internalValue } from '../core/internal-form/internal-value.js';
import { podRules } from '../core/pod/validation/options.js';
import { validateContainerResources } from '../core/pod/validation/resources.js';
import { validateTolerations } from '../core/pod/validation/tolerations.js';
import { sortedKeys } from '../core/shared/key-values.js';
import { DEPRECATED_NODE_LABELS } from '../core/shared/node-label-warnings.js';

export const runtimeClasses: KindDefinition<RuntimeClass> = {
  group: 'node.k8s.io',
  kind: 'RuntimeClass',
  plural: 'runtimeclasses',
  singular: 'runtimeclass',
  namespaced: false,
  versions: [{ version: 'v1' }],
  storageVersion: 'v1',
  strategy: {
    metadataRules: { anyFinalizer: true },
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
    validate: validateRuntimeClass,
    validateUpdate: (object, old, context, { whole }) => [
      ...whole,
      ...validateRuntimeClass(object, context),
      ...validateImmutableField(object.handler, old.handler, FieldPath.of('handler')),
    ],
    warningsOnCreate: runtimeClassWarnings,
    warningsOnUpdate: runtimeClassWarnings,
  },
  table: {
    columns: [NAME_COLUMN, column('Handler', 'What the node runs such pods with.'), AGE_COLUMN],
    row: (object, now) => [object.metadata.name ?? '', object.handler, ageCell(object, now)],
  },
};

function validateRuntimeClass(object: Readonly<RuntimeClass>, context: LifeContext): FieldErrors {
  const { handler, overhead, scheduling } = object;
  const errors = invalidEach(FieldPath.of('handler'), handler, nameIsDnsLabel(handler, false));
  if (overhead?.podFixed !== undefined) {
    // The overhead is judged as a container's limits would be, paths included.
    const limits = { limits: overhead.podFixed };
    const path = FieldPath.of('overhead');
    append(errors, validateContainerResources(limits, new Set(), path, podRules(context, false)));
  }
  if (scheduling !== undefined) {
    const path = FieldPath.of('scheduling');
    append(errors, validateLabels(scheduling.nodeSelector, path.child('nodeSelector')));
    append(errors, validateDistinctTolerations(scheduling.tolerations ?? [], path.child('tolerations')));
  }
  return errors;
}

function validateDistinctTolerations(tolerations: readonly Toleration[], path: FieldPath): FieldErrors {
  const errors = validateTolerations(tolerations, path.child('tolerations'));
  const seen = new Set<string>();
  for (const [position, toleration] of tolerations.entries()) {
    const { key = '', operator = '', value = '', effect = '' } = toleration;
    const identity = JSON.stringify([key, operator, value, effect]);
    if (seen.has(identity)) errors.push(duplicate(path.index(position), internalValue('Toleration', toleration)));
    seen.add(identity);
  }
  return errors;
}

function runtimeClassWarnings({ scheduling }: Readonly<RuntimeClass>): string[] {
  return sortedKeys(scheduling?.nodeSelector).flatMap((label) => {
    const message = DEPRECATED_NODE_LABELS.get(label);
    return message === undefined ? [] : [`scheduling.nodeSelector: ${message}`];
  });
}
