// Ways through a schema. Every place a schema can hold another is listed here and nowhere else.
import { isPlainObject } from '../../lib/plain-object.js';
import type { CustomResourceDefinitionSpec, JSONSchemaProps } from '../../schema/generated/apiextensions.v1.js';

export type Schema = Readonly<JSONSchemaProps>;

/** The schema of a list's items, when there is one for all. */
export const itemsOf = ({ items }: Schema): Schema | undefined =>
  items === undefined || Array.isArray(items) ? undefined : items;

/** The schemas of a list's items, when there is one for each: never allowed, but told. */
export const itemSchemasOf = ({ items }: Schema): readonly Schema[] => (Array.isArray(items) ? items : []);

/** The schema of members without one of their own. */
export const additionalOf = ({ additionalProperties }: Schema): Schema | undefined =>
  isPlainObject(additionalProperties) ? additionalProperties : undefined;

/** Members in the order of their names, so that errors come in one order. */
export const sortedMembers = <T>(members: Readonly<Record<string, T>> | undefined): [string, T][] =>
  Object.entries(members ?? {}).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

export function schemaHas(schema: Schema | undefined, predicate: (schema: Schema) => boolean): boolean {
  if (schema === undefined) return false;
  return predicate(schema) || [...subschemas(schema)].some((one) => schemaHas(one, predicate));
}

export function* subschemas(schema: Schema): Iterable<Schema> {
  const { allOf = [], anyOf = [], oneOf = [], not, dependencies, additionalItems } = schema;
  const items = itemsOf(schema);
  if (items !== undefined) yield items;
  yield* itemSchemasOf(schema);
  yield* allOf;
  yield* anyOf;
  yield* oneOf;
  if (not !== undefined) yield not;
  for (const [, property] of sortedMembers(schema.properties)) yield property;
  const additional = additionalOf(schema);
  if (additional !== undefined) yield additional;
  for (const [, property] of sortedMembers(schema.patternProperties)) yield property;
  if (isPlainObject(additionalItems)) yield additionalItems;
  for (const [, definition] of sortedMembers(schema.definitions)) yield definition;
  for (const [, dependency] of sortedMembers(dependencies)) if (!Array.isArray(dependency)) yield dependency;
}

/** The schemas of all versions that have one. */
export const schemasOf = (spec: Readonly<CustomResourceDefinitionSpec>): Schema[] =>
  (spec.versions ?? []).flatMap(({ schema }) => schema?.openAPIV3Schema ?? []);

export const anySchemaHas = (
  spec: Readonly<CustomResourceDefinitionSpec>,
  predicate: (schema: Schema) => boolean,
): boolean => schemasOf(spec).some((schema) => schemaHas(schema, predicate));
