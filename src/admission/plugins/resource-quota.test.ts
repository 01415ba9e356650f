import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openMemoryStore } from '../../kv/memory.js';
import type { KeyValueStore } from '../../kv/kv.js';
import { pods } from '../../apis/core/pod/definition.js';
import { resourceQuotas } from '../../apis/core/resourcequota/definition.js';
import { apiEnablement } from '../../machinery/api-enablement.js';
import type { ResourceList, ResourceQuota } from '../../schema/generated/core.v1.js';
import { Resources } from '../../server/kinds/resources.js';
import { createResourceStore } from '../../storage/create-store.js';
import type { AdmissionAttributes } from '../plugin.js';
import { refusal, testAttributes, type TestWrite } from '../test-attributes.js';
import type { LimitedResource } from '../quota/limited.js';
import { resourceQuota } from './resource-quota.js';

const quota = (hard: ResourceList, used: ResourceList, spec: object = {}): ResourceQuota => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'q', namespace: 'ns', resourceVersion: '1' },
  spec: { hard, ...spec },
  status: { hard, used },
});
const pod = (resources: object = {}, spec: object = {}): object => ({
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'a', resources }], ...spec },
});

/** The plugin on one write, with the usage it wrote. */
async function charge(
  quotas: readonly ResourceQuota[],
  write: TestWrite,
  limited: readonly LimitedResource[] = [],
): Promise<{ why: string | undefined; used: ResourceList | undefined }> {
  let used: ResourceList | undefined;
  const attributes = testAttributes({
    ...write,
    world: { resourcequotas: quotas },
    operations: {
      async update({ name, change }) {
        const current = structuredClone(quotas.find(({ metadata }) => metadata.name === name) as ResourceQuota);
        const changed = (await change(current)) as ResourceQuota;
        used = changed.status.used;
        return changed;
      },
    },
  });
  return { why: await refusal(resourceQuota(limited), attributes), used };
}

describe('refuses', () => {
  test('what is limited by the configuration and covered by no quota', async () => {
    const limited = [{ resource: 'pods', matchContains: ['requests.'] }];
    const write = { resource: 'pods', object: pod({ requests: { cpu: '1', memory: '1Mi' } }) };
    const uncovered = 'pods "p" is forbidden: insufficient quota to consume: requests.cpu,requests.memory';
    assert.equal((await charge([], write, limited)).why, uncovered);
    const cpu = quota({ 'requests.cpu': '2' }, { 'requests.cpu': '0' });
    assert.match((await charge([cpu], write, limited)).why ?? '', /insufficient quota to consume: requests.memory$/);
    const both = quota(
      { 'requests.cpu': '2', 'requests.memory': '2Mi' },
      { 'requests.cpu': '0', 'requests.memory': '0' },
    );
    assert.equal((await charge([both], write, limited)).why, undefined);
    assert.equal(
      (await charge([], { resource: 'configmaps', object: { metadata: { name: 'c' } } }, limited)).why,
      undefined,
    );
  });

  test('a scope that is limited by the configuration and has no quota', async () => {
    const high = { scopeName: 'PriorityClass', operator: 'In', values: ['high'] };
    const limited = [{ resource: 'pods', matchScopes: [high] }];
    const write = (name: string) => ({ resource: 'pods', object: pod({}, { priorityClassName: name }) });
    const why = 'insufficient quota to match these scopes: [{PriorityClass In [high]}]';
    assert.equal((await charge([], write('high'), limited)).why, why);
    assert.equal((await charge([], write('low'), limited)).why, undefined);
    const covering = quota({ pods: '5' }, { pods: '0' }, { scopeSelector: { matchExpressions: [high] } });
    assert.equal((await charge([covering], write('high'), limited)).why, undefined);
  });

  test('what exceeds, with what is requested, used and allowed', async () => {
    const hard = { pods: '2', 'requests.cpu': '1', 'limits.memory': '1Gi' };
    const full = quota(hard, { pods: '2', 'requests.cpu': '900m', 'limits.memory': '0' });
    const object = pod({ requests: { cpu: '200m' }, limits: { memory: '1Mi' } });
    const { why, used } = await charge([full], { resource: 'pods', object });
    assert.equal(
      why,
      'pods "p" is forbidden: exceeded quota: q, requested: pods=1,requests.cpu=200m, used: pods=2,requests.cpu=900m, limited: pods=2,requests.cpu=1',
    );
    assert.equal(used, undefined);
  });

  test('containers that do not state what is limited', async () => {
    const limited = quota({ 'limits.cpu': '1', memory: '1Gi' }, { 'limits.cpu': '0', memory: '0' });
    const { why } = await charge([limited], { resource: 'pods', object: pod({ limits: { cpu: '1' } }) });
    assert.equal(why, 'pods "p" is forbidden: failed quota: q: must specify memory for: a');
  });

  test('until somebody has counted', async () => {
    const { why } = await charge([quota({ pods: '2' }, {})], { resource: 'pods', object: pod() });
    assert.equal(why, 'pods "p" is forbidden: status unknown for quota: q, resources: pods');
  });
});

describe('counts', () => {
  const usedBy = async (write: TestWrite, hard: ResourceList, spec: object = {}): Promise<ResourceList | undefined> => {
    const zero = Object.fromEntries(Object.keys(hard).map((name) => [name, '0']));
    const { why, used } = await charge([quota(hard, zero, spec)], write);
    assert.equal(why, undefined);
    return used;
  };

  test('the requests of pods with sidecars, devices, huge pages and overhead', async () => {
    const object = pod(
      { requests: { cpu: '1', 'example.com/gpu': '2', 'hugepages-2Mi': '4Mi' }, limits: { cpu: '2' } },
      {
        initContainers: [{ name: 's', restartPolicy: 'Always', resources: { requests: { cpu: '500m' } } }],
        overhead: { cpu: '100m' },
      },
    );
    const hard = {
      'requests.cpu': '9',
      'requests.example.com/gpu': '9',
      'hugepages-2Mi': '1Gi',
      'requests.hugepages-2Mi': '1Gi',
      'count/pods': '9',
    };
    assert.deepEqual(await usedBy({ resource: 'pods', object }, hard), {
      'requests.cpu': '1600m',
      'requests.example.com/gpu': '2',
      'hugepages-2Mi': '4Mi',
      'requests.hugepages-2Mi': '4Mi',
      'count/pods': '1',
    });
  });

  test('services by their ports, claims by class, and objects of any kind', async () => {
    const service = { metadata: { name: 's' }, spec: { type: 'LoadBalancer', ports: [{ port: 1 }, { port: 2 }] } };
    const balanced = { services: '9', 'services.nodeports': '9', 'services.loadbalancers': '9' };
    assert.deepEqual(await usedBy({ resource: 'services', object: service }, balanced), {
      services: '1',
      'services.nodeports': '2',
      'services.loadbalancers': '1',
    });
    const claim = {
      metadata: { name: 'c' },
      spec: { storageClassName: 'gold', resources: { requests: { storage: '5Gi' } } },
    };
    const stored = {
      'requests.storage': '9Gi',
      'gold.storageclass.storage.k8s.io/requests.storage': '9Gi',
      'tin.storageclass.storage.k8s.io/requests.storage': '9Gi',
    };
    assert.deepEqual(await usedBy({ resource: 'persistentvolumeclaims', object: claim }, stored), {
      'requests.storage': '5Gi',
      'gold.storageclass.storage.k8s.io/requests.storage': '5Gi',
      'tin.storageclass.storage.k8s.io/requests.storage': '0',
    });
    const widget = { resource: 'widgets.example.com', object: { metadata: { name: 'w' } } };
    assert.deepEqual(await usedBy(widget, { 'count/widgets.example.com': '1' }), { 'count/widgets.example.com': '1' });
  });

  test('only what an update adds, and nothing for what it frees', async () => {
    const claim = (storage: string): object => ({
      metadata: { name: 'c', resourceVersion: '1' },
      spec: { resources: { requests: { storage } } },
    });
    const hard = { 'requests.storage': '9Gi', persistentvolumeclaims: '1' };
    const grown = { resource: 'persistentvolumeclaims', old: claim('1Gi'), object: claim('3Gi') };
    assert.deepEqual(await usedBy(grown, hard), { 'requests.storage': '2Gi', persistentvolumeclaims: '0' });
    const shrunk = { resource: 'persistentvolumeclaims', old: claim('3Gi'), object: claim('1Gi') };
    assert.equal(await usedBy(shrunk, hard), undefined);
  });

  test('only within the scopes of the quota', async () => {
    const important = { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] };
    const write = (spec: object): TestWrite => ({ resource: 'pods', object: pod({}, spec) });
    const hard = { pods: '9' };
    assert.equal(await usedBy(write({}), hard, { scopeSelector: important }), undefined);
    const high = write({ priorityClassName: 'high' });
    assert.deepEqual(await usedBy(high, hard, { scopeSelector: important }), { pods: '1' });
    assert.equal(await usedBy(write({}), hard, { scopes: ['Terminating'] }), undefined);
    assert.deepEqual(await usedBy(write({ activeDeadlineSeconds: 5 }), hard, { scopes: ['Terminating'] }), {
      pods: '1',
    });
    assert.equal(await usedBy(write({}), hard, { scopes: ['NotBestEffort'] }), undefined);
    assert.deepEqual(await usedBy(write({}), hard, { scopes: ['BestEffort'] }), { pods: '1' });
  });

  test('nothing on a dry run, which is still refused where the real one would be', async () => {
    const write = { resource: 'pods', object: pod(), dryRun: true };
    assert.equal(await usedBy(write, { pods: '1' }), undefined);
    const { why } = await charge([quota({ pods: '1' }, { pods: '1' })], write);
    assert.match(why ?? '', /exceeded quota/);
  });
});

test('fifty creators at two servers on one store never exceed, and nobody is refused without need', async () => {
  const kv = openMemoryStore();
  const servers = [server(kv), server(kv)];
  const [first] = servers;
  assert.ok(first !== undefined);
  const made = quota({ pods: '20' }, {});
  delete made.metadata.resourceVersion;
  const { context } = testAttributes({ resource: 'pods' });
  const { operations } = first.resources;
  const QUOTAS = { group: '', resource: 'resourcequotas' };
  await operations.create(QUOTAS, 'ns', made, context);
  const counted = (object: object): ResourceQuota => ({
    ...(object as ResourceQuota),
    status: { hard: { pods: '20' }, used: { pods: '0' } },
  });
  await operations.update({
    resource: QUOTAS,
    namespace: 'ns',
    name: 'q',
    subresource: 'status',
    change: counted,
    context,
  });

  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, i) => {
      const { resources, plugin } = servers[i % 2] as (typeof servers)[number];
      const attributes = testAttributes({ resource: 'pods', object: { ...pod(), metadata: { name: `p${i}` } } });
      const real: AdmissionAttributes = {
        ...attributes,
        context: { ...attributes.context, lookup: resources.lookup },
        operations: resources.operations,
      };
      return refusal(plugin, real);
    }),
  );
  assert.equal(answers.filter((why) => why === undefined).length, 20);
  const refused = answers.filter((why) => why !== undefined);
  assert.ok(
    refused.every((why) => why.includes('exceeded quota: q, requested: pods=1, used: pods=20, limited: pods=20')),
  );
  const after = (await operations.get(QUOTAS, 'ns', 'q')) as ResourceQuota;
  assert.equal(after.status.used?.['pods'], '20');
  for (const { resources } of servers) resources.close();
});

function server(kv: KeyValueStore) {
  const resources = new Resources({
    prefix: '/registry',
    openStore: (options) => createResourceStore({ kv, options }),
    clock: () => new Date(0),
    garbageCollection: true,
    deleteCollectionWorkers: 1,
    enablement: apiEnablement({}),
  });
  resources.add(pods);
  resources.add(resourceQuotas);
  return { resources, plugin: resourceQuota() };
}

test('what is used is noted as the server’s own', async () => {
  let written: ResourceQuota | undefined;
  const mine = {
    ...quota({ pods: '2' }, { pods: '0' }),
    metadata: {
      name: 'q',
      namespace: 'ns',
      resourceVersion: '1',
      managedFields: [
        {
          manager: 'someone',
          operation: 'Update',
          apiVersion: 'v1',
          time: '2024-01-01T00:00:00Z',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:status': { 'f:used': { '.': {}, 'f:pods': {} } } },
          subresource: 'status',
        },
      ],
    },
  } as ResourceQuota;
  const attributes = testAttributes({
    resource: 'pods',
    object: pod(),
    world: { resourcequotas: [mine] },
    operations: {
      async update({ change }) {
        return (written = (await change(structuredClone(mine))) as ResourceQuota);
      },
    },
  });
  assert.equal(await refusal(resourceQuota(), attributes), undefined);
  const owners = (written?.metadata.managedFields ?? []).map(({ manager, subresource, fieldsV1 }) => [
    manager,
    subresource,
    fieldsV1,
  ]);
  assert.deepEqual(owners, [
    ['kube-apiserver', 'status', { 'f:status': { 'f:used': { 'f:pods': {} } } }],
    ['someone', 'status', { 'f:status': { 'f:used': {} } }],
  ]);
});
