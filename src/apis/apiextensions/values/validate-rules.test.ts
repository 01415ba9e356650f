import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesExpressions } from '../../../cel/environments/kubernetes-expressions.js';
import { FieldPath, fieldErrorText } from '../../../machinery/field-error.js';
import type { JSONSchemaProps, ValidationRule } from '../../../schema/generated/apiextensions.v1.js';
import { ruleTree } from './rule-tree.js';
import { OBJECT_COST_BUDGET, validateRules } from './validate-rules.js';

const expressions = kubernetesExpressions({
  compatibility: { major: 1, minor: 33 },
  features: { enabled: () => true },
});

interface Update {
  readonly old?: unknown;
  readonly budget?: number;
}

/** The errors of a value at `spec`, and the warnings of an update after `!`. */
function check(schema: JSONSchemaProps, value: unknown, { old, budget = OBJECT_COST_BUDGET }: Update = {}): string[] {
  const tree = ruleTree(schema, false, (type) => expressions.rulesOn(type));
  assert.ok(tree);
  const warnings: string[] = [];
  const ratchet = old === undefined ? {} : { ratchet: { warn: (text: string) => warnings.push(`! ${text}`) } };
  const { errors } = validateRules(tree, { value, old, path: FieldPath.of('spec'), budget, ...ratchet });
  return [...errors.map(fieldErrorText), ...warnings];
}

const NUMBERS: JSONSchemaProps['properties'] = { lo: { type: 'integer' }, hi: { type: 'integer' } };
const object = (rules: ValidationRule[], properties = NUMBERS): JSONSchemaProps => ({
  type: 'object',
  properties: properties ?? {},
  'x-kubernetes-validations': rules,
});

test('a broken rule reports its message, its reason and its field', () => {
  const plain = object([{ rule: 'self.lo <= self.hi' }]);
  assert.deepEqual(check(plain, { lo: 1, hi: 2 }), []);
  assert.deepEqual(check(plain, { lo: 3, hi: 2 }), ['spec: Invalid value: "object": failed rule: self.lo <= self.hi']);
  const rule = { rule: 'self.lo <= self.hi', fieldPath: '.lo', reason: 'FieldValueForbidden' };
  assert.deepEqual(check(object([{ ...rule, message: ' too high ' }]), { lo: 3, hi: 2 }), [
    'spec.lo: Forbidden: too high',
  ]);
  const messageExpression = `'%d over %d'.format([self.lo, self.hi])`;
  assert.deepEqual(check(object([{ ...rule, messageExpression, reason: 'FieldValueInvalid' }]), { lo: 3, hi: 2 }), [
    'spec.lo: Invalid value: "object": 3 over 2',
  ]);
  // A message that cannot be shown gives way to the one that is stated.
  assert.deepEqual(check(object([{ ...rule, messageExpression: `'a\\nb'`, message: 'stated' }]), { lo: 3, hi: 2 }), [
    'spec.lo: Forbidden: stated',
  ]);
});

test('a rule that fails reports why', () => {
  assert.deepEqual(check(object([{ rule: 'self.lo / self.hi > 1', message: 'ratio' }]), { lo: 3, hi: 0 }), [
    'spec: Invalid value: "object": division by zero evaluating rule: ratio',
  ]);
  assert.deepEqual(check(object([{ rule: 'self.lo > 1' }]), {}), [
    'spec: Invalid value: "object": no such key: lo evaluating rule: self.lo > 1',
  ]);
});

test('rules run on every value, members and items alike', () => {
  const item = object([{ rule: 'self.lo < 5', message: 'large' }]);
  const schema: JSONSchemaProps = {
    type: 'object',
    properties: {
      list: { type: 'array', items: item },
      map: { type: 'object', additionalProperties: item },
      'no-name!': item,
    },
  };
  const value = { list: [{ lo: 1 }, { lo: 9 }], map: { k: { lo: 7 } }, 'no-name!': { lo: 8 } };
  assert.deepEqual(check(schema, value), [
    'spec.list[1]: Invalid value: "object": large',
    'spec.map[k]: Invalid value: "object": large',
    'spec.no-name!: Invalid value: "object": large',
  ]);
});

test('transition rules run where there is something to compare with', () => {
  const frozen: JSONSchemaProps = {
    type: 'string',
    'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'frozen' }],
  };
  const named = { type: 'object', properties: { name: { type: 'string' }, value: frozen } };
  const schema: JSONSchemaProps = {
    type: 'object',
    properties: {
      value: frozen,
      list: {
        type: 'array',
        items: named,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      },
    },
  };
  const item = (name: string, value: string): object => ({ name, value });
  const old = { value: 'a', list: [item('x', '1'), item('y', '2')] };
  assert.deepEqual(check(schema, { value: 'b' }), []);
  assert.deepEqual(check(schema, { value: 'b', list: [item('y', '2'), item('x', '3'), item('z', '4')] }, { old }), [
    'spec.list[1].value: Invalid value: "string": frozen',
    'spec.value: Invalid value: "string": frozen',
  ]);
  const rule = { rule: 'oldSelf.hasValue() || self.lo == 1', optionalOldSelf: true };
  assert.deepEqual(check(object([rule]), { lo: 2 }), [
    'spec: Invalid value: "object": failed rule: oldSelf.hasValue() || self.lo == 1',
  ]);
  assert.deepEqual(check(object([rule]), { lo: 2 }, { old: { lo: 1 } }), []);
});

test('what is broken and did not change becomes a warning', () => {
  const inner = object([{ rule: 'self.lo < 5', message: 'large' }]);
  const schema: JSONSchemaProps = { type: 'object', properties: { inner, other: { type: 'string' } } };
  const old = { inner: { lo: 9 }, other: 'a' };
  assert.deepEqual(check(schema, { inner: { lo: 9 }, other: 'b' }, { old }), [
    '! spec.inner: Invalid value: "object": large',
  ]);
  assert.deepEqual(check(schema, { inner: { lo: 8 }, other: 'b' }, { old }), [
    'spec.inner: Invalid value: "object": large',
  ]);
});

test('rules stop when they cost too much', () => {
  const schema = object([{ rule: 'self.lo < 5' }, { rule: 'self.hi < 5' }]);
  assert.deepEqual(check(schema, { lo: 1, hi: 1 }, { budget: 3 }), [
    'spec: Invalid value: "object": validation failed due to running out of cost budget, no further validation rules will be run',
  ]);
  const list: JSONSchemaProps = {
    type: 'array',
    items: { type: 'integer' },
    'x-kubernetes-validations': [{ rule: 'self.all(a, self.all(b, self.all(c, a + b + c >= 0)))', message: 'cubic' }],
  };
  const numbers = Array.from({ length: 100 }, () => 1);
  assert.deepEqual(check(list, numbers), [
    `spec: Invalid value: "array": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: cubic`,
  ]);
});

test('sets and lists with keys are compared without order, and added by merging', () => {
  const list = (more: JSONSchemaProps, rule: string): JSONSchemaProps => ({
    type: 'array',
    ...more,
    'x-kubernetes-validations': [{ rule }],
  });
  const set = (rule: string): JSONSchemaProps =>
    list({ items: { type: 'string' }, 'x-kubernetes-list-type': 'set' }, rule);
  assert.deepEqual(check(set(`self == ['b', 'a']`), ['a', 'b']), []);
  assert.deepEqual(check(set(`(self + ['b', 'c']).size() == 3`), ['a', 'b']), []);
  const keyed = (rule: string): JSONSchemaProps =>
    list(
      {
        items: { type: 'object', properties: { k: { type: 'string' }, v: { type: 'integer' } } },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
      },
      rule,
    );
  const old = [
    { k: 'a', v: 1 },
    { k: 'b', v: 2 },
  ];
  assert.deepEqual(check(keyed('self == oldSelf'), old.toReversed(), { old }), []);
  assert.deepEqual(
    check(
      keyed('(self + oldSelf).size() == 3 && (self + oldSelf)[0].v == 1'),
      [
        { k: 'a', v: 5 },
        { k: 'c', v: 6 },
      ],
      { old },
    ),
    [],
  );
});

test('values are what their schema says', () => {
  const properties: JSONSchemaProps['properties'] = {
    when: { type: 'string', format: 'date-time' },
    day: { type: 'string', format: 'date' },
    took: { type: 'string', format: 'duration' },
    bytes: { type: 'string', format: 'byte' },
    port: { 'x-kubernetes-int-or-string': true },
    ratio: { type: 'number' },
    none: { type: 'string', nullable: true },
    kept: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    pod: { type: 'object', 'x-kubernetes-embedded-resource': true },
  };
  const value = {
    when: '2024-05-06T07:08:09.5+02:00',
    day: '2024-05-06',
    took: '1 day',
    bytes: 'aGk=',
    port: '80%',
    ratio: 1,
    none: null,
    kept: { a: [1] },
    pod: { kind: 'Pod', metadata: { name: 'p' } },
  };
  const holds = (rule: string, old?: object): string[] =>
    check(object([{ rule }], properties), value, old === undefined ? {} : { old });
  assert.deepEqual(holds(`self.when.getHours() == 5 && string(self.when) == '2024-05-06T07:08:09.5+02:00'`), []);
  assert.deepEqual(holds(`self.day < self.when && self.took == duration('24h')`), []);
  assert.deepEqual(holds(`self.bytes == b'hi' && type(self.port) == string && self.port.endsWith('%')`), []);
  assert.deepEqual(holds(`type(self.ratio) == double && !has(self.none)`), []);
  assert.deepEqual(holds(`self.pod.metadata.name == 'p' && self.pod.kind == 'Pod'`), []);
  assert.deepEqual(holds('self.kept == oldSelf.kept', { ...value, kept: { a: [1] } }), []);
  assert.equal(holds('self.kept == oldSelf.kept', { ...value, kept: { a: [2] } }).length, 1);
});

test('rules in allOf run on the same values', () => {
  const schema: JSONSchemaProps = {
    ...object([{ rule: 'true' }]),
    allOf: [{ properties: { lo: { 'x-kubernetes-validations': [{ rule: 'self < 5', message: 'large' }] } } }],
  };
  assert.deepEqual(check(schema, { lo: 7 }), ['spec.lo: Invalid value: "integer": large']);
});
