import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FieldPath } from '../../machinery/field-error.js';
import type { CustomResourceDefinitionSpec, JSONSchemaProps } from '../../schema/generated/apiextensions.v1.js';
import { validateSchemaLimits } from './schema-limits.js';

const refusal = (...nodes: readonly JSONSchemaProps[]): string | undefined => {
  const properties = Object.fromEntries(nodes.map((node, i) => [`p${i}`, node]));
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { properties } } };
  const spec = { versions: [version] } as unknown as CustomResourceDefinitionSpec;
  return validateSchemaLimits(spec, FieldPath.of('spec', 'versions'))[0]?.body;
};
const times = (count: number, node: (i: number) => JSONSchemaProps): JSONSchemaProps[] =>
  Array.from({ length: count }, (_, i) => node(i));

test('CRDs in use stay far below the limits', () => {
  const name = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';
  const rule = { rule: 'self.a == oldSelf.a || self.b > 5', messageExpression: "'b is ' + string(self.b)" };
  const common = times(2_000, () => ({ pattern: name, 'x-kubernetes-validations': [rule] }));
  assert.equal(refusal(...common, ...times(300, (i) => ({ pattern: `^a{1,63}${i}$` }))), undefined);
});

test('patterns are bounded together, by number, length and size', () => {
  assert.match(refusal(...times(1_001, (i) => ({ pattern: `${i}` }))) ?? '', /1001 patterns, more than the 1000/);
  const long = times(3, (i) => ({ pattern: `${i}`.repeat(30_000) }));
  assert.match(refusal(...long) ?? '', /patterns of 90000 characters together/);
  const large = times(400, (i) => ({ pattern: `^(a{1,100}){1,9}${i}` }));
  assert.match(refusal(...large) ?? '', /larger together than this server compiles/);
});

test('rules are bounded together, by number and length', () => {
  const rules = (count: number, rule: string) => ({
    'x-kubernetes-validations': times(count, () => ({ rule }) as never),
  });
  assert.match(refusal(rules(5_001, 'true') as never) ?? '', /5001 expressions together/);
  assert.match(refusal(rules(6, `${'true && '.repeat(12_000)}true`) as never) ?? '', /characters together/);
});
