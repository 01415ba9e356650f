// Defaults are values like any other: they must fit their schema, and hold nothing it does not know.
import { append } from '../../lib/values/append.js';
import { isDeepStrictEqual } from 'node:util';
import type { ExpressionChecker } from '../../cel/expression-check.js';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { type FieldErrors, FieldPath, aggregateText, fieldErrorText, invalid } from '../../machinery/field-error.js';
import { type Schema, itemsOf, schemaHas, sortedMembers } from './schema-walk.js';
import { prune } from './values/prune.js';
import { metadataTypeError, validateResourceMeta } from './values/resource-meta.js';
import { ruleTree } from './values/rule-tree.js';
import { shownJson } from './values/shown-json.js';
import { OBJECT_COST_BUDGET, validateRules } from './values/validate-rules.js';
import { type Trials, validateValue } from './values/validate-value.js';

const META_FIELDS = new Set(['metadata', 'apiVersion', 'kind']);

/** A way to a place in an object, from its root: builds the object around a value at that place. */
type Surround = (value: unknown) => Record<string, unknown>;

interface Place {
  /** The resource around it: the root or an embedded one. */
  readonly resource: Schema;
  readonly surround: Surround;
  /** Inside what every resource has. */
  readonly insideMeta: boolean;
  readonly budget: Budget;
}

export interface DefaultRules {
  /** Unknown members in a default are an error; a stored definition may have them already. */
  readonly requirePruned: boolean;
  readonly checker: ExpressionChecker | undefined;
  /** Of all defaults of the definition. */
  readonly trials: Trials;
}

/** What the rules of all defaults together may still cost. */
interface Budget {
  remaining: number;
}

export function validateDefaults(schema: Schema, rules: DefaultRules, path: FieldPath): FieldErrors {
  if (!schemaHas(schema, hasDefault)) return [];
  const root = { ...schema, 'x-kubernetes-embedded-resource': true };
  const budget = { remaining: OBJECT_COST_BUDGET };
  return validateNode(root, { resource: root, surround: rootObject, insideMeta: false, budget }, rules, path);
}

/** Whether pruning would change a default of the schema. */
export const hasUnprunedDefaults = (schema: Schema): boolean =>
  schemaHas(schema, (node) => hasDefault(node) && !isPruned(node));

export const hasDefault = (schema: Schema): boolean => schema.default !== undefined && schema.default !== null;

const rootObject: Surround = (value) => ({
  kind: 'Validation',
  apiVersion: 'validation/v1',
  ...(isPlainObject(value) ? value : {}),
});

function validateNode(schema: Schema, outer: Place, rules: DefaultRules, path: FieldPath): FieldErrors {
  const place: Place = schema['x-kubernetes-embedded-resource']
    ? { ...outer, resource: schema, surround: rootObject, insideMeta: false }
    : outer;
  const errors: FieldErrors = [];
  if (hasDefault(schema)) {
    const at = path.child('default');
    append(
      errors,
      place.insideMeta ? validateMetaDefault(schema, place, rules, at) : validateDefault(schema, place, rules, at),
    );
    if (place.budget.remaining < 0) return errors;
  }
  const items = itemsOf(schema);
  if (items !== undefined) {
    const inner = { ...place, surround: (value: unknown) => place.surround([value]) };
    append(errors, validateNode(items, inner, rules, path.child('items')));
  }
  for (const [name, property] of sortedMembers(schema.properties)) {
    if (place.budget.remaining < 0) return errors;
    const isMeta = schema['x-kubernetes-embedded-resource'] === true && META_FIELDS.has(name);
    const inner: Place = {
      ...place,
      surround: (value) => place.surround({ [name]: value }),
      insideMeta: place.insideMeta || isMeta,
    };
    append(errors, validateNode(property, inner, rules, path.child('properties').key(name)));
  }
  return errors;
}

function validateDefault(schema: Schema, place: Place, rules: DefaultRules, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  if (rules.requirePruned && !isPruned(schema)) {
    errors.push(invalid(path, shownJson(schema.default), 'must not have unknown fields'));
  }
  const isResource = schema['x-kubernetes-embedded-resource'] === true;
  const typeError = metadataTypeError(schema.default, schema, isResource, path);
  if (typeError !== undefined) return [...errors, typeError];
  const meta = validateResourceMeta(schema.default, schema, isResource, path);
  return [...errors, ...(meta.length > 0 ? meta : validateDefaultValue(schema, place, rules, path))];
}

/** A default within metadata is right when an object that has it has valid metadata. */
function validateMetaDefault(schema: Schema, place: Place, rules: DefaultRules, path: FieldPath): FieldErrors {
  const { resource, surround } = place;
  const object = surround(structuredClone(schema.default));
  const typeError = metadataTypeError(object, resource, true, undefined);
  const errors = typeError === undefined ? validateResourceMeta(object, resource, true, undefined) : [typeError];
  if (errors.length > 0) {
    const why = `must result in valid metadata: ${aggregateText(errors.map(fieldErrorText))}`;
    return [invalid(path, shownJson(schema.default), why)];
  }
  return validateDefaultValue(schema, place, rules, path);
}

/** The schema's rules hold for a default when nothing changes, and when there was nothing before. */
function validateDefaultValue(schema: Schema, place: Place, rules: DefaultRules, path: FieldPath): FieldErrors {
  const errors = validateValue(schema.default, schema, { path, trials: rules.trials });
  const { checker } = rules;
  if (errors.length > 0 || checker === undefined) return errors;
  const tree = ruleTree(schema, schema === place.resource, (type) => checker.rulesOn(type));
  if (tree === undefined) return [];
  const { budget } = place;
  const check = { value: schema.default, path, budget: budget.remaining };
  const same = validateRules(tree, { ...check, old: schema.default });
  const fresh = same.errors.length > 0 ? same : validateRules(tree, { ...check, old: undefined });
  budget.remaining = Math.min(same.remaining, fresh.remaining);
  return fresh.errors;
}

function isPruned(schema: Schema): boolean {
  const pruned = structuredClone(schema.default);
  prune(pruned, schema, schema['x-kubernetes-embedded-resource'] === true);
  return isDeepStrictEqual(pruned, schema.default);
}
