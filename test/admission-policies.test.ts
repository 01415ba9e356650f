// Policies of a cluster as its administrators write them, on the real program.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestServer, type TestAnswer, type TestServer } from './support/server.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';

const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const BINDINGS = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const GROUP = 'shop.example.test';

interface Refusal {
  readonly message: string;
  readonly reason: string;
  readonly code: number;
  readonly details: { readonly causes: readonly { readonly message: string }[] };
}

interface Stored {
  readonly metadata: { readonly resourceVersion: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

describe('validating admission policies', { timeout: 60_000 }, () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  async function create(to: string, object: object): Promise<void> {
    const { status, body } = await server.request('POST', to, object);
    assert.equal(status, 201, body);
  }
  const policy = (name: string, spec: object) => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: { matchConstraints: { resourceRules: [rule('apps', 'deployments', 'deployments/scale')] }, ...spec },
  });
  const binding = (name: string, policyName: string, spec: object) => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName, ...spec },
  });
  const deployment = (name: string, replicas: number, labels: object = { app: name }) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'main', image: 'example.test/main' }] },
      },
    },
  });
  const tried = (replicas: number, labels?: object): Promise<TestAnswer> =>
    server.request('POST', `${DEPLOYMENTS}?dryRun=All`, deployment('tried', replicas, labels));
  const refusalOf = ({ status, body }: TestAnswer): Refusal => {
    const refusal = JSON.parse(body) as Refusal;
    assert.equal(status, refusal.code, body);
    return refusal;
  };
  const change = async (path: string, spec: object): Promise<void> => {
    const stored = JSON.parse((await server.request('GET', path)).body) as Stored;
    const { status, body } = await server.request('PUT', path, { ...stored, spec: { ...stored.spec, ...spec } });
    assert.equal(status, 200, body);
  };
  const clear = async (): Promise<void> => {
    for (const path of [BINDINGS, POLICIES]) await server.request('DELETE', path);
    await pollUntil(
      async () => (await tried(1000)).status === 201 && (await tried(1000)).headers['warning'] === undefined,
    );
  };

  it('a deployment with too many replicas is refused, by its own name or scaled, until the policy changes', async () => {
    const expression = 'object.spec.replicas <= 3';
    const messageExpression = "'at most 3 replicas, not ' + string(object.spec.replicas)";
    await create(
      POLICIES,
      policy('replicas', { validations: [{ expression, messageExpression, reason: 'Forbidden' }] }),
    );
    await create(BINDINGS, binding('replicas-everywhere', 'replicas', { validationActions: ['Deny'] }));
    await pollUntil(async () => (await tried(4)).status === 403);
    const refusal = refusalOf(await tried(4));
    const why = `ValidatingAdmissionPolicy 'replicas' with binding 'replicas-everywhere' denied request: at most 3 replicas, not 4`;
    assert.equal(refusal.message, `deployments.apps "tried" is forbidden: ${why}`);
    assert.equal(refusal.reason, 'Forbidden');
    assert.deepEqual(refusal.details.causes, [{ message: why }]);

    await create(DEPLOYMENTS, deployment('web', 3));
    const scale = `${DEPLOYMENTS}/web/scale`;
    const current = JSON.parse((await server.request('GET', scale)).body) as Stored;
    const scaled = await server.request('PUT', scale, { ...current, spec: { replicas: 5 } });
    assert.match(refusalOf(scaled).message, /at most 3 replicas, not 5$/);

    await change(`${POLICIES}/replicas`, { validations: [{ expression: 'object.spec.replicas <= 5' }] });
    await pollUntil(async () => (await tried(5)).status === 201);
    assert.equal(refusalOf(await tried(6)).code, 422);
    const metrics = (await server.request('GET', '/metrics')).body;
    assert.match(metrics, /apiserver_validating_admission_policy_check_total\{[^}]*policy="replicas"[^}]*\} \d/);
    await clear();
  });

  it('limits come from a ConfigMap, and refuse when it is missing', async () => {
    const expression = 'object.spec.replicas <= int(params.data.max)';
    const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
    const paramRef = { name: 'limits', namespace: 'default', parameterNotFoundAction: 'Deny' };
    await create(POLICIES, policy('limits', { paramKind, validations: [{ expression, message: 'too many' }] }));
    await create(BINDINGS, binding('limits', 'limits', { paramRef, validationActions: ['Deny'] }));
    await pollUntil(async () => (await tried(1)).status === 422);
    assert.match(refusalOf(await tried(1)).message, /no params found for policy binding with `Deny`/);
    const data = { max: '2' };
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'limits' }, data };
    await create('/api/v1/namespaces/default/configmaps', map);
    assert.equal((await tried(2)).status, 201);
    assert.match(refusalOf(await tried(3)).message, /denied request: too many$/);
    await clear();
  });

  it('custom resources are parameters, and under a policy themselves', async () => {
    await create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition());
    const limits = `/apis/${GROUP}/v1/limits`;
    await pollUntil(async () => (await server.request('GET', limits)).status === 200);
    const limit = (name: string, max: number) => ({
      apiVersion: `${GROUP}/v1`,
      kind: 'Limit',
      metadata: { name, labels: { for: 'deployments' } },
      spec: { max },
    });
    await create(limits, limit('wide', 9));
    await create(limits, limit('narrow', 4));
    const paramKind = { apiVersion: `${GROUP}/v1`, kind: 'Limit' };
    const validations = [
      { expression: 'object.spec.replicas <= params.spec.max', messageExpression: 'string(params.metadata.name)' },
    ];
    const selector = { matchLabels: { for: 'deployments' } };
    await create(POLICIES, policy('custom', { paramKind, validations }));
    const paramRef = { selector, parameterNotFoundAction: 'Deny' };
    await create(BINDINGS, binding('custom', 'custom', { paramRef, validationActions: ['Deny'] }));
    await pollUntil(async () => (await tried(5)).status === 422);
    assert.match(refusalOf(await tried(5)).message, /denied request: narrow$/);
    assert.equal((await tried(4)).status, 201);

    // The definition has two versions: a rule for the one is for the other too.
    const matchConstraints = { resourceRules: [{ ...rule(GROUP, 'limits'), apiVersions: ['v1'] }] };
    const small = [{ expression: "object.apiVersion.endsWith('/v1') && object.spec.max < 100" }];
    await create(POLICIES, policy('small', { matchConstraints, validations: small }));
    await create(BINDINGS, binding('small', 'small', { validationActions: ['Deny'] }));
    const other = (max: number) =>
      server.request('POST', `/apis/${GROUP}/v2/limits?dryRun=All`, {
        ...limit('other', max),
        apiVersion: `${GROUP}/v2`,
      });
    await pollUntil(async () => (await other(100)).status === 422);
    assert.equal((await other(99)).status, 201);
    await clear();
  });

  it('a policy may only warn, and only where its binding says', async () => {
    await create(POLICIES, policy('labels', { validations: [{ expression: "'team' in object.metadata.labels" }] }));
    const matchResources = { objectSelector: { matchLabels: { app: 'tried' } } };
    await create(BINDINGS, binding('labels', 'labels', { validationActions: ['Warn', 'Audit'], matchResources }));
    await pollUntil(async () => (await tried(1)).headers['warning'] !== undefined);
    const answer = await tried(1);
    assert.equal(answer.status, 201);
    const warning = `Validation failed for ValidatingAdmissionPolicy 'labels' with binding 'labels': failed expression: 'team' in object.metadata.labels`;
    assert.equal(answer.headers['warning'], `299 - "${warning}"`);
    assert.equal((await tried(1, { app: 'tried', team: 'a' })).headers['warning'], undefined);
    assert.equal((await tried(1, { app: 'other' })).headers['warning'], undefined);
    await clear();
  });

  it('deletion is under policies as well, and policies can always be mended', async () => {
    const everything = { resourceRules: [rule('*', '*')] };
    const validations = [{ expression: "request.operation != 'DELETE'", message: 'nothing goes' }];
    await create('/api/v1/namespaces/default/configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'kept' },
    });
    await create(POLICIES, policy('kept', { matchConstraints: everything, validations }));
    await create(BINDINGS, binding('kept', 'kept', { validationActions: ['Deny'] }));
    const remove = () => server.request('DELETE', '/api/v1/namespaces/default/configmaps/kept?dryRun=All');
    await pollUntil(async () => (await remove()).status === 422);
    assert.match(
      refusalOf(await remove()).message,
      /^configmaps "kept" is forbidden: .* denied request: nothing goes$/,
    );
    assert.equal((await server.request('DELETE', `${POLICIES}/kept`)).status, 200);
    await pollUntil(async () => (await remove()).status === 200);
    await clear();
  });
});

const rule = (group: string, ...resources: string[]) => ({
  apiGroups: [group],
  apiVersions: ['*'],
  operations: ['*'],
  resources,
});

const definition = () => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `limits.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Cluster',
    names: { plural: 'limits', singular: 'limit', kind: 'Limit' },
    versions: ['v1', 'v2'].map((name) => ({
      name,
      served: true,
      storage: name === 'v2',
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: { spec: { type: 'object', properties: { max: { type: 'integer' } } } },
        },
      },
    })),
  },
});
