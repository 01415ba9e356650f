// What a type says about merging a patch into its members.
import type { Field, ScalarName, StructType, Type } from '../type.js';
import { unexplained } from './patch-errors.js';

export interface MergeRule {
  /** Of the member itself, or of an item when the member is a list. */
  readonly type: Type;
  readonly strategy: 'merge' | 'replace' | undefined;
  readonly mergeKey: string | undefined;
}

export function objectRule(type: Type, name: string): MergeRule {
  const field = fieldOf(type, name);
  return ruleOf(field, field.type);
}

export function listRule(type: Type, name: string): MergeRule {
  const field = fieldOf(type, name);
  if (field.type.kind !== 'list') throw unexplained('expected slice or array type, but got: struct');
  const { element } = field.type;
  if (element.kind === 'list') throw unexplained('unexpected slice of slice');
  return ruleOf(field, element);
}

const ruleOf = ({ patchStrategy, patchMergeKey }: Field, type: Type): MergeRule => ({
  type,
  strategy: patchStrategy?.find((strategy) => strategy !== 'retainKeys'),
  mergeKey: patchMergeKey,
});

/** Names that differ only in case name the same field, as in Go's JSON. */
function fieldOf(type: Type, name: string): Field {
  if (type.kind !== 'struct' && !(type.kind === 'scalar' && STRUCTS_WITHOUT_FIELDS[type.scalar] !== undefined)) {
    throw unexplained(`merging an object in json but data type is not struct, instead is: ${goKind(type)}`);
  }
  if (type.kind === 'struct') {
    const field = type.byJson.get(name) ?? fieldFolded(type, name.toLowerCase());
    if (field !== undefined) return field;
  }
  const typeName =
    type.kind === 'struct' ? type.name.slice(type.name.lastIndexOf('.') + 1) : STRUCTS_WITHOUT_FIELDS[type.scalar];
  throw unexplained(`unable to find api field in struct ${typeName} for the json field ${JSON.stringify(name)}`);
}

const fieldFolded = ({ fields }: StructType, folded: string): Field | undefined =>
  fields.find(({ json }) => json.toLowerCase() === folded);

/** What is opaque here is a struct without JSON fields in kube-apiserver. */
const STRUCTS_WITHOUT_FIELDS: Partial<Record<ScalarName, string>> = {
  any: 'JSON',
  rawExtension: 'RawExtension',
  fieldsV1: 'FieldsV1',
  schemaOrArray: 'JSONSchemaPropsOrArray',
  schemaOrBool: 'JSONSchemaPropsOrBool',
  schemaOrStringArray: 'JSONSchemaPropsOrStringArray',
};

function goKind(type: Type): string {
  if (type.kind === 'list') return 'slice';
  return type.kind === 'map' ? 'map' : type.kind === 'scalar' ? type.scalar : 'struct';
}
