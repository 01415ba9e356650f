// The rules of a custom resource's life: what its definition's version says of it.
import { goQuote } from '../lib/go-quote.js';
import { type FieldError, type FieldErrors, FieldPath, invalid } from '../machinery/field-error.js';
import type { JsonObject, KubeObject } from '../machinery/object.js';
import { forbidden } from '../machinery/status.js';
import { isQualifiedName } from '../machinery/validation/names.js';
import { type Schema, schemaHas } from '../apis/apiextensions/schema-walk.js';
import { validateResourceMeta } from '../apis/apiextensions/values/resource-meta.js';
import { type Old, validateValue } from '../apis/apiextensions/values/validate-value.js';
import type { StatusStrategy, Strategy } from '../registry/kind.js';
import type { CustomResourceSubresources } from '../schema/generated/apiextensions.v1.js';
import { equalTrees } from '../schema/deep-equal.js';
import { validateUniqueItems } from './list-uniqueness.js';
import { validateScaleSpec, validateScaleStatus } from './scale.js';

export interface StrategyOptions {
  readonly group: string;
  readonly plural: string;
  readonly schema: Schema | undefined;
  readonly subresources: CustomResourceSubresources;
  /** True while the definition is being deleted: then nothing new is made. */
  readonly terminating: () => boolean;
  /** Takes an object that passed the rules of its version into the form that is stored. */
  readonly toStored?: (object: KubeObject) => void;
}

export function customStrategy(options: StrategyOptions): Strategy {
  const { schema, subresources, toStored } = options;
  const hasStatus = subresources.status !== undefined;
  const hasRules = schemaHas(schema, (node) => (node['x-kubernetes-validations']?.length ?? 0) > 0);
  const withRules = (errors: FieldErrors): FieldErrors => (hasRules ? [...errors, ...unchecked(errors)] : errors);
  return {
    anyFinalizer: true,
    hasStatus,
    hasGeneration: true,
    allowUnconditionalUpdate: false,
    async beginCreate(object) {
      if (!options.terminating()) return undefined;
      const why = 'create not allowed while custom resource definition is terminating';
      throw forbidden({ group: options.group, resource: options.plural }, object.metadata.name ?? '', why);
    },
    validate: (object) =>
      withRules([...validateBySchema(object, options), ...validateUniqueItems(object, schema, undefined)]),
    warningsOnCreate: ({ metadata }) => finalizerWarnings(metadata.finalizers ?? []),
    prepareForUpdate(object, old) {
      // Without an endpoint of its own the status is a part of the object like any other.
      if (!hasStatus && !equalTrees(statusOf(object), statusOf(old))) {
        object.metadata.generation = (old.metadata.generation ?? 0) + 1;
      }
    },
    validateUpdate: (object, old) =>
      withRules([...validateBySchema(object, options, { value: old }), ...validateChangedItems(object, old, schema)]),
    warningsOnUpdate: ({ metadata }, old) => {
      const before = new Set(old.metadata.finalizers);
      return finalizerWarnings((metadata.finalizers ?? []).filter((name) => !before.has(name)));
    },
    ...(toStored && { canonicalize: toStored }),
    ...(hasStatus && { status: statusStrategy(options, withRules) }),
    resetFields: { '': hasStatus ? [['status']] : [], status: [['spec']] },
  };
}

const statusOf = (object: Readonly<KubeObject>): unknown => (object as JsonObject & KubeObject)['status'];

function statusStrategy(
  { schema, subresources }: StrategyOptions,
  withRules: (errors: FieldErrors) => FieldErrors,
): StatusStrategy {
  const statusSchema = schema?.properties?.['status'];
  return {
    prepareForUpdate(object, old) {
      const { managedFields, resourceVersion } = object.metadata;
      object.metadata = { ...old.metadata };
      if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
      if (managedFields === undefined) delete object.metadata.managedFields;
      else object.metadata.managedFields = managedFields;
    },
    validateUpdate(object, old) {
      const status = statusOf(object);
      const errors =
        status === undefined || statusSchema === undefined
          ? []
          : validateValue(status, statusSchema, FieldPath.of('status'), { value: statusOf(old) });
      errors.push(...validateScaleStatus(object, subresources.scale), ...validateChangedItems(object, old, schema));
      return withRules(errors);
    },
  };
}

function validateBySchema(
  object: Readonly<KubeObject>,
  { schema, subresources }: StrategyOptions,
  old?: Old,
): FieldErrors {
  return [
    ...(schema === undefined ? [] : validateValue(object, schema, undefined, old)),
    ...validateScaleSpec(object, subresources.scale),
    ...validateScaleStatus(object, subresources.scale),
    ...validateResourceMeta(object, schema, false, undefined),
  ];
}

/** Lists that broke the rule before may go on doing so. */
function validateChangedItems(
  object: Readonly<KubeObject>,
  old: Readonly<KubeObject>,
  schema: Schema | undefined,
): FieldErrors {
  const errors = validateUniqueItems(object, schema, undefined);
  return errors.length > 0 && validateUniqueItems(old, schema, undefined).length > 0 ? [] : errors;
}

const BLOCKING: ReadonlySet<FieldError['type']> = new Set<FieldError['type']>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

/** Expressions are not tried on an object that has not the form they were written for. */
function unchecked(errors: FieldErrors): FieldErrors {
  if (!errors.some(({ type }) => BLOCKING.has(type))) return [];
  const why =
    'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
  return [invalid(undefined, null, why)];
}

const STANDARD_FINALIZERS = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

function finalizerWarnings(names: readonly string[]): string[] {
  return [...new Set(names)].sort().flatMap((name) => {
    const say = (what: string): string => `metadata.finalizers: ${goQuote(name)}: ${what}`;
    const warnings = isQualifiedName(name).map(say);
    if (name.includes('/') || STANDARD_FINALIZERS.has(name)) return warnings;
    const including = name.includes('.') ? ' including a path (/)' : '';
    const prefer = `prefer a domain-qualified finalizer name${including} to avoid accidental conflicts with other finalizer writers`;
    return [...warnings, say(prefer)];
  });
}
