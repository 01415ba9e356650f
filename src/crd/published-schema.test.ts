import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metaType } from '../schema/catalogue.js';
import { type Published, publishedSchemas } from './published-schema.js';

test('members are explained in the words that the conformance suite looks for', () => {
  const explained = (type: string, member: string): string => metaType(type).byJson.get(member)?.description ?? '';
  assert.match(explained('PartialObjectMetadata', 'apiVersion'), /^APIVersion defines /);
  assert.match(explained('PartialObjectMetadata', 'metadata'), /^Standard object's metadata/);
  assert.match(explained('ObjectMeta', 'creationTimestamp'), /^CreationTimestamp is a timestamp /);
});

const PUBLISHED: Published = {
  kind: { group: 'test.example', version: 'v1', kind: 'Widget' },
  listKind: 'WidgetList',
  plural: 'widgets',
  typeName: 'example.test.v1.Widget',
  listTypeName: 'example.test.v1.WidgetList',
  schema: undefined,
  preserveUnknown: false,
  selectableFields: [],
};

test('examples and documents elsewhere are not published, in rules neither', () => {
  const words = { example: 'a', externalDocs: { url: 'https://example.com' } };
  const rule = { ...words, properties: { a: { ...words, not: { ...words, enum: ['b'] } } } };
  const schemas = publishedSchemas({
    ...PUBLISHED,
    schema: {
      type: 'object',
      ...words,
      properties: { spec: { type: 'object', ...words, properties: { a: { type: 'string' } }, anyOf: [rule] } },
    },
  });
  for (const form of ['v2', 'v3'] as const) {
    const text = JSON.stringify(schemas(form, PUBLISHED.typeName));
    assert.doesNotMatch(text, /"example"|externalDocs/);
    assert.equal(text.includes('"anyOf":[{"properties":{"a":{"not":{"enum":["b"]}}}}]'), form === 'v3');
  }
});

test('of a schema that is not structural nothing is published', () => {
  const schema = { properties: { a: {} } };
  const schemas = publishedSchemas({ ...PUBLISHED, schema, preserveUnknown: true });
  assert.deepEqual(Object.keys(schemas('v3', PUBLISHED.typeName) ?? {}), ['type', 'x-kubernetes-group-version-kind']);
});
