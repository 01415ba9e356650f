// The rules of an OpenAPI schema in a definition, besides those of structural schemas.
import { append } from '../../lib/values/append.js';
import type { ExpressionChecker } from '../../cel/expression-check.js';
import {
  type FieldErrors,
  type FieldPath,
  forbidden,
  invalid,
  plainNotSupported,
} from '../../machinery/field-error.js';
import { explicitEmptyOf, wasExplicitEmpty } from '../../machinery/explicit-empty.js';
import type { CustomResourceValidation } from '../../schema/generated/apiextensions.v1.js';
import { hasDefault, validateDefaults } from './default-validation.js';
import type { Trials } from './values/validate-value.js';
import { shownSchema } from './internal-form.js';
import { validateListType, validateMapType } from './list-type-rules.js';
import { RuleContext, type Step } from './rule-context.js';
import { type StoredExpressions, checkRules, validateRuleTexts } from './rule-validation.js';
import { type Schema, additionalOf, itemSchemasOf, itemsOf, sortedMembers } from './schema-walk.js';
import { structuralMistake, validateStructural } from './structural-schema.js';

/** What a schema must fulfil; an update requires no more than the stored CRD fulfils. */
export interface SchemaRules {
  readonly structural: boolean;
  readonly knownTypes: boolean;
  readonly prunedDefaults: boolean;
  readonly atomicSets: boolean;
  readonly mapKeys: boolean;
  readonly checker: ExpressionChecker | undefined;
  /** What the defaults of all versions may be tried with. */
  readonly trials: Trials;
  readonly storedExpressions: StoredExpressions;
  /** The schema is as it was before, so that no rule of it is too costly. */
  readonly unchanged: boolean;
}

export function validateSchema(
  validation: Readonly<CustomResourceValidation> | undefined,
  hasStatus: boolean,
  rules: SchemaRules,
  path: FieldPath,
): FieldErrors {
  const schema = validation?.openAPIV3Schema;
  if (schema === undefined) return [];
  const at = path.child('openAPIV3Schema');
  const errors: FieldErrors = [];
  if (hasStatus) append(errors, validateRootMembers(schema, at));
  if (schema.nullable) {
    errors.push(forbidden(path.child('openAPIV3Schema.nullable'), 'nullable cannot be true at the root'));
  }
  let mistake: string | undefined;
  let expressions: RuleContext | undefined;
  if (rules.structural) {
    mistake = structuralMistake(schema);
    if (mistake === undefined) {
      const structural = validateStructural(schema, at);
      const broken =
        structural.length > 0
          ? structural
          : validateDefaults(schema, { ...rules, requirePruned: rules.prunedDefaults }, at);
      append(errors, broken);
      if (broken.length === 0 && rules.checker !== undefined) expressions = RuleContext.root(schema);
    }
  }
  const node: NodeContext = { rules, ...(expressions && { expressions }), isRoot: true };
  const found = validateNode(schema, node, at);
  append(errors, found.schema, found.expressions);
  if (errors.length === 0 && mistake !== undefined) errors.push(invalid(at, '', mistake));
  if (expressions !== undefined) append(errors, expressions.total.errors(at));
  return errors;
}

/** With a status of its own, that part of the schema is used alone: rules at the root would be lost. */
const ROOT_MEMBERS: readonly (readonly [string, keyof Schema])[] = [
  ['Description', 'description'],
  ['Type', 'type'],
  ['Format', 'format'],
  ['Title', 'title'],
  ['Maximum', 'maximum'],
  ['ExclusiveMaximum', 'exclusiveMaximum'],
  ['Minimum', 'minimum'],
  ['ExclusiveMinimum', 'exclusiveMinimum'],
  ['MaxLength', 'maxLength'],
  ['MinLength', 'minLength'],
  ['Pattern', 'pattern'],
  ['MaxItems', 'maxItems'],
  ['MinItems', 'minItems'],
  ['UniqueItems', 'uniqueItems'],
  ['MultipleOf', 'multipleOf'],
  ['Required', 'required'],
  ['Items', 'items'],
  ['Properties', 'properties'],
  ['ExternalDocs', 'externalDocs'],
  ['Example', 'example'],
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields'],
  ['XValidations', 'x-kubernetes-validations'],
];

/** Members reported before the type, in kube-apiserver's order. */
const BEFORE_TYPE = ['id', '$schema', '$ref'];

function validateRootMembers(schema: Schema, path: FieldPath): FieldErrors {
  const allowed = new Set<string>(ROOT_MEMBERS.map(([, member]) => member));
  const names = [...Object.keys(schema), ...Object.keys(explicitEmptyOf(schema) ?? {})];
  const tooMuch = names.find((name) => !allowed.has(name));
  const typeFirst = schema.type && schema.type !== 'object' && !names.some((name) => BEFORE_TYPE.includes(name));
  if (typeFirst) {
    const why = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    return [invalid(path.child('type'), schema.type, why)];
  }
  if (tooMuch === undefined) return [];
  const list = ROOT_MEMBERS.map(([name]) => name).join(' ');
  const why = `only [${list}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [invalid(path, shownSchema(schema), why)];
}

interface NodeContext {
  readonly rules: SchemaRules;
  /** Set where rules are compiled: the structure is right and known there. */
  readonly expressions?: RuleContext;
  readonly isRoot?: boolean;
  readonly insideMeta?: boolean;
  /** Why no default may stand here. */
  readonly noDefaults?: string;
}

/** Errors of expressions come after all others. */
interface Found {
  readonly schema: FieldErrors;
  readonly expressions: FieldErrors;
}

const META_FIELDS = new Set(['metadata', 'kind', 'apiVersion']);

function validateNode(schema: Schema, context: NodeContext, path: FieldPath): Found {
  const { rules } = context;
  const found: Found = { schema: validateSupported(schema, context, path), expressions: [] };
  if (schema.uniqueItems) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    found.schema.push(forbidden(path.child('uniqueItems'), why));
  }
  validateInner(schema, context, path, found);
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    found.schema.push(invalid(path.child('x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'));
  }
  append(found.schema, validateMapType(schema, path), validateListType(schema, rules, path));
  const ruleList = schema['x-kubernetes-validations'] ?? [];
  if (ruleList.length === 0) return found;
  append(found.schema, validateRuleTexts(schema, path));
  // A schema that is wrong has no types to compile a rule with.
  const { expressions } = context;
  if (found.schema.length === 0 && expressions !== undefined && rules.checker !== undefined) {
    const { checker, storedExpressions: stored, unchanged } = rules;
    append(found.expressions, checkRules(schema, expressions, { checker, stored, unchanged }, path));
  }
  return found;
}

function validateInner(schema: Schema, context: NodeContext, path: FieldPath, found: Found): void {
  const visit = (inner: Schema, innerContext: NodeContext, at: FieldPath): void => {
    const { schema: errors, expressions } = validateNode(inner, innerContext, at);
    append(found.schema, errors);
    append(found.expressions, expressions);
  };
  const { isRoot = false, expressions: outer, ...nested } = context;
  /** The context of a node on the structure's spine; rules elsewhere are not compiled. */
  const below = (inner: Schema, step: Step): NodeContext =>
    outer === undefined ? nested : { ...nested, expressions: outer.child(inner, step, path) };
  const { additionalProperties, properties = {} } = schema;
  if (additionalProperties !== undefined) {
    if (Object.keys(properties).length > 0 && additionalProperties !== true) {
      const why = 'additionalProperties and properties are mutual exclusive';
      found.schema.push(forbidden(path.child('additionalProperties'), why));
    }
    const additional = additionalOf(schema);
    const noDefaults = 'inside additionalProperties applying to object metadata';
    if (additional !== undefined) {
      const inner = below(additional, 'additional');
      visit(additional, context.insideMeta ? { ...inner, noDefaults } : inner, path.child('additionalProperties'));
    }
  }
  for (const [name, property] of sortedMembers(properties)) {
    const isMeta = (isRoot || schema['x-kubernetes-embedded-resource'] === true) && META_FIELDS.has(name);
    const inner: NodeContext = {
      ...below(property, { property: name }),
      ...(isMeta ? { insideMeta: true } : {}),
      ...(isMeta && isRoot ? { noDefaults: `in top-level ${name}` } : {}),
    };
    visit(property, inner, path.child('properties').key(name));
  }
  if (schema.not !== undefined) visit(schema.not, nested, path.child('not'));
  for (const member of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [i, one] of (schema[member] ?? []).entries()) visit(one, nested, path.child(member).index(i));
  }
  for (const [name, definition] of sortedMembers(schema.definitions)) {
    visit(definition, nested, path.child('definitions').key(name));
  }
  const items = itemsOf(schema);
  if (items !== undefined) visit(items, below(items, 'items'), path.child('items'));
  for (const [i, item] of itemSchemasOf(schema).entries()) {
    visit(item, below(item, 'items'), path.child('items').index(i));
  }
  for (const [name, dependency] of sortedMembers(schema.dependencies)) {
    if (!Array.isArray(dependency)) visit(dependency, nested, path.child('dependencies').key(name));
  }
}

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

/** Members of OpenAPI schemas that CRDs do not support, in the order of their errors. */
const FORBIDDEN = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const;

function validateSupported(schema: Schema, context: NodeContext, path: FieldPath): FieldErrors {
  const type = schema.type ?? '';
  const errors: FieldErrors = [];
  if (context.rules.knownTypes && type !== '' && !TYPES.includes(type)) {
    errors.push(plainNotSupported(path.child('type'), type, TYPES));
  }
  if (hasDefault(schema) && context.noDefaults !== undefined) {
    errors.push(forbidden(path.child('default'), `must not be set ${context.noDefaults}`));
  }
  for (const member of FORBIDDEN) {
    const isSet = schema[member] !== undefined || (member === 'dependencies' && wasExplicitEmpty(schema, member));
    if (isSet) errors.push(forbidden(path.child(member), `${member} is not supported`));
  }
  if (type === 'null') {
    errors.push(forbidden(path.child('type'), 'type cannot be set to null, use nullable as an alternative'));
  }
  if (itemSchemasOf(schema).length > 0) {
    errors.push(forbidden(path.child('items'), 'items must be a schema object and not an array'));
  }
  if (context.insideMeta && schema['x-kubernetes-embedded-resource']) {
    errors.push(forbidden(path.child('x-kubernetes-embedded-resource'), 'must not be used inside of resource meta'));
  }
  return errors;
}
