import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicySource } from '../compiled-policy.js';
import type { DeviceEnvironment, PolicyEnvironment } from '../expression-check.js';
import { type DeclaredType, declaredType } from './declared-type.js';
import { kubernetesExpressions } from './kubernetes-expressions.js';
import type { RuleSchema, SchemaRule } from './rule-schema.js';

const expressions = kubernetesExpressions({
  compatibility: { major: 1, minor: 33 },
  features: { enabled: () => true },
});

const POLICY: PolicyEnvironment = {
  use: 'validation',
  params: false,
  authorizer: true,
  composed: false,
  variables: [],
  stored: false,
};
const fault = (expression: string, more: Partial<PolicyEnvironment> = {}): string | undefined =>
  expressions.check(expression, { ...POLICY, ...more })?.detail;

test('policies see the object, the request, the namespace and the authorizer', () => {
  assert.equal(fault('object.spec.replicas <= 5 && request.userInfo.groups.exists(g, g == "x")'), undefined);
  assert.equal(fault('namespaceObject.metadata.labels["a"] == "b"'), undefined);
  assert.equal(fault('authorizer.requestResource.check("get").allowed()'), undefined);
  assert.equal(
    fault('params.x == 1'),
    `compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params.x == 1\n | ^`,
  );
  assert.equal(fault('params.x == 1', { params: true }), undefined);
  assert.equal(
    fault('request.nothing == ""'),
    `compilation failed: ERROR: <input>:1:8: undefined field 'nothing'\n | request.nothing == ""\n | .......^`,
  );
});

test('each use has a type', () => {
  assert.equal(fault('"x"'), 'must evaluate to bool but got string');
  assert.equal(fault('1', { use: 'audit-annotation' }), 'must evaluate to one of [string null_type] but got int');
  assert.equal(fault('null', { use: 'audit-annotation' }), undefined);
  assert.equal(fault('Object{spec: Object.spec{replicas: 1}}', { use: 'apply-configuration' }), undefined);
  assert.equal(
    fault('[JSONPatch{op: "test", path: "/a/" + jsonpatch.escapeKey("b/c"), value: 1}]', { use: 'json-patch' }),
    undefined,
  );
  assert.equal(fault('[1]', { use: 'json-patch' }), 'must evaluate to list(JSONPatch) but got list(int)');
});

test('variables have the types of their expressions', () => {
  const variables = [
    { name: 'n', expression: '1 + 1' },
    { name: 'm', expression: 'variables.n + 1' },
    { name: 'broken', expression: '(' },
  ];
  const composed = { composed: true, variables };
  assert.equal(fault('variables.broken.x', composed), 'must evaluate to bool but got dyn');
  assert.match(
    fault('variables.m == "3"', composed) ?? '',
    /no matching overload for '_==_' applied to '\(int, string\)'/,
  );
  assert.match(fault('variables.o', composed) ?? '', /undefined field 'o'/);
  assert.match(fault('variables.m == 3') ?? '', /undeclared reference to 'variables'/);
});

test('what is new may use what the older server knows, what is stored everything', () => {
  assert.match(fault('[1, 1].distinct().size() == 1') ?? '', /undeclared reference to 'distinct'|no matching overload/);
  assert.equal(fault('[1, 1].distinct().size() == 1', { stored: true }), undefined);
});

test('device selectors see a device, and may not cost too much', () => {
  const device: DeviceEnvironment = { use: 'device-selector', consumableCapacity: false, stored: false };
  const faultOf = (expression: string, more: Partial<DeviceEnvironment> = {}): string | undefined =>
    expressions.check(expression, { ...device, ...more })?.detail;
  assert.equal(faultOf('device.driver == "d" && device.attributes["d"].size > 1'), undefined);
  assert.equal(faultOf('device.capacity["d"].memory.isGreaterThan(quantity("1Gi"))'), undefined);
  assert.equal(faultOf('cel.bind(d, device.attributes["d"], d.a && d.b)'), undefined);
  assert.match(faultOf('device.allowMultipleAllocations') ?? '', /undefined field 'allowMultipleAllocations'/);
  assert.equal(faultOf('device.allowMultipleAllocations', { consumableCapacity: true }), undefined);
  assert.equal(faultOf('device.driver'), 'must evaluate to bool or the unknown type, not string');
  const loops =
    'device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, device.attributes.all(d, true))))';
  assert.equal(faultOf(loops), 'too complex, exceeds cost limit');
});

const typed = (schema: RuleSchema): DeclaredType => {
  const type = declaredType(schema, false);
  assert.ok(type);
  return type;
};
const cost = (schema: RuleSchema, rule: Omit<SchemaRule, 'message'>) =>
  expressions.rulesOn(typed(schema))(rule, { rule: false, message: false });

test('rules are typed by their schema', () => {
  const schema: RuleSchema = {
    type: 'object',
    properties: { size: { type: 'integer' }, 'a-b': { type: 'string' }, namespace: { type: 'string' } },
  };
  const rule = (text: string): string | undefined => cost(schema, { rule: text }).fault;
  assert.equal(rule('self.size > 1 && self.a__dash__b == "" && self.namespace == ""'), undefined);
  assert.equal(rule('self.size'), 'cel expression must evaluate to a bool');
  assert.match(rule('self.size == ""') ?? '', /^compilation failed: ERROR: <input>:1:11: found no matching overload/);
  assert.match(rule('self.colour == ""') ?? '', /undefined field 'colour'/);
});

test('costs follow from the bounds of the schema', () => {
  const text: RuleSchema = { type: 'string', maxLength: 10 };
  const list = (maxItems?: number): RuleSchema => ({
    type: 'array',
    items: text,
    ...(maxItems === undefined ? {} : { maxItems }),
  });
  // Two variables, and reading at most 40 bytes.
  assert.equal(cost(text, { rule: 'self == oldSelf' }).cost, 6);
  assert.ok(cost(list(), { rule: 'self.all(a, self.all(b, a == b))' }).cost > 10_000_000);
  assert.ok(cost(list(5), { rule: 'self.all(a, self.all(b, a == b))' }).cost < 10_000);
  const message = { rule: 'true', messageExpression: '"n: " + string(self)' };
  assert.ok((cost({ type: 'integer' }, message).message?.cost ?? 0) > 1e18);
});

test('arguments of Kubernetes functions count as cost behind a gate of their own for policies and for webhooks', () => {
  const expression = 'authorizer.group("").resource("pods").check("get").allowed()';
  const input = {
    object: null,
    oldObject: null,
    request: {},
    namespaceObject: null,
    params: null,
    authorizer: {
      user: { name: 'u', uid: '', groups: [], extra: {} },
      ask: () => ({ allowed: true, reason: '' }),
      resource: { apiGroup: '', resource: 'pods', subresource: '', namespace: '', name: '' },
    },
  };
  const BUDGET = 2_000_000;
  const spent = (owner: PolicySource['owner'], gate: string): number => {
    const features = { enabled: (name: string) => name !== gate };
    const compiled = kubernetesExpressions({ compatibility: { major: 1, minor: 31 }, features }).compilePolicy({
      owner,
      params: false,
      variables: [],
      matchConditions: [expression],
      validations: [],
      messages: [],
      auditAnnotations: [],
    });
    const result = compiled.evaluate('matchConditions', input, BUDGET);
    assert.equal(result.kind, 'done');
    return result.kind === 'done' ? BUDGET - result.remainingCost : 0;
  };
  const CHECK_COST = 350_000;
  assert.ok(spent('validating-policy', 'none') >= CHECK_COST);
  assert.ok(spent('validating-policy', 'StrictCostEnforcementForVAP') < 100);
  assert.ok(spent('validating-policy', 'StrictCostEnforcementForWebhooks') >= CHECK_COST);
  assert.ok(spent('webhook', 'StrictCostEnforcementForWebhooks') < 100);
  assert.ok(spent('mutating-policy', 'StrictCostEnforcementForVAP') >= CHECK_COST);
});
