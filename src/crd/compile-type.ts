// A custom resource's schema as the run-time form of a type: what server-side apply and documents walk.
import { keysOf } from '../lib/values/key-cache.js';
import { once } from '../lib/values/once.js';
import { metaType } from '../schema/catalogue.js';
import type { Field, ListType, MapType, ScalarName, StructType, Type, Unstructured } from '../schema/type.js';
import { additionalOf, itemsOf, type Schema, sortedMembers } from '../apis/apiextensions/schema-walk.js';
import { AS_IT_IS, coercion } from './coerce.js';

export interface CompileOptions {
  /** `test.example.v1.Widget`: unique, as OpenAPI names it. */
  readonly name: string;
  readonly schema: Schema | undefined;
  /** The schema whose members are read later. */
  readonly members?: () => Schema | undefined;
  readonly preserveUnknown: boolean;
  readonly readAs?: Unstructured['readAs'];
}

/** Compiled on first use: large schemas compile slowly, and most of what is served needs none. */
export function compileType({
  name,
  schema,
  members = () => schema,
  preserveUnknown,
  readAs,
}: CompileOptions): StructType {
  const keepAll = preserveUnknown || schema === undefined;
  const isOpen = schema?.['x-kubernetes-preserve-unknown-fields'] === true;
  return lazyStruct(name, () => withResourceFields(fieldsOf(members() ?? {}, name, isOpen)), {
    ...(schema?.description !== undefined && { description: schema.description }),
    isKind: true,
    ...((keepAll || isOpen) && { preserveUnknown: true }),
    ...(schema?.['x-kubernetes-map-type'] === 'atomic' && { mapType: 'atomic' as const }),
    unstructured: coercion({ schema, preserveUnknown, readAs }),
  });
}

/** The list of a custom resource: encoded in the order it is built in. */
export const listTypeOf = (name: string): StructType => ({
  ...structFrom([], name),
  isKind: true,
  preserveUnknown: true,
  unstructured: AS_IT_IS,
});

const TEXT: Type = { kind: 'scalar', scalar: 'string' };
const ANY: Type = { kind: 'scalar', scalar: 'any' };

const member = (json: string, type: Type, words: Partial<Field> = {}): Field => ({
  json,
  type,
  proto: 0,
  omitEmpty: true,
  pointer: true,
  required: false,
  ...words,
});

/** What every resource has, whatever its schema says of it. */
const RESOURCE_FIELDS: Readonly<Record<string, () => Field>> = {
  apiVersion: () => member('apiVersion', TEXT),
  kind: () => member('kind', TEXT),
  metadata: () => member('metadata', metaType('ObjectMeta')),
};

const withResourceFields = (fields: readonly Field[]): Field[] => [
  ...Object.values(RESOURCE_FIELDS).map((field) => field()),
  ...fields.filter(({ json }) => !(json in RESOURCE_FIELDS)),
];

function lazyStruct(
  name: string,
  fieldsIn: () => readonly Field[],
  words: Omit<StructType, 'kind' | 'name' | 'fields' | 'byJson'>,
): StructType {
  const struct = once(() => structFrom(fieldsIn(), name));
  return {
    kind: 'struct',
    name,
    get fields() {
      return struct().fields;
    },
    get byJson() {
      return struct().byJson;
    },
    ...words,
  };
}

const structFrom = (fields: readonly Field[], name: string): StructType => {
  const sorted = [...fields].sort((a, b) => (a.json < b.json ? -1 : 1));
  return { kind: 'struct', name, fields: sorted, byJson: new Map(sorted.map((field) => [field.json, field])) };
};

/**
 * `name` is of the type it is part of: the types inside have none of their own. What keeps unknown members is open to
 * them all the way down.
 */
function structOf(schema: Schema, name: string, isOpen: boolean): StructType {
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const isEmpty = !embedded && keysOf(schema.properties ?? {}).length === 0;
  const preserveUnknown = isOpen || isEmpty;
  const own = (): Field[] => fieldsOf(schema, name, isOpen);
  const fields = (): Field[] => (embedded ? withResourceFields(own()) : own());
  return lazyStruct(name, fields, {
    ...(schema['x-kubernetes-map-type'] === 'atomic' && { mapType: 'atomic' as const }),
    ...(preserveUnknown && { preserveUnknown }),
  });
}

function fieldsOf(schema: Schema, name: string, isOpen: boolean): Field[] {
  const required = new Set(schema.required);
  return sortedMembers(schema.properties).map(([json, property]) =>
    member(json, typeOf(property, name, isOpen), { ...wordsOf(property), required: required.has(json) }),
  );
}

function typeOf(schema: Schema, name: string, isWithinOpen: boolean): Type {
  const isOpen = isWithinOpen || schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (schema['x-kubernetes-int-or-string'] && !schema.type) return { kind: 'scalar', scalar: 'intOrString' };
  switch (schema.type) {
    case 'object': {
      if (schema.properties !== undefined || schema['x-kubernetes-embedded-resource'])
        return structOf(schema, name, isOpen);
      const additional = additionalOf(schema);
      if (additional !== undefined)
        return { kind: 'map', value: typeOf(additional, name, isOpen), ...mapWordsOf(schema) };
      return structOf(schema, name, isOpen);
    }
    case 'array': {
      const items = itemsOf(schema);
      return { kind: 'list', element: items === undefined ? ANY : typeOf(items, name, isOpen), ...listWordsOf(schema) };
    }
    case 'string':
      return schema.format && schema.format !== 'byte' ? ANY_SCALAR : { kind: 'scalar', scalar: 'string' };
    case 'boolean':
    case 'integer':
    case 'number':
      return { kind: 'scalar', scalar: SCALARS[schema.type] };
    default:
      return ANY;
  }
}

/** Of a text with a format an apply may say a number or a truth as well: it is refused when it is looked at. */
const ANY_SCALAR: Type = { kind: 'scalar', scalar: 'time' };

const SCALARS = {
  boolean: 'bool',
  integer: 'int64',
  number: 'double',
} as const satisfies Record<string, ScalarName>;

function listWordsOf(schema: Schema): Pick<ListType, 'listType' | 'listMapKeys'> {
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'];
  return {
    ...((listType === 'atomic' || listType === 'set' || listType === 'map') && { listType }),
    ...(keys && { listMapKeys: keys }),
  };
}

function mapWordsOf(schema: Schema): Pick<MapType, 'mapType'> {
  const mapType = schema['x-kubernetes-map-type'];
  return mapType === 'atomic' || mapType === 'granular' ? { mapType } : {};
}

/** What a field says about the value at its place. */
function wordsOf(schema: Schema): Partial<Field> {
  return {
    ...listWordsOf(schema),
    ...mapWordsOf(schema),
    ...(schema.nullable && { nullable: true }),
    ...(schema.description !== undefined && { description: schema.description }),
    ...(schema.default !== undefined && { default: schema.default }),
  };
}
