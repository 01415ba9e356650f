// A structural schema says the type of everything, once, outside of the rules on values (anyOf, not and the like),
// so that unknown members can be dropped and defaults set without trying alternatives.
import { append } from '../../lib/values/append.js';
import { isDeepStrictEqual } from 'node:util';
import {
  type FieldErrors,
  type FieldPath,
  fieldErrorText,
  forbidden,
  invalid,
  required,
} from '../../machinery/field-error.js';
import { type Schema, additionalOf, itemSchemasOf, itemsOf, sortedMembers } from './schema-walk.js';
import { compilePattern } from './values/pattern.js';

type Level = 'root' | 'item' | 'field';

/** Why a schema cannot be read as a structural one at all; other rules report most of it more exactly. */
export function structuralMistake(schema: Schema): string | undefined {
  for (const member of UNSUPPORTED) {
    const value = schema[member];
    const isSet = member === 'additionalItems' ? value !== undefined : !isEmpty(value);
    if (isSet) return `OpenAPIV3Schema '${member.replace('$schema', 'schema')}' is not supported`;
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  }
  if (itemSchemasOf(schema).length > 0) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  const { not, allOf = [], anyOf = [], oneOf = [] } = schema;
  const inner = [not, ...allOf, ...anyOf, ...oneOf, itemsOf(schema), ...Object.values(schema.properties ?? {})];
  for (const one of [...inner, additionalOf(schema)]) {
    const mistake = one === undefined ? undefined : structuralMistake(one);
    if (mistake !== undefined) return mistake;
  }
  return undefined;
}

const UNSUPPORTED = [
  'id',
  '$schema',
  '$ref',
  'patternProperties',
  'dependencies',
  'additionalItems',
  'definitions',
] as const;

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

export function validateStructural(schema: Schema, path: FieldPath): FieldErrors {
  const errors = [...validateNode(schema, 'root', path), ...validateCompleteness(schema, schema, path, path)];
  return errors
    .map((error) => ({ error, text: fieldErrorText(error) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ error }) => error);
}

export const isStructural = (schema: Schema, path: FieldPath): boolean =>
  structuralMistake(schema) === undefined && validateStructural(schema, path).length === 0;

/** A node of the structure itself. */
function validateNode(schema: Schema, level: Level, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const items = itemsOf(schema);
  if (schema.type === 'array' && items === undefined) errors.push(required(path.child('items'), 'must be specified'));
  if (items !== undefined) append(errors, validateNode(items, 'item', path.child('items')));
  for (const [name, property] of sortedMembers(schema.properties)) {
    append(errors, validateNode(property, 'field', path.child('properties').key(name)));
  }
  if (schema.additionalProperties !== undefined) {
    if (level === 'root') errors.push(forbidden(path.child('additionalProperties'), 'must not be used at the root'));
    const additional = additionalOf(schema);
    if (additional !== undefined) append(errors, validateNode(additional, 'field', path.child('additionalProperties')));
  }
  append(
    errors,
    validateIntOrString(schema, path),
    validateRules(schema, path, {
      skipAnyOf: isIntOrString(schema.anyOf),
      skipFirstAllOfAnyOf: isIntOrString(schema.allOf?.[0]?.anyOf),
    }),
    validateType(schema, level, path),
    validateResourceMembers(schema, level, path),
  );
  return errors;
}

function validateIntOrString(schema: Schema, path: FieldPath): FieldErrors {
  if (!schema['x-kubernetes-int-or-string']) return [];
  return (['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const)
    .filter((member) => schema[member])
    .map((member) => invalid(path.child(member), true, 'must be false if x-kubernetes-int-or-string is true'));
}

const EMPTY_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function validateType(schema: Schema, level: Level, path: FieldPath): FieldErrors {
  const type = schema.type ?? '';
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const errors: FieldErrors = [];
  const at = path.child('type');
  if (embedded && type !== 'object') {
    const why = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type === '' ? required(at, why) : invalid(at, type, why));
  } else if (type === '' && !schema['x-kubernetes-int-or-string'] && !schema['x-kubernetes-preserve-unknown-fields']) {
    errors.push(required(at, EMPTY_TYPE[level]));
  }
  if (embedded && schema.additionalProperties !== undefined) {
    errors.push(
      forbidden(path.child('additionalProperties'), 'must not be used if x-kubernetes-embedded-resource is set'),
    );
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    errors.push(invalid(at, type, 'must be object at the root'));
  }
  return errors;
}

/** The members every resource has are what they are: a schema may say little about them. */
function validateResourceMembers(schema: Schema, level: Level, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const isResource = level === 'root' || embedded;
  const { properties = {} } = schema;
  const at = path.child('properties');
  for (const name of isResource ? ['kind', 'apiVersion'] : []) {
    const type = properties[name]?.type ?? '';
    if (properties[name] !== undefined && type !== 'string') {
      errors.push(invalid(at.key(name).child('type'), type, 'must be string'));
    }
  }
  const { metadata } = properties;
  if (metadata !== undefined) {
    if (isResource && metadata.type !== 'object') {
      errors.push(invalid(at.key('metadata').child('type'), metadata.type ?? '', 'must be object'));
    }
    if (level === 'root' && !restrictsNamesOnly(metadata)) {
      const why = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
      errors.push(forbidden(at.key('metadata'), why));
    }
  }
  if (embedded && !schema['x-kubernetes-preserve-unknown-fields'] && Object.keys(properties).length === 0) {
    const why =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(required(at, why));
  }
  return errors;
}

const FREE_METADATA_MEMBERS = new Set(['type', 'default', 'externalDocs', 'example']);

function restrictsNamesOnly(metadata: Schema): boolean {
  return Object.entries(metadata).every(([member, value]) => {
    if (member !== 'properties') return FREE_METADATA_MEMBERS.has(member);
    return Object.keys(value as object).every((name) => name === 'name' || name === 'generateName');
  });
}

export const isIntOrString = (alternatives: readonly Schema[] | undefined): boolean =>
  alternatives?.length === 2 && isDeepStrictEqual(alternatives, [{ type: 'integer' }, { type: 'string' }]);

/** The rules on values at a node; inside them nothing may be structure. */
function validateRules(
  schema: Schema,
  path: FieldPath,
  skip: { readonly skipAnyOf?: boolean; readonly skipFirstAllOfAnyOf?: boolean },
): FieldErrors {
  const { anyOf = [], allOf = [], oneOf = [], not, pattern } = schema;
  const errors: FieldErrors = [];
  if (!skip.skipAnyOf) {
    for (const [i, one] of anyOf.entries()) append(errors, validateNested(one, path.child('anyOf').index(i)));
  }
  for (const [i, one] of allOf.entries()) {
    const skipAnyOf = skip.skipFirstAllOfAnyOf === true && i === 0;
    append(errors, validateNested(one, path.child('allOf').index(i), skipAnyOf));
  }
  for (const [i, one] of oneOf.entries()) append(errors, validateNested(one, path.child('oneOf').index(i)));
  if (not !== undefined) append(errors, validateNested(not, path.child('not')));
  if (pattern) {
    const compiled = compilePattern(pattern);
    if ('error' in compiled) {
      const why = `must be a valid regular expression, but isn't: ${compiled.error}`;
      errors.push(invalid(path.child('pattern'), pattern, why));
    }
  }
  return errors;
}

/** Members that are structure, with the words for each inside a rule. */
const STRUCTURE_MEMBERS: readonly (readonly [keyof Schema, string])[] = [
  ['type', 'empty'],
  ['additionalProperties', 'undefined'],
  ['default', 'undefined'],
  ['title', 'empty'],
  ['description', 'empty'],
  ['nullable', 'false'],
  ['x-kubernetes-preserve-unknown-fields', 'false'],
  ['x-kubernetes-embedded-resource', 'false'],
  ['x-kubernetes-int-or-string', 'false'],
  ['x-kubernetes-list-map-keys', 'empty'],
  ['x-kubernetes-list-type', 'undefined'],
  ['x-kubernetes-map-type', 'undefined'],
  ['x-kubernetes-validations', 'empty'],
];

function validateNested(schema: Schema, path: FieldPath, skipAnyOf = false): FieldErrors {
  const errors = validateRules(schema, path, { skipAnyOf });
  const items = itemsOf(schema);
  if (items !== undefined) append(errors, validateNested(items, path.child('items')));
  for (const [name, property] of sortedMembers(schema.properties)) {
    append(errors, validateNested(property, path.child('properties').key(name)));
  }
  for (const [member, wanted] of STRUCTURE_MEMBERS) {
    const value = schema[member];
    const unset =
      value === undefined || value === false || value === '' || (Array.isArray(value) && value.length === 0);
    if (!unset) errors.push(forbidden(path.child(member), `must be ${wanted} to be structural`));
  }
  if (schema.properties?.['metadata'] !== undefined) {
    errors.push(forbidden(path.child('properties').key('metadata'), 'must not be specified in a nested context'));
  }
  return errors;
}

/** Whatever a rule speaks of, the structure must know. */
function validateCompleteness(rules: Schema, structure: Schema, at: FieldPath, rulePath: FieldPath): FieldErrors {
  const { not, allOf = [], anyOf = [], oneOf = [] } = rules;
  const errors: FieldErrors = [];
  if (not !== undefined) append(errors, validateNestedCompleteness(not, structure, at, rulePath.child('not')));
  for (const [member, list] of Object.entries({ allOf, anyOf, oneOf })) {
    for (const [i, one] of list.entries()) {
      append(errors, validateNestedCompleteness(one, structure, at, rulePath.child(member).index(i)));
    }
  }
  return errors;
}

function validateNestedCompleteness(
  rules: Schema,
  structure: Schema | undefined,
  at: FieldPath,
  rulePath: FieldPath,
): FieldErrors {
  if (structure === undefined) return [required(at, `because it is defined in ${rulePath.toString()}`)];
  const errors = validateCompleteness(rules, structure, at, rulePath);
  const items = itemsOf(rules);
  if (items !== undefined) {
    const itemsPath = at.child('items');
    append(errors, validateNestedCompleteness(items, itemsOf(structure), itemsPath, rulePath.child('items')));
  }
  for (const [name, property] of sortedMembers(rules.properties)) {
    const to = at.child('properties').key(name);
    const from = rulePath.child('properties').key(name);
    append(errors, validateNestedCompleteness(property, structure.properties?.[name], to, from));
  }
  return errors;
}
