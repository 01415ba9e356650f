// The rules of a custom resource's life: what its CRD's version says of it.
import { append } from '../lib/values/append.js';
import type { ExpressionChecker } from '../cel/expression-check.js';
import { once } from '../lib/values/once.js';
import { goQuote } from '../lib/go/quote.js';
import { type FieldError, type FieldErrors, FieldPath, invalid } from '../machinery/field-error.js';
import type { JsonObject, KubeObject } from '../machinery/object.js';
import { forbidden } from '../machinery/status.js';
import { isQualifiedName } from '../machinery/validation/names.js';
import { hasDefault } from '../apis/apiextensions/default-validation.js';
import { alternativesIn, isLargerThan, type Schema } from '../apis/apiextensions/schema-walk.js';
import { validateResourceMeta } from '../apis/apiextensions/values/resource-meta.js';
import { type RuleNode, hasRules, ruleTree } from '../apis/apiextensions/values/rule-tree.js';
import { OBJECT_COST_BUDGET, validateRules } from '../apis/apiextensions/values/validate-rules.js';
import { Correlation } from '../apis/apiextensions/values/correlation.js';
import { validateValue } from '../apis/apiextensions/values/validate-value.js';
import type { LifeContext, StatusStrategy, Strategy } from '../registry/kind.js';
import type { CustomResourceSubresources } from '../schema/generated/apiextensions.v1.js';
import { equalTrees } from '../schema/deep-equal.js';
import { validateUniqueItems } from './list-uniqueness.js';
import { validateScaleSpec, validateScaleStatus } from './scale.js';
import { setDefaults } from './set-defaults.js';

export interface StrategyOptions {
  readonly group: string;
  readonly plural: string;
  /** As it stands in the CRD: for an estimate of its size. */
  readonly stated: Schema | undefined;
  /** Compiled when an object is written. */
  readonly schema: () => Schema | undefined;
  readonly subresources: CustomResourceSubresources;
  /** True while the CRD is being deleted: then nothing new is created. */
  readonly terminating: () => boolean;
  /** Compiles the rules of the schema; without it no rule is checked. */
  readonly expressions?: Pick<ExpressionChecker, 'rulesOn' | 'evaluated'>;
  /** Brings an object that passed the rules of its version into the form that is stored. */
  readonly toStored?: (object: KubeObject) => void;
  /** The other way round, a copy. */
  readonly asServed?: (stored: Readonly<KubeObject>) => Readonly<KubeObject>;
  /** Drops what the schema does not know, for an object that was changed after it was read. True when it did. */
  readonly prune?: (object: KubeObject) => boolean;
}

/** So many alternatives run as long as all else that is done with a value. */
const ALTERNATIVES_AS_THE_REST = 4;

/** A schema of more parts is itself what is slow, however small an object is. */
const MAX_PARTS = 5_000;

/** By how much the work on an object exceeds what its size suggests. */
function weightOf(schema: Schema | undefined): number {
  if (isLargerThan(schema, MAX_PARTS)) return Infinity;
  return Math.max(1, alternativesIn(schema) / ALTERNATIVES_AS_THE_REST);
}

export function customStrategy(options: StrategyOptions): Strategy {
  const { schema, subresources, toStored, asServed, prune } = options;
  const hasStatus = subresources.status !== undefined;
  const checkRules = rulesOf(options);
  const weight = once(() => weightOf(options.stated));
  return {
    metadataRules: { anyFinalizer: true },
    hasStatus,
    cost: {
      get weight() {
        return weight();
      },
      mayRunLong: true,
    },
    hasGeneration: true,
    allowUnconditionalUpdate: false,
    transaction: {
      async beginCreate(object) {
        if (!options.terminating()) return undefined;
        const why = 'create not allowed while custom resource definition is terminating';
        throw forbidden({ group: options.group, resource: options.plural }, object.metadata.name ?? '', why);
      },
    },
    validate: (object, context) =>
      checkRules(object, undefined, context, [
        ...validateBySchema(object, options),
        ...validateUniqueItems(object, schema(), undefined),
      ]),
    warningsOnCreate: ({ metadata }) => finalizerWarnings(metadata.finalizers ?? []),
    prepareForUpdate(object, old) {
      // Without an endpoint of its own the status is a part of the object like any other.
      if (!hasStatus && !equalTrees(statusOf(object), statusOf(old))) {
        object.metadata.generation = (old.metadata.generation ?? 0) + 1;
      }
    },
    validateUpdate: (object, old, context) =>
      checkRules(object, old, context, [
        ...validateBySchema(object, options, former(object, old, schema(), context)),
        ...validateChangedItems(object, old, schema()),
      ]),
    warningsOnUpdate: ({ metadata }, old) => {
      const before = new Set(old.metadata.finalizers);
      return finalizerWarnings((metadata.finalizers ?? []).filter((name) => !before.has(name)));
    },
    ...(toStored && { canonicalize: toStored }),
    ...(asServed && { asServed }),
    pruneForStorage(object) {
      const isPruned = prune?.(object) === true;
      return (hasStatus && setStatus(object, schema())) || isPruned;
    },
    ...(hasStatus && { status: statusStrategy(options, checkRules) }),
    resetFields: { '': hasStatus ? [['status']] : [], status: [['spec']] },
  };
}

/** A status that a write may not bring, kube-apiserver fills in whenever it reads what is stored. True when it did. */
function setStatus(object: KubeObject, schema: Schema | undefined): boolean {
  const stated = schema?.properties?.['status'];
  if (stated === undefined || !hasDefault(stated) || statusOf(object) !== undefined) return false;
  setDefaults(object, { type: 'object', properties: { status: stated } });
  return true;
}

const statusOf = (object: Readonly<KubeObject>): unknown => (object as JsonObject & KubeObject)['status'];

/** What was wrong before and has not changed may stay, while the gate is on. */
const mayStay = ({ features }: LifeContext): boolean => features.enabled('CRDValidationRatcheting');

const former = (
  object: unknown,
  old: unknown,
  schema: Schema | undefined,
  context: LifeContext,
): Correlation | undefined =>
  schema !== undefined && mayStay(context) ? new Correlation(object, old, schema) : undefined;

/** The errors of an object's form, and after them those of its rules. */
type CheckRules = (
  object: Readonly<KubeObject>,
  old: Readonly<KubeObject> | undefined,
  context: LifeContext,
  errors: FieldErrors,
) => FieldErrors;

/** Rules are compiled when the first object is written. */
function rulesOf({ schema, expressions }: StrategyOptions): CheckRules {
  const ruled = once(() => (hasRules(schema()) ? schema() : undefined));
  let tree: RuleNode | undefined;
  return (object, old, context, errors) => {
    const rules = ruled();
    if (rules === undefined) return errors;
    if (errors.some(({ type }) => BLOCKING.has(type))) return [...errors, uncheckedRules()];
    if (expressions === undefined) return errors;
    tree ??= ruleTree(rules, true, (type) => expressions.rulesOn(type));
    if (tree === undefined) return errors;
    const { interrupted } = context;
    const check = { value: object, old, path: undefined, budget: OBJECT_COST_BUDGET, interrupted };
    const ratchet = { warn: (text: string) => context.warn(text) };
    const startedMs = performance.now();
    const ratchets = old !== undefined && mayStay(context);
    const outcome = validateRules(tree, ratchets ? { ...check, ratchet } : check);
    expressions.evaluated?.((performance.now() - startedMs) / 1000);
    return [...errors, ...outcome.errors];
  };
}

function statusStrategy({ schema, subresources }: StrategyOptions, checkRules: CheckRules): StatusStrategy {
  return {
    prepareForUpdate(object, old) {
      const { managedFields, resourceVersion } = object.metadata;
      object.metadata = { ...old.metadata };
      if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
      if (managedFields === undefined) delete object.metadata.managedFields;
      else object.metadata.managedFields = managedFields;
    },
    validateUpdate(object, old, context) {
      const status = statusOf(object);
      const statusSchema = schema()?.properties?.['status'];
      const errors =
        status === undefined || statusSchema === undefined
          ? []
          : validateValue(status, statusSchema, {
              path: FieldPath.of('status'),
              old: former(object, old, schema(), context)?.member('status'),
            });
      append(errors, validateScaleStatus(object, subresources.scale), validateChangedItems(object, old, schema()));
      return checkRules(object, old, context, errors);
    },
  };
}

function validateBySchema(
  object: Readonly<KubeObject>,
  { schema: compiled, subresources }: StrategyOptions,
  old?: Correlation,
): FieldErrors {
  const schema = compiled();
  return [
    ...(schema === undefined ? [] : validateValue(object, schema, { path: undefined, old })),
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

/** Rules are not tried on an object that has not the form they were written for. */
function uncheckedRules(): FieldError {
  const why =
    'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
  return invalid(undefined, null, why);
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
