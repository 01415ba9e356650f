// The definitions of a document: a type of the catalogue as a schema, and with it all types it refers to.
import { append } from '../../lib/values/append.js';
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import { typeByName } from '../catalogue.js';
import type { Field, ScalarType, StructType, Type } from '../type.js';
import { kindsOfType } from './group-version-kinds.js';
import { type JsonSchema, referencesIn, referenceTo, type SchemaForm, sortedByKey } from './json-schema.js';
import { BYTES, inlineScalars, namedScalars, scalarDefinition } from './scalars.js';

export interface DefinitionOptions {
  readonly form: SchemaForm;
  /** Whether the values of closed string types are published. */
  readonly enums: boolean;
  /** The kinds that a type is, by its name. */
  readonly kindsOf?: typeof kindsOfType;
  /** The schemas of types the catalogue does not know (custom resources), by name. */
  readonly custom?: (name: string) => JsonSchema | undefined;
  /** Those that were encoded when the server was built. */
  readonly encoded?: (name: string) => Definition | undefined;
}

export interface Definition {
  /** `"name":{…}`: documents share most definitions, so each is encoded once. */
  readonly text: string;
  readonly references: readonly string[];
}

/** Encodes the definitions a set of names needs, themselves included, each as a member of a JSON object, in order. */
export type Definitions = (names: Iterable<string>) => StepGenerator<ReadonlyMap<string, string>>;

export function createDefinitions(options: DefinitionOptions): Definitions {
  const built = new Map<string, Definition>();
  const define = (name: string): Definition => {
    let definition = built.get(name) ?? options.encoded?.(name);
    if (definition === undefined) {
      const custom = options.custom?.(name);
      definition = custom === undefined ? encodedType(name, options) : encodedDefinition(name, custom);
      // A custom resource's schema may be another one tomorrow.
      if (custom === undefined) built.set(name, definition);
    }
    return definition;
  };
  return function* (names) {
    const needed = new Map<string, string>();
    const open = [...names];
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      if (needed.has(name)) continue;
      const { text, references } = define(name);
      needed.set(name, text);
      append(open, references);
      if (needed.size % MANY === 0) yield;
    }
    return new Map([...needed].sort(([a], [b]) => (a < b ? -1 : 1)));
  };
}

/** So many are made in a few milliseconds. */
const MANY = 32;

/** Of a type of the catalogue. */
export const encodedType = (name: string, options: DefinitionOptions): Definition =>
  withReferences(name, definitionOf(name, options), JSON.stringify);

/** Of a custom resource, whose defaults and listed values may be whole numbers of any length. */
export const encodedDefinition = (name: string, schema: JsonSchema): Definition =>
  withReferences(name, schema, (value) => JSON.stringify(value, asDouble));

/** kube-apiserver's documents hold doubles, too. */
const asDouble = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value);

const withReferences = (name: string, schema: JsonSchema, encode: (value: JsonSchema) => string): Definition => ({
  text: `${JSON.stringify(name)}:${encode(schema)}`,
  references: [...referencesIn(schema, new Set())],
});

function definitionOf(name: string, options: DefinitionOptions): JsonSchema {
  const known = scalarDefinition(name, options.form);
  if (known !== undefined) return known;
  const type = typeByName(name);
  if (type === undefined) throw new Error(`the catalogue has no type ${name}`);
  return structSchema(type, options);
}

function structSchema(type: StructType, options: DefinitionOptions): JsonSchema {
  const required = type.fields.filter((field) => field.required).map(({ json }) => json);
  const properties = type.fields.map((field): [string, JsonSchema] => [field.json, fieldSchema(field, options)]);
  const kinds = (options.kindsOf ?? kindsOfType)(type.name);
  return {
    ...(type.description !== undefined && { description: type.description }),
    type: 'object',
    ...(required.length > 0 && { required }),
    ...(properties.length > 0 && { properties: sortedByKey(Object.fromEntries(properties)) }),
    ...(kinds !== undefined && { 'x-kubernetes-group-version-kind': kinds }),
    ...(type.mapType !== undefined && { 'x-kubernetes-map-type': type.mapType }),
    ...unionOf(type),
  };
}

/** A union says which member its discriminator's values stand for. */
function unionOf(type: StructType): JsonSchema {
  const discriminator = type.fields.find((field) => field.discriminator);
  if (type.union !== true || discriminator === undefined) return {};
  const members = type.fields.filter((field) => field !== discriminator).map(({ json }) => [json, capitalized(json)]);
  return {
    'x-kubernetes-unions': [
      { discriminator: discriminator.json, 'fields-to-discriminateBy': sortedByKey(Object.fromEntries(members)) },
    ],
  };
}

function fieldSchema(field: Field, options: DefinitionOptions): JsonSchema {
  const description = field.description;
  const byDefault = options.form === 'v3' ? defaultOf(field) : undefined;
  const words: JsonSchema = {
    ...(description !== undefined && { description }),
    ...(byDefault !== undefined && { default: byDefault }),
    ...(field.listMapKeys !== undefined && { 'x-kubernetes-list-map-keys': field.listMapKeys }),
    ...(field.listType !== undefined && { 'x-kubernetes-list-type': field.listType }),
    ...(field.mapType !== undefined && { 'x-kubernetes-map-type': field.mapType }),
    ...(field.patchMergeKey !== undefined && { 'x-kubernetes-patch-merge-key': field.patchMergeKey }),
    ...(field.patchStrategy !== undefined && { 'x-kubernetes-patch-strategy': field.patchStrategy.join(',') }),
  };
  return withWords(typeSchema(field.type, options), words, options.form);
}

/** OpenAPI 3 ignores what stands beside a reference, so the reference is wrapped. */
function withWords(schema: JsonSchema, words: JsonSchema, form: SchemaForm): JsonSchema {
  if (Object.keys(words).length === 0) return schema;
  if (form === 'v3' && schema['$ref'] !== undefined) return { ...words, allOf: [schema] };
  return { ...words, ...schema };
}

function defaultOf(field: Field): unknown {
  if (field.default !== undefined) return field.default;
  if (field.pointer) return undefined;
  if (field.type.kind === 'struct') return {};
  return field.omitEmpty ? undefined : zeroOf(field.type);
}

function typeSchema(type: Type, options: DefinitionOptions): JsonSchema {
  switch (type.kind) {
    case 'scalar':
      return scalarSchema(type, options);
    case 'struct':
      return referenceTo(options.form, type.name);
    case 'list':
      return { type: 'array', items: elementSchema(type.element, options) };
    case 'map':
      return { type: 'object', additionalProperties: elementSchema(type.value, options) };
  }
}

function elementSchema(type: Type, options: DefinitionOptions): JsonSchema {
  const zero = options.form === 'v3' ? zeroOf(type) : undefined;
  return withWords(typeSchema(type, options), zero === undefined ? {} : { default: zero }, options.form);
}

function scalarSchema(type: ScalarType, { form, enums }: DefinitionOptions): JsonSchema {
  const inline = inlineScalars[type.scalar];
  if (inline !== undefined)
    return enums && type.enum !== undefined ? { ...inline.schema, enum: type.enum } : inline.schema;
  const name = namedScalars[type.scalar];
  return name === undefined ? BYTES : referenceTo(form, name);
}

/** What an unset value of a type means, where it means one. */
function zeroOf(type: Type): unknown {
  if (type.kind === 'struct') return {};
  return type.kind === 'scalar' ? inlineScalars[type.scalar]?.zero : undefined;
}

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
