import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CustomResourceDefinitionSpec, JSONSchemaProps } from '../../schema/generated/apiextensions.v1.js';
import { sortValues } from './sort-values.js';

function sorted(schema: JSONSchemaProps): JSONSchemaProps {
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } };
  const spec: CustomResourceDefinitionSpec = {
    group: 'example.test',
    names: { plural: 'things', kind: 'Thing' },
    scope: 'Cluster',
    versions: [version],
  };
  sortValues(spec);
  return schema;
}

test('values inside a schema have their members by name, wherever they stand', () => {
  const value = (): object =>
    JSON.parse('{"z":1,"b":[{"d":1,"c":{"y":null,"x":"t"}}],"__proto__":{"b":1,"a":2}}') as object;
  const text = '{"__proto__":{"a":2,"b":1},"b":[{"c":{"x":"t","y":null},"d":1}],"z":1}';
  const schema = sorted({
    type: 'object',
    properties: { p: { default: value(), example: [value()], not: { enum: [value(), 'z', 'a'] } } },
  });
  const { p } = schema.properties ?? {};
  assert.equal(JSON.stringify(p?.default), text);
  assert.equal(JSON.stringify(p?.example), `[${text}]`);
  assert.equal(JSON.stringify(p?.not?.enum), `[${text},"z","a"]`);
});

test('a value deeper than the stack is sorted, too', () => {
  let value: object = { b: 1, a: 2 };
  for (let i = 0; i < 100_000; i++) value = { in: value };
  let inner = sorted({ default: value }).default as { in?: object };
  while (inner.in !== undefined) inner = inner.in;
  assert.deepEqual(Object.keys(inner), ['a', 'b']);
});
