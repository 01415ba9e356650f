import { append } from '../../lib/values/append.js';
import { type FieldErrors, FieldPath, forbidden, notSupported, required } from '../../machinery/field-error.js';
import { validateImmutableName } from '../../machinery/validation/fields.js';
import { forbidden as requestForbidden } from '../../machinery/status.js';
import { AGE_COLUMN, ageCell, NAME_COLUMN } from '../../registry/columns.js';
import type { KindDefinition } from '../../registry/kind.js';
import type { PriorityClass } from '../../schema/generated/scheduling.v1.js';

/** What people may give their own classes; everything above belongs to the system. */
const HIGHEST_USER_PRIORITY = 1_000_000_000;
const SYSTEM_PREFIX = 'system-';
const SYSTEM_CLASSES: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2 * HIGHEST_USER_PRIORITY + 1000],
  ['system-cluster-critical', 2 * HIGHEST_USER_PRIORITY],
]);
const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never'];

export const priorityClasses: KindDefinition<PriorityClass> = {
  group: 'scheduling.k8s.io',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  singular: 'priorityclass',
  shortNames: ['pc'],
  namespaced: false,
  versions: [
    {
      version: 'v1',
      defaults: (object) => {
        object.preemptionPolicy ??= 'PreemptLowerPriority';
      },
    },
  ],
  storageVersion: 'v1',
  strategy: {
    // The generation starts at 1 and stays: what it would count cannot change.
    prepareForCreate: ({ metadata }) => {
      metadata.generation = 1;
    },
    validate: validatePriorityClass,
    validateUpdate: validatePriorityClassUpdate,
    delete: { checkName: refuseSystemClass },
  },
  table: {
    columns: [
      NAME_COLUMN,
      { name: 'Value', type: 'integer', description: 'The priority pods of this class get.' },
      { name: 'Global-Default', type: 'boolean', description: 'Whether pods that name no class get this one.' },
      AGE_COLUMN,
      { name: 'PreemptionPolicy', type: 'string', description: 'Whether pods of this class drive others out.' },
    ],
    row: (object, now) => [
      object.metadata.name ?? '',
      object.value,
      object.globalDefault ?? false,
      ageCell(object, now),
      object.preemptionPolicy ?? '',
    ],
  },
};

function refuseSystemClass(name: string): void {
  if (!SYSTEM_CLASSES.has(name)) return;
  const why = 'this is a system priority class and cannot be deleted';
  throw requestForbidden({ group: 'scheduling.k8s.io', resource: 'priorityclasses' }, name, why);
}

function validatePriorityClass(object: Readonly<PriorityClass>): FieldErrors {
  const { metadata, value, preemptionPolicy } = object;
  const errors: FieldErrors = [];
  if (metadata.name?.startsWith(SYSTEM_PREFIX)) {
    const why = systemClassProblem(metadata.name, object);
    if (why !== undefined) {
      const reserved = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: ${why}`;
      errors.push(forbidden(FieldPath.of('metadata', 'name'), reserved));
    }
  } else if (value > HIGHEST_USER_PRIORITY) {
    const why = `maximum allowed value of a user defined priority is ${HIGHEST_USER_PRIORITY}`;
    errors.push(forbidden(FieldPath.of('value'), why));
  }
  const path = FieldPath.of('preemptionPolicy');
  if (preemptionPolicy === '') errors.push(required(path));
  else if (preemptionPolicy !== undefined && !PREEMPTION_POLICIES.includes(preemptionPolicy)) {
    errors.push(notSupported(path, preemptionPolicy, PREEMPTION_POLICIES));
  }
  return errors;
}

function systemClassProblem(name: string, { value, globalDefault }: Readonly<PriorityClass>): string | undefined {
  const expected = SYSTEM_CLASSES.get(name);
  if (expected === undefined) return `${name} is not a known system priority class`;
  if (value !== expected) return `value of ${name} PriorityClass must be ${expected}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

function validatePriorityClassUpdate(object: Readonly<PriorityClass>, old: Readonly<PriorityClass>): FieldErrors {
  const errors: FieldErrors = [];
  if (object.value !== old.value) errors.push(forbidden(FieldPath.of('value'), 'may not be changed in an update.'));
  append(
    errors,
    validateImmutableName(object.preemptionPolicy, old.preemptionPolicy, FieldPath.of('preemptionPolicy')),
  );
  return errors;
}
