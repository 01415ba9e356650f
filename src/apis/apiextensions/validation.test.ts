import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExpressionChecker } from '../../cel/expression-check.js';
import { fieldErrorText } from '../../machinery/field-error.js';
import { noteExplicitEmpty } from '../../machinery/explicit-empty.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
  JSONSchemaProps,
} from '../../schema/generated/apiextensions.v1.js';
import { validateDefinition, validateDefinitionUpdate } from './validation.js';

const SCHEMA = 'spec.validation.openAPIV3Schema';

function definition(
  spec: JSONSchemaProps,
  version: Partial<CustomResourceDefinitionVersion> = {},
): CustomResourceDefinition {
  const openAPIV3Schema = { type: 'object', properties: { spec } };
  return {
    metadata: { name: 'gadgets.example.test' },
    spec: {
      group: 'example.test',
      scope: 'Namespaced',
      names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema }, ...version }],
      conversion: { strategy: 'None' },
    },
    status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
  };
}

const texts = (object: CustomResourceDefinition, checker?: ExpressionChecker): string[] =>
  validateDefinition(object, checker).map(fieldErrorText);

/** The errors of a schema for `spec`, with paths from there. */
const ofSchema = (schema: JSONSchemaProps): string[] =>
  texts(definition(schema)).map((text) => text.replace(`${SCHEMA}.properties[spec]`, '~'));

test('a structural schema passes', () => {
  const schema: JSONSchemaProps = {
    type: 'object',
    properties: {
      size: { type: 'integer', minimum: 1, default: 3 },
      port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
      items: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
      },
    },
    oneOf: [{ required: ['size'] }, { required: ['port'] }],
  };
  assert.deepEqual(ofSchema(schema), []);
});

test('rules on values hold no structure, and speak of what the structure knows', () => {
  const object = definition({ type: 'object' });
  const root = object.spec.versions?.[0]?.schema?.openAPIV3Schema ?? {};
  root.anyOf = [{ properties: { extra: { minLength: 1 } } }];
  assert.deepEqual(texts(object), [
    `${SCHEMA}.properties[extra]: Required value: because it is defined in ${SCHEMA}.anyOf[0].properties[extra]`,
  ]);
  assert.deepEqual(ofSchema({ type: 'object', not: { type: 'object', nullable: true } }), [
    '~.not.nullable: Forbidden: must be false to be structural',
    '~.not.type: Forbidden: must be empty to be structural',
  ]);
});

test('a schema refers to no other, not even to none', () => {
  assert.deepEqual(ofSchema({ type: 'object', $ref: '' }), ['~.$ref: Forbidden: $ref is not supported']);
});

test('beside a status not even an empty list or map may stand at the root, and dependencies nowhere', () => {
  const object = definition({ type: 'object' }, { subresources: { status: {} } });
  const root = object.spec.versions?.[0]?.schema?.openAPIV3Schema ?? {};
  noteExplicitEmpty(root, { required: [] });
  assert.deepEqual(texts(object), []);
  noteExplicitEmpty(root, { allOf: [] });
  const [refused = '', ...others] = texts(object);
  assert.match(refused, /^spec\.validation\.openAPIV3Schema: Invalid value: .*"AllOf":\[\].*: only \[Description /);
  assert.deepEqual(others, []);
  noteExplicitEmpty(root, {});
  const inner: JSONSchemaProps = { type: 'object' };
  noteExplicitEmpty(inner, { dependencies: {}, definitions: {} });
  assert.deepEqual(ofSchema(inner), ['~.dependencies: Forbidden: dependencies is not supported']);
});

test('a pattern is RE2', () => {
  assert.deepEqual(ofSchema({ type: 'object', properties: { a: { type: 'string', pattern: '(?=a)' } } }), [
    '~.properties[a].pattern: Invalid value: "(?=a)": must be a valid regular expression, but isn\'t: error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
  ]);
});

test('a default fits its schema and holds nothing unknown', () => {
  const inner = { type: 'object', properties: { a: { type: 'string', maxLength: 2 } } };
  const schema = (value: unknown): JSONSchemaProps => ({
    type: 'object',
    properties: { c: { ...inner, default: value } },
  });
  assert.deepEqual(ofSchema(schema({ a: 'ok' })), []);
  assert.deepEqual(ofSchema(schema({ a: 'too long' })), [
    '~.properties[c].default.a: Too long: may not be more than 2 bytes',
  ]);
  assert.deepEqual(ofSchema(schema({ z: 1, b: 2 })), [
    '~.properties[c].default: Invalid value: {"b":2,"z":1}: must not have unknown fields',
  ]);
});

test('a default of what is an integer or a string may be anything else', () => {
  const schema = { type: 'object', properties: { c: { 'x-kubernetes-int-or-string': true, default: { a: true } } } };
  assert.deepEqual(
    ofSchema(schema).filter((error) => error.includes('type')),
    [],
  );
});

test('a default of the wrong format is refused by its format, known or not', () => {
  const schema = { type: 'object', properties: { c: { type: 'string', format: 'nope', default: 1.5 } } };
  assert.deepEqual(ofSchema(schema), [
    '~.properties[c].default: Invalid value: "float64":  in body must be of type nope: "float64"',
  ]);
});

test('a default within metadata must result in valid metadata', () => {
  const metadata = { type: 'object', properties: { name: { type: 'string', default: 'a/b' } } };
  const schema = { type: 'object', properties: { metadata }, 'x-kubernetes-embedded-resource': true };
  assert.deepEqual(ofSchema(schema), [
    '~.properties[metadata].properties[name].default: Invalid value: "a/b": must result in valid metadata: metadata.name: Invalid value: "a/b": may not contain \'/\'',
  ]);
});

test('keys of map lists are there in every item; members of sets are atomic', () => {
  const list = (type: string, items: JSONSchemaProps, keys?: string[]): JSONSchemaProps => ({
    type: 'object',
    properties: {
      l: { type: 'array', items, 'x-kubernetes-list-type': type, ...(keys && { 'x-kubernetes-list-map-keys': keys }) },
    },
  });
  const item = { type: 'object', properties: { k: { type: 'string', nullable: true } } };
  assert.deepEqual(ofSchema(list('map', item, ['k', 'x'])), [
    '~.properties[l].x-kubernetes-list-map-keys: Invalid value: ["k","x"]: entries must all be names of item properties',
    '~.properties[l].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
    '~.properties[l].items.properties[k].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
  ]);
  assert.deepEqual(ofSchema(list('set', { type: 'object' })), [
    '~.properties[l].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set',
  ]);
});

test('errors common to all versions are reported at the top, others with their version', () => {
  const object = definition(
    { type: 'object' },
    { additionalPrinterColumns: [{ name: '', type: 'date', jsonPath: '.a' }] },
  );
  assert.deepEqual(texts(object), ['spec.additionalPrinterColumns[0].name: Required value']);
  const [first] = object.spec.versions ?? [];
  if (first === undefined) throw new Error('no version');
  object.spec.versions?.push({ ...first, name: 'v2', storage: false, additionalPrinterColumns: [] });
  assert.deepEqual(texts(object), ['spec.versions[0].additionalPrinterColumns[0].name: Required value']);
});

test('only a deprecated version warns of it, and a refused warning is shown as JSON', () => {
  const warned = (version: Partial<CustomResourceDefinitionVersion>) =>
    texts(definition({ type: 'object' }, version)).map((text) =>
      text.replace('spec.versions[0].deprecationWarning', '~'),
    );
  assert.deepEqual(warned({ deprecationWarning: 'use <b>' }), [
    '~: Invalid value: "use \\u003cb\\u003e": can only be set for deprecated versions',
  ]);
  assert.deepEqual(warned({ deprecated: true, deprecationWarning: '' }), [
    '~: Invalid value: "": must not be an empty string',
  ]);
});

test('selectable fields lead to texts, booleans and integers', () => {
  const schema: JSONSchemaProps = { type: 'object', properties: { a: { type: 'string' }, n: { type: 'number' } } };
  const selectableFields = ['.spec.a', '.spec.a', '.spec.n', '.spec.x', ".spec['a']", 'spec.a'].map((jsonPath) => ({
    jsonPath,
  }));
  assert.deepEqual(texts(definition(schema, { selectableFields })), [
    'spec.selectableFields[1].jsonPath: Duplicate value: ".spec.a"',
    'spec.selectableFields[2].jsonPath: Invalid value: ".spec.n": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
    'spec.selectableFields[3].jsonPath: Invalid value: ".spec.x": is an invalid path: does not refer to a valid field',
    'spec.selectableFields[4].jsonPath: Invalid value: ".spec[\'a\']": is an invalid path: array notation is not allowed',
    'spec.selectableFields[5].jsonPath: Invalid value: "spec.a": is an invalid path: expected [ or . but got: spec',
  ]);
});

test('rules are compiled where the schema is right, and only with a checker', () => {
  const schema: JSONSchemaProps = { type: 'object', 'x-kubernetes-validations': [{ rule: 'self < 1' }] };
  const checker: ExpressionChecker = {
    check: () => undefined,
    rulesOn:
      ({ kind }) =>
      ({ rule }) => ({ fault: `${rule} on ${kind}`, cost: 0, usesOldSelf: false }),
  };
  assert.deepEqual(texts(definition(schema)), []);
  assert.deepEqual(texts(definition(schema), checker), [
    `${SCHEMA}.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self \\u003c 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: self < 1 on object`,
  ]);
  assert.deepEqual(texts(definition({ ...schema, properties: { a: {} } }), checker), [
    `${SCHEMA}.properties[spec].properties[a].type: Required value: must not be empty for specified object fields`,
  ]);
});

test('an update may leave broken what was broken, and keeps what names the resource', () => {
  const broken = definition({ type: 'object', properties: { a: { type: 'strang' } } });
  assert.deepEqual(validateDefinitionUpdate(broken, broken, undefined), []);
  const old = definition({ type: 'object' });
  assert.equal(validateDefinitionUpdate(broken, old, undefined).length, 1);
  old.status.conditions = [{ type: 'Established', status: 'True', lastTransitionTime: null }];
  const changed = structuredClone(old);
  changed.spec.scope = 'Cluster';
  changed.spec.group = 'other.test';
  assert.deepEqual(validateDefinitionUpdate(changed, old, undefined).map(fieldErrorText), [
    'spec.scope: Invalid value: "Cluster": field is immutable',
    'spec.group: Invalid value: "other.test": field is immutable',
  ]);
});
