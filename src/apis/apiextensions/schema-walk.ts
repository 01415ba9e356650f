// Ways through a schema. Every place a schema can hold another is listed here and nowhere else.
import { append } from '../../lib/values/append.js';
import { keysOf } from '../../lib/values/key-cache.js';
import { isPlainObject } from '../../lib/values/plain-object.js';
import type { CustomResourceDefinitionSpec, JSONSchemaProps } from '../../schema/generated/apiextensions.v1.js';

export type Schema = Readonly<JSONSchemaProps>;

/** The schema of a list's items, when there is one for all. */
export const itemsOf = ({ items }: Schema): Schema | undefined =>
  items === undefined || Array.isArray(items) ? undefined : items;

/** The schemas of a list's items, when there is one for each: never allowed, but validated. */
export const itemSchemasOf = ({ items }: Schema): readonly Schema[] => (Array.isArray(items) ? items : []);

/** The schema of members without one of their own. */
export const additionalOf = ({ additionalProperties }: Schema): Schema | undefined =>
  isPlainObject(additionalProperties) ? additionalProperties : undefined;

/** Members in the order of their names, so that errors come in one order. */
export function sortedMembers<T>(members: Readonly<Record<string, T>> | undefined): readonly [string, T][] {
  if (members === undefined) return [];
  return Object.entries(members).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

export function schemaHas(schema: Schema | undefined, predicate: (schema: Schema) => boolean): boolean {
  if (schema === undefined) return false;
  if (predicate(schema)) return true;
  for (const inner of subschemas(schema)) if (schemaHas(inner, predicate)) return true;
  return false;
}

/** Whether it has more schemas, enum values and rules in it than so many. Nothing is looked at beyond. */
export function isLargerThan(schema: Schema | undefined, most: number): boolean {
  let left = most;
  const open: Schema[] = schema === undefined ? [] : [schema];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const { properties = {}, enum: values = [], 'x-kubernetes-validations': rules = [] } = one;
    left -= 1 + keysOf(properties).length + values.length + rules.length;
    if (left < 0) return true;
    append(open, subschemas(one));
  }
  return false;
}

/** How many alternatives and parts all its combinations have together: a value may be tried with each. */
export function alternativesIn(schema: Schema | undefined): number {
  if (schema === undefined) return 0;
  let count = alternativesIn(itemsOf(schema)) + alternativesIn(additionalOf(schema)) + alternativesIn(schema.not);
  for (const list of [schema.allOf, schema.anyOf, schema.oneOf]) {
    if (list === undefined) continue;
    count += list.length;
    for (const inner of list) count += alternativesIn(inner);
  }
  for (const name in schema.properties) count += alternativesIn(schema.properties[name]);
  return count;
}

/** In no particular order. */
export function subschemas(schema: Schema): Schema[] {
  const { allOf, anyOf, oneOf, not, items, properties, additionalItems } = schema;
  const found: Schema[] = [];
  if (items !== undefined) append(found, Array.isArray(items) ? items : [items]);
  for (const list of [allOf, anyOf, oneOf]) if (list !== undefined) append(found, list);
  if (not !== undefined) found.push(not);
  for (const map of [properties, schema.patternProperties, schema.definitions]) {
    if (map !== undefined) append(found, Object.values(map));
  }
  for (const one of [additionalOf(schema), additionalItems]) if (isPlainObject(one)) found.push(one);
  for (const dependency of Object.values(schema.dependencies ?? {})) {
    if (!Array.isArray(dependency)) found.push(dependency);
  }
  return found;
}

/** The schemas of all versions that have one. */
export const schemasOf = (spec: Readonly<CustomResourceDefinitionSpec>): Schema[] =>
  (spec.versions ?? []).flatMap(({ schema }) => schema?.openAPIV3Schema ?? []);

export const anySchemaHas = (
  spec: Readonly<CustomResourceDefinitionSpec>,
  predicate: (schema: Schema) => boolean,
): boolean => schemasOf(spec).some((schema) => schemaHas(schema, predicate));
