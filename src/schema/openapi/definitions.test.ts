import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodedDefinition, encodedType } from './definitions.js';

test('a default of a custom resource that is a long whole number is published as a double', () => {
  const { text } = encodedDefinition('a', { type: 'integer', default: 9007199254740993n, enum: [1, 2n ** 63n] });
  assert.equal(text, '"a":{"type":"integer","default":9007199254740992,"enum":[1,9223372036854776000]}');
});

test('a field that has no description in kube-apiserver is a reference and nothing else', () => {
  const bareIn = (name: string): string[] => {
    const { text } = encodedType(name, { form: 'v3', enums: true });
    const encoded = JSON.parse(`{${text}}`) as Record<string, { properties: Record<string, object> }>;
    const properties = Object.entries(encoded[name]?.properties ?? {});
    return properties.filter(([, schema]) => Object.keys(schema).join() === '$ref').map(([field]) => field);
  };
  assert.deepEqual(bareIn('io.k8s.api.networking.v1.IngressRule'), ['http']);
  assert.deepEqual(bareIn('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps'), [
    'additionalItems',
    'additionalProperties',
    'example',
    'externalDocs',
    'items',
    'not',
  ]);
});
