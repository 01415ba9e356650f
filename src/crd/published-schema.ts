// A custom resource's schema as OpenAPI documents show it.
import type { GroupVersionKind } from '../machinery/object.js';
import { isPlainObject } from '../lib/values/plain-object.js';
import { FieldPath } from '../machinery/field-error.js';
import { isIntOrString, isStructural } from '../apis/apiextensions/structural-schema.js';
import { additionalOf, itemsOf, type Schema, sortedMembers } from '../apis/apiextensions/schema-walk.js';
import type { KindDefinition } from '../registry/kind.js';
import { metaType } from '../schema/catalogue.js';
import { type JsonSchema, referenceTo, type SchemaForm, sortedByKey } from '../schema/openapi/json-schema.js';
import type { JSONSchemaProps, SelectableField } from '../schema/generated/apiextensions.v1.js';

export interface Published {
  readonly kind: GroupVersionKind;
  readonly listKind: string;
  readonly plural: string;
  readonly typeName: string;
  readonly listTypeName: string;
  readonly schema: Schema | undefined;
  readonly preserveUnknown: boolean;
  readonly selectableFields: readonly SelectableField[];
}

export function publishedSchemas(published: Published): NonNullable<KindDefinition['openApiSchema']> {
  return (form, name) => {
    if (name === published.typeName) return objectSchema(published, form);
    return name === published.listTypeName ? listSchema(published, form) : undefined;
  };
}

function objectSchema(published: Published, form: SchemaForm): JsonSchema {
  const { preserveUnknown, kind, selectableFields } = published;
  const words = {
    'x-kubernetes-group-version-kind': [{ group: kind.group, version: kind.version, kind: kind.kind }],
    ...selectable(selectableFields),
  };
  const schema = publishedSchema(published);
  const unknownKept = preserveUnknown || schema?.['x-kubernetes-preserve-unknown-fields'] === true;
  // kubectl assumes that the members in the schema are all there are, so the schema has none.
  if (schema === undefined || (form === 'v2' && unknownKept)) return { type: 'object', ...words };
  const { properties, ...rest } = nodeSchema(schema, form) as { properties?: JsonSchema } & JsonSchema;
  return { ...rest, properties: sortedByKey({ ...properties, ...resourceProperties(form) }), ...words };
}

/** Nothing of a schema that is not structural, as old CRDs may have. */
const publishedSchema = ({ schema, preserveUnknown }: Published): Schema | undefined =>
  schema !== undefined && preserveUnknown && !isStructural(schema, FieldPath.of('schema')) ? undefined : schema;

function listSchema({ kind, listKind, plural, typeName, selectableFields }: Published, form: SchemaForm): JsonSchema {
  const { metadata: _, ...typeMeta } = resourceProperties(form);
  const listMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta';
  return {
    description: `${listKind} is a list of ${kind.kind}`,
    type: 'object',
    required: ['items'],
    properties: sortedByKey({
      ...typeMeta,
      items: { description: `The ${plural} of the list.`, type: 'array', items: referenceTo(form, typeName) },
      metadata: described(referenceTo(form, listMeta), form, 'PartialObjectMetadataList', 'metadata'),
    }),
    'x-kubernetes-group-version-kind': [{ group: kind.group, version: kind.version, kind: listKind }],
    ...selectable(selectableFields),
  };
}

const selectable = (fields: readonly SelectableField[]): JsonSchema =>
  fields.length === 0
    ? {}
    : { 'x-kubernetes-selectable-fields': fields.map(({ jsonPath }) => ({ fieldPath: jsonPath.replace(/^\./, '') })) };

/** What every resource has. */
const resourceProperties = (form: SchemaForm): JsonSchema => (ofEvery[form] ??= describedProperties(form));

const ofEvery: Partial<Record<SchemaForm, JsonSchema>> = {};

function describedProperties(form: SchemaForm): JsonSchema {
  const objectMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
  return {
    apiVersion: described({ type: 'string' }, form, 'PartialObjectMetadata', 'apiVersion'),
    kind: described({ type: 'string' }, form, 'PartialObjectMetadata', 'kind'),
    metadata: described(referenceTo(form, objectMeta), form, 'PartialObjectMetadata', 'metadata'),
  };
}

/** With the catalogue's description of a member of one of its types. In OpenAPI 3 nothing stands beside a $ref. */
function described(schema: JsonSchema, form: SchemaForm, typeName: string, member: string): JsonSchema {
  const description = metaType(typeName).byJson.get(member)?.description;
  if (description === undefined) return schema;
  return form === 'v3' && '$ref' in schema ? { description, allOf: [schema] } : { description, ...schema };
}

function nodeSchema(schema: Schema, form: SchemaForm): JsonSchema {
  const node: Record<string, unknown> = form === 'v2' ? inFormTwo(schema) : inFormThree(schema);
  const { properties } = node;
  const rules = schema['x-kubernetes-validations'];
  if (form === 'v2' && rules !== undefined) {
    node['x-kubernetes-validations'] = rules.map((rule) => sortedByKey({ ...rule }));
  }
  if (isPlainObject(properties)) {
    node['properties'] = Object.fromEntries(
      sortedMembers(properties as Record<string, Schema>).map(([name, one]) => [name, nodeSchema(one, form)]),
    );
  }
  const items = itemsOf(node as Schema);
  if (items !== undefined) node['items'] = nodeSchema(items, form);
  const additional = additionalOf(node as Schema);
  if (additional !== undefined) node['additionalProperties'] = nodeSchema(additional, form);
  if (schema['x-kubernetes-embedded-resource'] && !(form === 'v2' && schema['x-kubernetes-preserve-unknown-fields'])) {
    node['properties'] = sortedByKey({ ...(node['properties'] as JsonSchema), ...resourceProperties(form) });
    node['required'] = [...new Set([...(schema.required ?? []), 'kind', 'apiVersion'])];
  }
  return node;
}

type Copy = JSONSchemaProps & Record<string, unknown>;

const NEVER_PUBLISHED = ['example', 'externalDocs'];
const NOT_IN_FORM_TWO = [...NEVER_PUBLISHED, 'allOf', 'oneOf', 'anyOf', 'not', 'default', 'nullable'];
const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }];

function without(schema: Schema, words: readonly string[]): Copy {
  const kept: Copy = { ...schema };
  for (const word of words) if (word in kept) delete kept[word];
  return kept;
}

function inFormThree(schema: Schema): Copy {
  const node = without(unfolded(schema), NEVER_PUBLISHED);
  for (const word of ['allOf', 'oneOf', 'anyOf'] as const) {
    const rules = node[word];
    if (rules !== undefined) node[word] = rules.map(ruleSchema);
  }
  if (node.not !== undefined) node.not = ruleSchema(node.not);
  return node;
}

/** A rule on values, with those inside it. */
function ruleSchema(schema: Schema): Copy {
  const rule = inFormThree(schema);
  const items = itemsOf(rule);
  if (items !== undefined) rule.items = ruleSchema(items);
  if (rule.properties !== undefined) {
    rule.properties = Object.fromEntries(Object.entries(rule.properties).map(([name, one]) => [name, ruleSchema(one)]));
  }
  return rule;
}

/** Spells out for others what the extension means. */
function unfolded(schema: Schema): Schema {
  const { anyOf, allOf = [] } = schema;
  const stated = isIntOrString(anyOf) || isIntOrString(allOf[0]?.anyOf);
  if (!schema['x-kubernetes-int-or-string'] || stated) return schema;
  if (anyOf === undefined) return { ...schema, anyOf: INT_OR_STRING };
  return { ...schema, allOf: [{ anyOf: INT_OR_STRING }, ...allOf] };
}

/** What form 2 has no words for is left out, and with it what kubectl could not cope with then. */
function inFormTwo(schema: Schema): Copy {
  const { nullable } = schema;
  const kept = without(schema, NOT_IN_FORM_TWO);
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (nullable || open) {
    delete kept.items;
    delete kept.properties;
  }
  const untypedList = kept.type === 'array' && kept.items === undefined;
  if (nullable || untypedList || (open && kept.type === 'object')) delete kept.type;
  if (kept.required !== undefined && kept.properties !== undefined) {
    const { properties } = kept;
    kept.required = kept.required.filter((name) => properties[name]?.nullable !== true);
    if (kept.required.length === 0) delete kept.required;
  }
  if (additionalOf(schema)?.nullable) delete kept.required;
  return kept;
}
