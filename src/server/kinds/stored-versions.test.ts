import assert from 'node:assert/strict';
import { test } from 'node:test';
import { admissionregistrationKinds } from '../../apis/admissionregistration/index.js';
import { cronJobs } from '../../apis/batch/cronjob/definition.js';
import { jobs } from '../../apis/batch/job/definition.js';
import { podDisruptionBudgets } from '../../apis/policy/pod-disruption-budget.js';
import { ipAddresses } from '../../apis/networking/ipaddress.js';
import { resourceKinds } from '../../apis/resource/index.js';
import type { KeyValueStore } from '../../kv/kv.js';
import { openMemoryStore } from '../../kv/memory.js';
import type { KindDefinition } from '../../registry/kind.js';
import { objectCodec } from '../../rest/wire/object-codec.js';
import { mustType } from '../../schema/catalogue.js';
import { normalize } from '../../schema/json/decode.js';
import { TestApi } from '../testing/test-api.js';

const FORMS = ['application/vnd.kubernetes.protobuf', 'application/json', 'application/yaml'];

/** What etcd holds of an object that another release has kept in a version of its own. */
async function storeWith(type: string, key: string, object: object, form: string): Promise<KeyValueStore> {
  const kv = openMemoryStore();
  const struct = mustType(type);
  const bytes = objectCodec(struct).encodeStorage(normalize(struct, object as never) as never, form);
  await kv.create(key, bytes);
  return new Proxy(kv, {
    get(target, name) {
      if (name === 'local') return false;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

const metadata = { name: 'x', uid: 'u', creationTimestamp: '2024-01-01T00:00:00Z' };
const apiOf = (kind: unknown, kv: KeyValueStore): TestApi => new TestApi({ kinds: [kind as KindDefinition], kv });

for (const form of FORMS) {
  test(`an address that lies in an older version as ${form} is served in the newer one, and written in it`, async () => {
    const address = {
      kind: 'IPAddress',
      apiVersion: 'networking.k8s.io/v1beta1',
      metadata: { ...metadata, name: '10.0.0.1' },
      spec: { parentRef: { resource: 'services', namespace: 'default', name: 's' } },
    };
    const key = '/registry/ipaddresses/10.0.0.1';
    const kv = await storeWith('io.k8s.api.networking.v1beta1.IPAddress', key, address, form);
    const api = apiOf(ipAddresses, kv);
    const { body } = await api.send('GET', '/apis/networking.k8s.io/v1/ipaddresses/10.0.0.1');
    assert.deepEqual([body.apiVersion, body.spec], ['networking.k8s.io/v1', address.spec]);
    const list = await api.send('GET', '/apis/networking.k8s.io/v1/ipaddresses');
    assert.equal((list.body['items'] as unknown[]).length, 1);
    const labelled = { ...body, metadata: { ...body.metadata, labels: { a: 'b' } } };
    assert.equal(
      (await api.send('PUT', '/apis/networking.k8s.io/v1/ipaddresses/10.0.0.1', { body: labelled })).status,
      200,
    );
    assert.ok((await kv.get(key))?.value.includes('networking.k8s.io/v1\x12'));
  });
}

test('a claim that lies in a version of another shape is converted', async () => {
  const claim = {
    kind: 'ResourceClaim',
    apiVersion: 'resource.k8s.io/v1beta1',
    metadata: { ...metadata, namespace: 'default' },
    spec: { devices: { requests: [{ name: 'r', deviceClassName: 'c' }] } },
  };
  const key = '/registry/resourceclaims/default/x';
  const kv = await storeWith('io.k8s.api.resource.v1beta1.ResourceClaim', key, claim, FORMS[0] ?? '');
  const kind = resourceKinds().find(({ plural }) => plural === 'resourceclaims');
  const { body } = await apiOf(kind, kv).send('GET', '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/x');
  assert.deepEqual(body.spec, {
    devices: {
      requests: [{ name: 'r', exactly: { deviceClassName: 'c', allocationMode: 'ExactCount', count: 1 } }],
    },
  });
});

test('what lies in another version has the defaults of that version alone', async () => {
  const binding = {
    kind: 'MutatingAdmissionPolicyBinding',
    apiVersion: 'admissionregistration.k8s.io/v1beta1',
    metadata,
    spec: { policyName: 'p', paramRef: { name: 'n' } },
  };
  const key = '/registry/mutatingadmissionpolicybindings/x';
  const type = 'io.k8s.api.admissionregistration.v1beta1.MutatingAdmissionPolicyBinding';
  const kv = await storeWith(type, key, binding, FORMS[0] ?? '');
  const authorizer = {
    authorize: () => ({ decision: 'allow' as const, reason: '' }),
    rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
  };
  const kind = admissionregistrationKinds({ authorizer, resourceOf: () => undefined }).find(
    ({ plural }) => plural === 'mutatingadmissionpolicybindings',
  );
  const api = new TestApi({ kinds: [kind as unknown as KindDefinition], kv, runtimeConfig: { 'api/all': 'true' } });
  const path = '/apis/admissionregistration.k8s.io/v1beta1/mutatingadmissionpolicybindings/x';
  assert.deepEqual((await api.send('GET', path)).body.spec, binding.spec);
});

const job = {
  kind: 'CronJob',
  metadata: { ...metadata, namespace: 'default' },
  spec: {
    schedule: '* * * * *',
    jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } } },
  },
};
const readJob = async (apiVersion: string) => {
  const stored = { ...job, apiVersion };
  const key = '/registry/cronjobs/default/x';
  const kv = await storeWith('io.k8s.api.batch.v1.CronJob', key, stored, FORMS[0] ?? '');
  return await apiOf(cronJobs, kv).send('GET', '/apis/batch/v1/namespaces/default/cronjobs/x');
};

test('what lies in a version that is served no more is read', async () => {
  const { body } = await readJob('batch/v1beta1');
  assert.deepEqual([body.apiVersion, body.spec['schedule']], ['batch/v1', '* * * * *']);
});

test('an empty selector of a budget of policy/v1beta1 selects no pods', async () => {
  const key = '/registry/poddisruptionbudgets/default/x';
  for (const [apiVersion, selector] of [
    ['policy/v1', {}],
    [
      'policy/v1beta1',
      { matchExpressions: [{ key: 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match', operator: 'Exists' }] },
    ],
  ] as const) {
    const stored = {
      kind: 'PodDisruptionBudget',
      apiVersion,
      metadata: { ...metadata, namespace: 'default' },
      spec: { minAvailable: 1, selector: {} },
      status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
    };
    const kv = await storeWith('io.k8s.api.policy.v1.PodDisruptionBudget', key, stored, FORMS[0] ?? '');
    const path = '/apis/policy/v1/namespaces/default/poddisruptionbudgets/x';
    const { body } = await apiOf(podDisruptionBudgets, kv).send('GET', path);
    assert.deepEqual(body.spec['selector'], selector, apiVersion);
  }
});

test('what lies in a version of its group that never had its kind cannot be read', async () => {
  const key = '/registry/jobs/default/x';
  const stored = { ...job, kind: 'Job', apiVersion: 'batch/v1beta1', spec: job.spec.jobTemplate.spec };
  const kv = await storeWith('io.k8s.api.batch.v1.Job', key, stored, FORMS[0] ?? '');
  const { status, body } = await apiOf(jobs, kv).send('GET', '/apis/batch/v1/namespaces/default/jobs/x');
  assert.equal(status, 500);
  assert.match(String(body['message']), /no kind "Job" is registered for version "batch\/v1beta1" in scheme/);
});

test('what lies in a version that never was cannot be read', async () => {
  const { status, body } = await readJob('batch/v9');
  assert.equal(status, 500);
  assert.match(String(body['message']), /no kind "CronJob" is registered for version "batch\/v9" in scheme/);
});

test('a stored object without its kind gets it, and one of another kind is not served', async () => {
  const key = '/registry/ipaddresses/10.0.0.1';
  const spec = { parentRef: { resource: 'services', namespace: 'default', name: 's' } };
  const named = { metadata: { ...metadata, name: '10.0.0.1' }, spec };
  const read = async (stored: object): Promise<[number, unknown]> => {
    const kv = Object.assign(openMemoryStore(), { local: false });
    await kv.create(key, Buffer.from(JSON.stringify(stored)));
    const { status, body } = await apiOf(ipAddresses, kv).send(
      'GET',
      '/apis/networking.k8s.io/v1/ipaddresses/10.0.0.1',
    );
    return [status, body['message'] ?? [body.kind, body.apiVersion, body.metadata.name]];
  };
  const address = ['IPAddress', 'networking.k8s.io/v1', '10.0.0.1'];
  assert.deepEqual(await read(named), [200, address]);
  assert.deepEqual(await read({ apiVersion: 'networking.k8s.io/v1beta1', kind: 'IPAddress', ...named }), [
    200,
    address,
  ]);
  assert.deepEqual(await read({ apiVersion: 'v1', kind: 'ConfigMap', metadata }), [
    500,
    'no kind "IPAddress" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
  ]);
  assert.deepEqual(await read({ apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', metadata }), [
    500,
    'converting (v1.ServiceCIDR) to (networking.IPAddress): unknown conversion',
  ]);
});
