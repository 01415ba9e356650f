import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MetricRegistry } from '../../lib/telemetry/metrics.js';
import { StatusError } from '../../machinery/status.js';
import type { AdmissionAttributes } from '../plugin.js';
import { conditionMetrics } from '../condition-metrics.js';
import { Rounds } from '../rounds.js';
import { refusal, testAttributes, type TestWrite } from '../test-attributes.js';
import { policyMetrics } from '../validating-policy/metrics.js';
import { bindingObject, indexOf, pluginFor, policyObject, type TestPolicy } from '../validating-policy/testing.js';

const NAMESPACE = { metadata: { name: 'ns', labels: { env: 'prod' } }, spec: {}, status: { phase: 'Active' } };
const MAP = { metadata: { name: 'limits', namespace: 'ns', labels: { app: 'web' } }, data: { max: '3' } };
const TOO_MANY = "Deployment's replicas are too many";

const deployment = (replicas: number, more: Partial<TestWrite> = {}): TestWrite => ({
  resource: 'deployments.apps',
  kind: 'Deployment',
  object: { kind: 'Deployment', metadata: { name: 'web', namespace: 'ns' }, spec: { replicas } },
  world: { namespaces: [NAMESPACE], configmaps: [MAP] },
  ...more,
});
const limited = (...validations: { expression: string; [member: string]: string }[]): TestPolicy => ({
  spec: { validations },
});
const refusalOf = (write: TestWrite, ...policies: readonly TestPolicy[]): Promise<string | undefined> =>
  refusal(pluginFor(indexOf(...policies)), testAttributes(write));
const DENIED = `deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'policy' with binding 'policy-0' denied request: `;

describe('ValidatingAdmissionPolicy', () => {
  it('costs nothing without policies, or with policies for other resources', () => {
    const pods = { resourceRules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['*'], resources: ['pods'] }] };
    const validations = [{ expression: 'false' }];
    for (const index of [
      indexOf(),
      indexOf({ ...limited({ expression: 'false' }), bindings: [] }),
      indexOf({ spec: { validations, matchConstraints: pods } }),
    ]) {
      assert.equal(pluginFor(index).validate?.(testAttributes(deployment(9)), new Rounds()), undefined);
    }
  });

  it('refuses with the code, the reason and the cause of the validation', async () => {
    const policy = limited({ expression: 'object.spec.replicas <= 3', message: TOO_MANY, reason: 'Forbidden' });
    assert.equal(await refusalOf(deployment(3), policy), undefined);
    const error = await Promise.resolve(
      pluginFor(indexOf(policy)).validate?.(testAttributes(deployment(4)), new Rounds()),
    ).then(
      () => assert.fail('admitted'),
      (thrown: unknown) => thrown as StatusError,
    );
    assert.ok(error instanceof StatusError);
    const message = `ValidatingAdmissionPolicy 'policy' with binding 'policy-0' denied request: ${TOO_MANY}`;
    assert.deepEqual(
      { code: error.code, reason: error.reason, message: error.message, details: error.details },
      {
        code: 403,
        reason: 'Forbidden',
        message: `deployments.apps "web" is forbidden: ${message}`,
        details: { name: 'web', group: 'apps', kind: 'deployments', causes: [{ message }] },
      },
    );
  });

  it('a message is worked out, or written, or the expression itself', async () => {
    const expression = ' object.spec.replicas <= 3 ';
    const messageExpression = "'got ' + string(object.spec.replicas)";
    assert.equal(
      await refusalOf(deployment(4), limited({ expression })),
      `${DENIED}failed expression: ${expression.trim()}`,
    );
    const written = { expression, message: 'no' };
    assert.equal(await refusalOf(deployment(4), limited({ ...written, messageExpression })), `${DENIED}got 4`);
    for (const useless of ["'a\\nb'", "''", 'object.missing']) {
      assert.equal(await refusalOf(deployment(4), limited({ ...written, messageExpression: useless })), `${DENIED}no`);
    }
  });

  it('errors refuse or not as the failure policy says', async () => {
    const validations = [{ expression: 'object.spec.missing > 1' }];
    assert.equal(
      await refusalOf(deployment(1), { spec: { validations } }),
      `${DENIED}expression 'object.spec.missing > 1' resulted in error: no such key: missing`,
    );
    assert.equal(await refusalOf(deployment(1), { spec: { validations, failurePolicy: 'Ignore' } }), undefined);
    assert.match(
      (await refusalOf(deployment(1), limited({ expression: 'nothing > 1' }))) ?? '',
      /denied request: compilation error: compilation failed: ERROR: <input>:1:1: undeclared reference to 'nothing'/,
    );
  });

  it('match conditions that are false spare the request, whatever others yield', async () => {
    const validations = [{ expression: 'false' }];
    const matching = (failurePolicy: string, ...expressions: string[]) =>
      refusalOf(deployment(1), {
        spec: {
          failurePolicy,
          validations,
          matchConditions: expressions.map((expression, i) => ({ name: `${i}`, expression })),
        },
      });
    assert.equal(await matching('Fail', 'object.nope', "request.userInfo.username != 'alice'"), undefined);
    assert.equal(await matching('Fail', 'true'), `${DENIED}failed expression: false`);
    assert.equal(
      await matching('Fail', 'object.nope == 1'),
      `${DENIED}expression 'object.nope == 1' resulted in error: no such key: nope`,
    );
    assert.equal(await matching('Ignore', 'object.nope == 1'), undefined);
  });

  it('variables build on each other, and only those that are named are worked out', async () => {
    const variables = [
      { name: 'replicas', expression: 'object.spec.replicas' },
      { name: 'double', expression: 'variables.replicas * 2' },
      { name: 'broken', expression: 'object.nope' },
    ];
    const policy = (expression: string): TestPolicy => ({ spec: { variables, validations: [{ expression }] } });
    assert.equal(await refusalOf(deployment(3), policy('variables.double == 6')), undefined);
    assert.equal(
      await refusalOf(deployment(3), policy('variables.broken == 1')),
      `${DENIED}expression 'variables.broken == 1' resulted in error: composited variable "broken" fails to evaluate: no such key: nope`,
    );
  });

  it('sees the request, the namespace and the old object', async () => {
    const update = deployment(3, {
      old: { kind: 'Deployment', metadata: { name: 'web' }, spec: { replicas: 2 } },
      user: { name: 'alice', groups: ['staff'], extra: { team: ['a'] } },
      dryRun: true,
    });
    const expressions = [
      "request.operation == 'UPDATE' && request.name == 'web' && request.namespace == 'ns' && request.dryRun",
      "request.kind.group == 'apps' && request.kind.kind == 'Deployment' && request.requestKind == request.kind",
      "request.resource.resource == 'deployments' && request.requestResource == request.resource",
      "!has(request.subResource) && 'staff' in request.userInfo.groups && request.userInfo.extra['team'] == ['a']",
      "namespaceObject.metadata.labels['env'] == 'prod' && namespaceObject.status.phase == 'Active'",
      'oldObject.spec.replicas == 2',
    ];
    for (const expression of expressions)
      assert.equal(await refusalOf(update, limited({ expression })), undefined, expression);
    const deletion = { ...deployment(1), operation: 'DELETE', old: { metadata: { name: 'web' } } } as const;
    const { object: _object, ...withoutObject } = deletion;
    assert.equal(
      await refusalOf(withoutObject, limited({ expression: 'object == null && oldObject != null' })),
      undefined,
    );
  });

  it('sees the options of a connection, and the scale of what is scaled', async () => {
    const exec = {
      ...testAttributes({
        resource: 'pods',
        kind: 'PodExecOptions',
        operation: 'CONNECT',
        subresource: 'exec',
        name: 'p',
      }),
      connectOptions: { kind: 'PodExecOptions', apiVersion: 'v1', command: ['sh'] },
    };
    const context = { ...exec.context, lookup: testAttributes(deployment(1)).context.lookup };
    const refusedAs = (expression: string, attributes: AdmissionAttributes) =>
      refusal(pluginFor(indexOf(limited({ expression }))), attributes);
    const connecting = "object.command == ['sh'] && request.options == null && request.subResource == 'exec'";
    assert.equal(await refusedAs(connecting, { ...exec, context }), undefined);
    const scale = { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name: 'web' }, spec: { replicas: 7 } };
    const view = {
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      of: () => scale,
      write: () => undefined,
    };
    const scaling = { ...testAttributes(deployment(1, { subresource: 'scale' })), view };
    assert.equal(await refusedAs("object.spec.replicas == 7 && request.kind.kind == 'Scale'", scaling), undefined);
  });

  it('calls the authorizer, also one that has to wait', async () => {
    const expression =
      "authorizer.requestResource.check('scale').allowed() && !authorizer.group('').resource('pods').check('x').allowed()";
    const checked: string[] = [];
    const authorizer = {
      authorize: async ({ verb, resource, name }: { verb: string; resource: string; name: string }) => {
        checked.push(`${verb} ${resource} ${name}`.trim());
        return { decision: verb === 'scale' ? ('allow' as const) : ('deny' as const), reason: '' };
      },
    };
    const plugin = pluginFor(indexOf(limited({ expression }, { expression })), { authorizer });
    assert.equal(await refusal(plugin, testAttributes(deployment(1))), undefined);
    assert.deepEqual(checked, ['scale deployments web', 'x pods']);
  });

  it('warns and annotates without refusing, and the first failure is the one annotated', async () => {
    const validations = [{ expression: 'true' }, { expression: '1 > 2', message: 'a < b' }, { expression: 'false' }];
    const auditAnnotations = [
      { key: 'replicas', valueExpression: 'string(object.spec.replicas)' },
      { key: 'none', valueExpression: 'null' },
    ];
    const bindings = [{ validationActions: ['Warn', 'Audit'] }];
    const attributes = testAttributes(deployment(4));
    const plugin = pluginFor(indexOf({ spec: { validations, auditAnnotations }, bindings }));
    assert.equal(await refusal(plugin, attributes), undefined);
    const failed = `Validation failed for ValidatingAdmissionPolicy 'policy' with binding 'policy-0': `;
    assert.deepEqual(attributes.warnings, [`${failed}a < b`, `${failed}failed expression: false`]);
    assert.deepEqual(attributes.annotations, {
      'validation.policy.admission.k8s.io/validation_failure':
        '[{"message":"a \\u003c b","policy":"policy","binding":"policy-0","expressionIndex":1,"validationActions":["Warn","Audit"]}]',
      'policy/replicas': '4',
    });
  });

  it('finds parameters by name or by selector, and refuses or not where there are none', async () => {
    const spec = {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      validations: [{ expression: 'params == null || object.spec.replicas <= int(params.data.max)' }],
    };
    const withRef = (paramRef?: object, replicas = 4) =>
      refusalOf(deployment(replicas), { spec, bindings: [paramRef === undefined ? {} : { paramRef }] });
    const failed = `${DENIED}failed expression: ${spec.validations[0]?.expression}`;
    assert.equal(await withRef({ name: 'limits', parameterNotFoundAction: 'Deny' }), failed);
    assert.equal(await withRef({ name: 'limits', parameterNotFoundAction: 'Deny' }, 3), undefined);
    assert.equal(await withRef({ selector: {}, parameterNotFoundAction: 'Deny' }), failed);
    const none = { selector: { matchLabels: { app: 'x' } } };
    assert.equal(await withRef({ ...none, parameterNotFoundAction: 'Allow' }), undefined);
    assert.equal(
      await withRef({ name: 'gone', parameterNotFoundAction: 'Deny' }),
      `${DENIED}failed to configure binding: no params found for policy binding with \`Deny\` parameterNotFoundAction`,
    );
    assert.equal(await withRef(undefined), undefined);
  });

  it('parameters of a kind or scope that does not suit are a fault of the policy or its binding', async () => {
    const validations = [{ expression: 'true' }];
    const bindings = [{ paramRef: { name: 'x', namespace: 'ns', parameterNotFoundAction: 'Allow' } }];
    const withKind = (apiVersion: string, kind: string, write = deployment(1)) =>
      refusalOf(write, { spec: { validations, paramKind: { apiVersion, kind } }, bindings });
    assert.equal(
      await withKind('shop.test/v1', 'Limit'),
      `deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'policy' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'shop.test/v1, Kind=Limit'`,
    );
    assert.equal(
      await withKind('v1', 'Node'),
      `${DENIED}failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped \`paramKind\``,
    );
  });

  it('an evaluation and a policy have limits', async () => {
    const many = Array.from({ length: 200 }, (_, i) => i).join(',');
    const loop = `[${many}].all(a, [${many}].all(b, [${many}].all(c, a + b + c >= 0)))`;
    assert.equal(
      await refusalOf(deployment(1), limited({ expression: loop })),
      `${DENIED}expression '${loop}' resulted in error: operation cancelled: actual cost limit exceeded`,
    );
    const all = Array.from({ length: 12 }, () => ({ expression: loop }));
    assert.equal(
      await refusalOf(deployment(1), limited(...all)),
      `${DENIED}validation failed due to running out of cost budget, no further validation rules will be run`,
    );
  });

  it('the first of several refusals is returned, and all are counted', async () => {
    const registry = new MetricRegistry();
    const index = indexOf(
      { name: 'b', ...limited({ expression: 'false', message: 'second' }) },
      { name: 'a', ...limited({ expression: 'true' }, { expression: 'false', message: 'first' }) },
    );
    const plugin = pluginFor(index, { recorder: policyMetrics(registry, conditionMetrics(registry)) });
    assert.match((await refusal(plugin, testAttributes(deployment(1)))) ?? '', /'a' with binding 'a-0' .*: first$/);
    const counted = registry
      .text()
      .split('\n')
      .filter((line) => line.startsWith('apiserver_validating_admission_policy_check_total{'));
    const labels = (name: string) =>
      `policy="${name}",policy_binding="${name}-0",error_type="invalid_error",enforcement_action="deny"`;
    assert.deepEqual(counted.length, 2);
    for (const [i, name] of ['a', 'b'].entries()) {
      assert.deepEqual(
        /\{(.*)\} 1$/
          .exec(counted[i] ?? '')?.[1]
          ?.split(',')
          .sort(),
        labels(name).split(',').sort(),
      );
    }
  });

  it('policies, bindings and reviews are never refused', async () => {
    for (const resource of [
      'validatingadmissionpolicies.admissionregistration.k8s.io',
      'validatingadmissionpolicybindings.admissionregistration.k8s.io',
      'subjectaccessreviews.authorization.k8s.io',
    ]) {
      const write = { resource, namespace: '', object: { metadata: { name: 'x' } } };
      assert.equal(await refusalOf(write, limited({ expression: 'false' })), undefined);
    }
  });

  it('follows policies and bindings as they change', async () => {
    const index = indexOf(limited({ expression: 'false' }));
    const plugin = pluginFor(index);
    const refused = async () => (await refusal(plugin, testAttributes(deployment(1)))) !== undefined;
    assert.equal(await refused(), true);
    index.putPolicy(policyObject(limited({ expression: 'true' }), 2));
    assert.equal(await refused(), false);
    index.putPolicy(policyObject(limited({ expression: 'false' }), 3));
    index.removeBinding('policy-0');
    assert.equal(await refused(), false);
    index.putBinding(bindingObject('again', 'policy', {}));
    assert.equal(await refused(), true);
    index.removePolicy('policy');
    assert.equal(await refused(), false);
  });

  it('compiles a policy once for each generation', () => {
    const index = indexOf(limited({ expression: 'true' }));
    const compiled = index.bound[0]?.compiled();
    index.putPolicy(policyObject(limited({ expression: 'true' })));
    assert.equal(index.bound[0]?.compiled(), compiled);
    index.putPolicy(policyObject(limited({ expression: 'true' }), 2));
    assert.notEqual(index.bound[0]?.compiled(), compiled);
  });

  it('waits until the policies are known, and refuses when that takes too long', async () => {
    const index = indexOf(limited({ expression: 'false' }));
    const source = (known: boolean) => ({ ready: false, whenReady: async () => known, bound: index.bound });
    const refusedBy = (known: boolean) =>
      refusal(pluginFor(index, { source: source(known) }), testAttributes(deployment(1)));
    assert.equal(await refusedBy(true), `${DENIED}failed expression: false`);
    assert.equal(await refusedBy(false), 'deployments.apps "web" is forbidden: not yet ready to handle request');
  });
});
