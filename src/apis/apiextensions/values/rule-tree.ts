// The rules of a schema, compiled, in a tree of the schema's shape that has only the branches with rules.
import type { CompileRule, CompiledRule } from '../../../cel/environments/schema-rules.js';
import { type DeclaredType, declaredType } from '../../../cel/environments/declared-type.js';
import { escapeFieldName } from '../../../cel/environments/field-names.js';
import type { ValidationRule } from '../../../schema/generated/apiextensions.v1.js';
import { findField } from '../field-path-in-schema.js';
import { type Schema, additionalOf, itemsOf, sortedMembers } from '../schema-walk.js';

export interface RuleNode {
  readonly schema: Schema;
  /** The root of the object or of a resource embedded in it. */
  readonly isResource: boolean;
  readonly rules: readonly NodeRule[];
  /** There are rules, but no type to compile them with. */
  readonly untyped: boolean;
  readonly items: RuleNode | undefined;
  readonly additional: RuleNode | undefined;
  readonly properties: readonly (readonly [string, RuleNode])[];
  readonly allOf: readonly RuleNode[];
}

export interface NodeRule {
  readonly rule: ValidationRule;
  readonly compiled: CompiledRule;
  /** The path of the rule's errors, relative to the node. */
  readonly errorPath: string;
}

/** Makes the compiler for the rules of a node. */
export type RuleCompilers = (type: DeclaredType) => CompileRule;

/** Undefined without any rule. */
export function ruleTree(schema: Schema, isResource: boolean, compilers: RuleCompilers): RuleNode | undefined {
  if (!hasRules(schema)) return undefined;
  return node({ rules: schema, schema, isResource, type: declaredType(schema, isResource) }, compilers);
}

/** Rules in alternatives alone do not count. */
export function hasRules(schema: Schema | undefined): boolean {
  if (schema === undefined) return false;
  if ((schema['x-kubernetes-validations']?.length ?? 0) > 0) return true;
  return (
    hasRules(itemsOf(schema)) || hasRules(additionalOf(schema)) || Object.values(schema.properties ?? {}).some(hasRules)
  );
}

interface Place {
  /** Where the rules are read from: the schema itself, or one of its `allOf`. */
  readonly rules: Schema;
  readonly schema: Schema;
  readonly isResource: boolean;
  readonly type: DeclaredType | undefined;
}

/** What was stored was checked then; whatever a server knows may be used. */
const STORED = { rule: true, message: true };

function node(place: Place, compilers: RuleCompilers): RuleNode | undefined {
  const { rules, schema, isResource, type } = place;
  const stated = rules['x-kubernetes-validations'] ?? [];
  const element = type !== undefined && 'element' in type ? type.element : undefined;
  const inside = (inner: Schema | undefined, innerSchema: Schema | undefined): RuleNode | undefined =>
    inner &&
    innerSchema &&
    node({ rules: inner, schema: innerSchema, isResource: isEmbedded(innerSchema), type: element }, compilers);
  const made: RuleNode = {
    schema,
    isResource,
    rules: type === undefined ? [] : compileAll(stated, schema, compilers(type)),
    untyped: type === undefined && stated.length > 0,
    items: inside(itemsOf(rules), itemsOf(schema)),
    additional: inside(additionalOf(rules), additionalOf(schema)),
    properties: propertyNodes(place, compilers),
    allOf: (rules.allOf ?? []).flatMap((one) => node({ ...place, rules: one }, compilers) ?? []),
  };
  const isEmpty =
    made.rules.length === 0 &&
    !made.untyped &&
    made.items === undefined &&
    made.additional === undefined &&
    made.properties.length === 0 &&
    made.allOf.length === 0;
  return isEmpty ? undefined : made;
}

const isEmbedded = (schema: Schema): boolean => schema['x-kubernetes-embedded-resource'] === true;

function propertyNodes({ rules, schema, type }: Place, compilers: RuleCompilers): [string, RuleNode][] {
  return sortedMembers(rules.properties).flatMap(([name, property]): [string, RuleNode][] => {
    const properties = schema.properties ?? {};
    const inner = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (inner === undefined) return [];
    const innerType = propertyType(name, inner, type);
    if (innerType === undefined) return [];
    const made = node({ rules: property, schema: inner, isResource: isEmbedded(inner), type: innerType }, compilers);
    return made === undefined ? [] : [[name, made]];
  });
}

/** A member whose name expressions cannot write still has rules of its own. */
function propertyType(name: string, schema: Schema, type: DeclaredType | undefined): DeclaredType | undefined {
  const escaped = escapeFieldName(name);
  if (escaped === undefined) return declaredType(schema, isEmbedded(schema));
  return type?.kind === 'object' ? type.fields.get(escaped) : undefined;
}

function compileAll(rules: readonly ValidationRule[], schema: Schema, compile: CompileRule): NodeRule[] {
  return rules.map((rule) => {
    const found = rule.fieldPath ? findField(rule.fieldPath, schema, { brackets: true }) : undefined;
    const errorPath = found !== undefined && 'path' in found ? found.path : '';
    return { rule, compiled: compile(rule, STORED), errorPath };
  });
}
