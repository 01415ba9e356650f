// A response made on a worker is that made inline, byte for byte.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { PatchMade } from '../../admission/matching/seen-request.js';
import { patchedObject } from '../../admission/webhooks/apply-patch.js';
import { apiextensionsKinds } from '../../apis/apiextensions/index.js';
import { deployments } from '../../apis/apps/deployment/definition.js';
import { autoscalingKinds } from '../../apis/autoscaling/index.js';
import { configMaps } from '../../apis/core/configmap/definition.js';
import { namespaces } from '../../apis/core/namespace/definition.js';
import { persistentVolumes } from '../../apis/core/persistentvolume/definition.js';
import { pods } from '../../apis/core/pod/definition.js';
import { resourceKinds } from '../../apis/resource/index.js';
import { kubernetesExpressions } from '../../cel/environments/kubernetes-expressions.js';
import { type WorkerPool, RunInline } from '../../lib/async/worker-pool.js';
import { featureGateNames } from '../../machinery/feature-gates.js';
import type { JsonObject } from '../../machinery/object.js';
import { StatusError } from '../../machinery/status.js';
import { needsPruning } from '../../machinery/needs-pruning.js';
import type { KindDefinition } from '../../registry/kind.js';
import { MEDIA_TYPES } from '../../rest/wire/media-types.js';
import { createOpenApi } from '../../rest/openapi/openapi.js';
import { InlineWorker, serveDefinitions } from '../testing/inline-worker.js';
import { WorkerContext } from './worker-context.js';
import { servedResources } from '../admission/served-resources.js';
import { TestApi, type Answer } from '../testing/test-api.js';
import { pollUntil } from '../../lib/testing/poll-until.js';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const THINGS = '/apis/example.test/v1/namespaces/n/things';
const OLD_THINGS = '/apis/example.test/v1beta1/namespaces/n/things';
const PODS = '/api/v1/namespaces/n/pods';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/n/deployments';
const VOLUMES = '/api/v1/persistentvolumes';
const SCALERS = '/apis/autoscaling/v2/namespaces/n/horizontalpodautoscalers';

const stop = new Set<() => void>();
let here: TestApi;
let there: TestApi;
let workers: InlineWorker;

beforeEach(async () => {
  workers = new InlineWorker();
  here = await open();
  there = await open(workers);
  const { features } = there.context();
  workers.features.push(...featureGateNames().filter((gate) => features.enabled(gate)));
});

afterEach(() => {
  for (const one of stop) one();
  stop.clear();
});

async function open(workerPool?: WorkerPool): Promise<TestApi> {
  const expressions = kubernetesExpressions({
    compatibility: { major: 1, minor: 33 },
    features: { enabled: () => false },
  });
  const kinds = [
    configMaps,
    deployments,
    ...autoscalingKinds,
    namespaces,
    persistentVolumes,
    pods,
    ...resourceKinds(expressions),
  ] as readonly KindDefinition[];
  const api = new TestApi({
    kinds: [...kinds, ...apiextensionsKinds(expressions)],
    ...(workerPool && { workers: workerPool }),
  });
  stop.add(await serveDefinitions(api, { expressions, workers: workerPool }));
  return api;
}

const UIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const comparable = ({ status, bytes, warnings, headers, recorded }: Answer): object => ({
  status,
  warnings,
  type: headers['content-type'],
  text: bytes.toString().replace(UIDS, 'uid'),
  recorded: JSON.stringify(recorded).replace(UIDS, 'uid'),
});

/** The answer, of both the same. */
async function both(send: (api: TestApi) => Promise<Answer>, what: readonly string[] = []): Promise<Answer> {
  workers.done.length = 0;
  const [one, other] = [await send(here), await send(there)];
  assert.deepEqual(comparable(other), comparable(one));
  for (const name of what) assert.ok(workers.done.includes(name), `${name} was not done on a worker`);
  return other;
}

const pod = (spec: object = {}): object => ({
  metadata: { name: 'a', labels: { a: 'b' }, annotations: {} },
  spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 1 }] }], ...spec },
});

test('a new object is set, cleared, refused and warned of as ever', async () => {
  const created = await both((api) => api.post(PODS, pod()), ['change', 'prepare']);
  assert.equal(created.status, 201);
  const wrong = pod({ restartPolicy: 'x', volumes: [{ name: 'A B' }], nodeSelector: {} });
  assert.equal((await both((api) => api.post(PODS, wrong), ['prepare'])).status, 422);
  const warned = pod({ containers: [{ name: 'c', image: 'i', env: [{ name: 'A' }, { name: 'A' }] }] });
  const { warnings } = await both((api) => api.post(`${PODS}?dryRun=All`, { ...warned, metadata: { name: 'b' } }));
  assert.match(warnings.join(), /hides previous definition/);
});

test('a message shows what was sent empty, and what was not sent', async () => {
  const volume = (spec: object): object => ({
    metadata: { name: 'v' },
    spec: { accessModes: ['ReadWriteOnce'], ...spec },
  });
  const empty = await both((api) => api.post(VOLUMES, volume({ capacity: {} })), ['prepare']);
  assert.match(empty.body.message, /Unsupported value: \{\}/);
  const absent = await both((api) => api.post(VOLUMES, volume({})), ['prepare']);
  assert.match(absent.body.message, /Unsupported value: null/);
});

test('a refusal with very many causes comes as a whole', async () => {
  const env = Array.from({ length: 300 }, (_, i) => ({ name: `=${i}` }));
  const refused = await both((api) => api.post(PODS, pod({ containers: [{ name: 'c', image: 'i', env }] })));
  assert.equal(refused.status, 422);
  assert.equal(refused.body.details?.causes?.length, 300);
  for (const accept of ['application/yaml', 'application/vnd.kubernetes.protobuf', 'application/json;pretty=1']) {
    await both((api) => api.post(PODS, pod({ containers: [{ name: 'c', image: 'i', env }] }), { accept }));
  }
});

test('changes keep what an endpoint does not touch, and what may not change is refused', async () => {
  await both((api) => api.post(DEPLOYMENTS, DEPLOYMENT));
  const changed = { ...DEPLOYMENT, spec: { ...DEPLOYMENT.spec, replicas: 5 } };
  const updated = await both((api) => api.put(`${DEPLOYMENTS}/d`, changed), ['change', 'prepare']);
  assert.equal(updated.body.metadata.generation, 2);
  const status = { ...changed, status: { replicas: 3 }, spec: DEPLOYMENT.spec };
  const written = await both((api) => api.put(`${DEPLOYMENTS}/d/status`, status), ['prepare']);
  assert.deepEqual([written.body.spec['replicas'], written.body.status], [5, { replicas: 3 }]);
  await both((api) => api.post(PODS, pod()));
  assert.equal((await both((api) => api.put(`${PODS}/a`, pod({ hostname: 'x' })), ['prepare'])).status, 422);
  assert.equal((await both((api) => api.put(`${PODS}/a`, { ...pod(), metadata: { name: 'a' } }))).status, 200);
});

test('patches and applies are answered as ever', async () => {
  await both((api) => api.post(DEPLOYMENTS, DEPLOYMENT));
  const patch = (type: string, body: object | string, query = ''): Promise<Answer> =>
    both((api) => api.patch(`${DEPLOYMENTS}/d${query}`, type, body), ['change', 'prepare']);
  const merged = await patch('application/merge-patch+json', { spec: { replicas: 7, paused: true } });
  assert.equal(merged.status, 200);
  const containers = [
    { name: 'c', env: [{ name: 'A', value: '1' }] },
    { name: 'n', image: 'i' },
  ];
  const strategic = await patch('application/strategic-merge-patch+json', {
    spec: { template: { spec: { containers } } },
  });
  assert.equal(strategic.status, 200);
  const operations = [{ op: 'replace', path: '/spec/replicas', value: 2 }];
  assert.equal((await patch('application/json-patch+json', operations)).status, 200);
  const applied = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { replicas: 9 } };
  const conflict = await both((api) =>
    api.patch(`${DEPLOYMENTS}/d?fieldManager=m`, 'application/apply-patch+yaml', applied),
  );
  assert.equal(conflict.status, 409);
  assert.equal((await patch('application/apply-patch+yaml', applied, '?fieldManager=m&force=true')).status, 200);
  const missing = { ...applied, metadata: { name: 'new' }, spec: DEPLOYMENT.spec };
  const created = await both((api) =>
    api.patch(`${DEPLOYMENTS}/new?fieldManager=m`, 'application/apply-patch+yaml', missing),
  );
  assert.equal(created.status, 201);
  for (const [type, body] of WRONG_PATCHES) {
    const answer = await both((api) => api.patch(`${DEPLOYMENTS}/d?fieldManager=m`, type, body));
    assert.ok(answer.status >= 400, `${type} ${JSON.stringify(body)}: ${answer.status}`);
  }
});

test('a scale is written and patched as ever', async () => {
  await both((api) => api.post(DEPLOYMENTS, DEPLOYMENT));
  const at = `${DEPLOYMENTS}/d/scale`;
  const scale = (name: string, replicas: number, metadata: object = {}): object => ({
    metadata: { name, labels: { a: 'b' }, ...metadata },
    spec: { replicas },
  });
  const updated = await both((api) => api.put(at, scale('d', 4)), ['change']);
  assert.deepEqual([updated.status, updated.body.spec], [200, { replicas: 4 }]);
  for (const wrong of [scale('e', 1), scale('d', -1), scale('d', 1, { uid: 'x' }), { ...scale('d', 1), kind: 'Pod' }]) {
    assert.ok((await both((api) => api.put(at, wrong), ['change'])).status >= 400);
  }
  const { warnings } = await both((api) => api.put(`${at}?fieldValidation=Warn`, { ...scale('d', 4), x: 1 }));
  assert.deepEqual(warnings, ['unknown field "x"']);
  const patches: readonly (readonly [string, object])[] = [
    ['application/merge-patch+json', { spec: { replicas: 5 }, x: 1 }],
    ['application/strategic-merge-patch+json', { spec: { replicas: 6 } }],
    ['application/json-patch+json', [{ op: 'copy', from: '/metadata', path: '/metadata/x' }]],
    ['application/apply-patch+yaml', { apiVersion: 'autoscaling/v1', kind: 'Scale', ...scale('d', 7) }],
  ];
  for (const [type, patch] of patches) {
    const query = '?fieldManager=m&force=true'.slice(0, type.includes('apply') ? undefined : 15);
    assert.equal((await both((api) => api.patch(`${at}${query}`, type, patch), ['change'])).status, 200, type);
  }
  for (const [type, body] of WRONG_PATCHES.filter(([, wrong]) => !JSON.stringify(wrong).includes('template'))) {
    await both((api) => api.patch(`${at}?fieldManager=m`, type, body));
    const missing = await both((api) => api.patch(`${DEPLOYMENTS}/none/scale?fieldManager=m`, type, body));
    assert.equal(missing.status, 404, 'a wrong patch is reported only when there is something to scale');
  }
  const { body } = await both((api) => api.get(`${DEPLOYMENTS}/d`));
  assert.equal(body.spec['replicas'], 7);
});

test('the scale of a custom resource is written and patched as ever', async () => {
  for (const api of [here, there]) {
    assert.equal((await api.post(DEFINITIONS, definition('.*'))).status, 201);
    await served(api);
  }
  const thing = { apiVersion: 'example.test/v1', kind: 'Thing', metadata: { name: 't' }, spec: { lo: 1 } };
  assert.equal((await both((api) => api.post(THINGS, thing))).status, 201);
  const at = `${THINGS}/t/scale`;
  const scale = { metadata: { name: 't' }, spec: { replicas: 4 } };
  const type = 'application/merge-patch+json';
  assert.equal((await both((api) => api.patch(at, type, { metadata: {} }), ['change'])).status, 200);
  assert.equal((await both((api) => api.put(at, scale), ['change'])).status, 200);
  assert.equal((await both((api) => api.put(at, { ...scale, kind: 'Pod' }))).status, 400);
  assert.equal((await both((api) => api.patch(at, type, { spec: { replicas: 5 } }), ['change'])).status, 200);
  assert.equal((await both((api) => api.patch(at, type, { kind: 'Pod' }))).status, 422);
  assert.equal((await both((api) => api.get(`${THINGS}/t`))).body.spec['lo'], 5);
});

test('claims to devices are looked through as ever, with what was found out about their namespace', async () => {
  const claims = '/apis/resource.k8s.io/v1/namespaces/n/resourceclaims';
  const claim = (expression: string, more: object = {}): object => ({
    metadata: { name: 'c' },
    spec: {
      devices: {
        requests: [{ name: 'r', exactly: { deviceClassName: 'd', selectors: [{ cel: { expression } }], ...more } }],
      },
    },
  });
  const wrong = await both((api) => api.post(claims, claim('device.nothing')), ['change', 'prepare']);
  assert.match(wrong.body.message, /undefined field 'nothing'/);
  const admin = claim('device.driver == "a"', { adminAccess: true });
  const absent = await both((api) => api.post(claims, admin), ['prepare']);
  assert.match(absent.body.message, /^.*requests\[0\].adminAccess: Internal error: could not retrieve namespace/);
  await both((api) => api.post('/api/v1/namespaces', { metadata: { name: 'n' } }));
  const refused = await both((api) => api.post(claims, admin), ['prepare']);
  assert.match(refused.body.message, /^.*requests\[0\].adminAccess: Forbidden: admin access to devices requires/);
  assert.equal((await both((api) => api.post(claims, claim('device.driver == "a"')), ['prepare'])).status, 201);
});

test('other versions of a kind are converted as ever', async () => {
  const old = '/apis/autoscaling/v1/namespaces/n/horizontalpodautoscalers';
  const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };
  const scaler = {
    metadata: { name: 's' },
    spec: { scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage: 50 },
  };
  assert.equal((await both((api) => api.post(old, scaler), ['prepare'])).status, 201);
  await both((api) => api.patch(`${old}/s`, 'application/merge-patch+json', { spec: { maxReplicas: 4 } }), ['prepare']);
  await both((api) => api.put(`${SCALERS}/s`, { metadata: { name: 's' }, spec: { scaleTargetRef, maxReplicas: 5 } }));
});

test('an object is shown as a table, as its metadata and in another version as ever', async () => {
  await both((api) => api.post(PODS, pod()));
  const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };
  await both((api) => api.post(SCALERS, { metadata: { name: 's' }, spec: { scaleTargetRef, maxReplicas: 5 } }));
  const old = '/apis/autoscaling/v1/namespaces/n/horizontalpodautoscalers/s';
  for (const path of [`${PODS}/a`, `${PODS}/a?includeObject=Object`, `${PODS}/a?includeObject=None`, old]) {
    for (const form of ['Table', 'PartialObjectMetadata']) {
      const as = `as=${form};v=v1;g=meta.k8s.io`;
      await both((api) => api.get(path, { accept: `application/json;${as}` }), ['render']);
      await both((api) => api.get(`${path.split('?')[0]}?pretty=1`, { accept: `application/json;${as}` }), ['render']);
      await both((api) => api.get(path, { accept: `application/yaml;${as}` }));
    }
  }
  for (const accept of ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']) {
    assert.equal((await both((api) => api.get(old, { accept }), ['render'])).status, 200);
  }
  const list = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
  assert.equal((await both((api) => api.get(old, { accept: list }))).status, 406);
  const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  assert.equal((await both((api) => api.get(`${PODS}/a?includeObject=x`, { accept: table }))).status, 400);
});

const LARGE_POD = { ...pod(), metadata: { name: 'a', annotations: { large: 'x'.repeat(150_000) } } };
const FORMS = ['Table', 'PartialObjectMetadata'] as const;

test('a large object in a list is shown as a table, as its metadata and in another version as ever', async () => {
  await both((api) => api.post(PODS, LARGE_POD));
  await both((api) => api.post(PODS, { ...pod(), metadata: { name: 'b' } }));
  for (const media of ['application/json', 'application/vnd.kubernetes.protobuf', 'application/yaml']) {
    for (const form of FORMS) {
      const as = `as=${form.replace('Metadata', 'MetadataList')};v=v1;g=meta.k8s.io`;
      const isMade = form !== 'Table' || media.endsWith('json');
      await both((api) => api.get(PODS, { accept: `${media};${as}` }), isMade ? ['render element'] : []);
    }
  }
  const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };
  const scaler = { ...LARGE_POD, spec: { scaleTargetRef, maxReplicas: 5 } };
  await both((api) => api.post(SCALERS, scaler));
  const old = '/apis/autoscaling/v1/namespaces/n/horizontalpodautoscalers';
  for (const accept of ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']) {
    assert.equal((await both((api) => api.get(old, { accept }), ['render element'])).status, 200);
  }
});

test('what is watched is sent as a table, as metadata and in another version as ever', async () => {
  await both((api) => api.post(PODS, pod()));
  const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };
  await both((api) => api.post(SCALERS, { metadata: { name: 's' }, spec: { scaleTargetRef, maxReplicas: 5 } }));
  const old = '/apis/autoscaling/v1/namespaces/n/horizontalpodautoscalers';
  const patch = { metadata: { labels: { changed: 'yes' } } };
  for (const [collection, name] of [
    [PODS, 'a'],
    [old, 's'],
  ] as const) {
    for (const form of [...FORMS, undefined]) {
      const accept = form === undefined ? 'application/json' : `application/json;as=${form};v=v1;g=meta.k8s.io`;
      const seen: string[][] = [];
      for (const api of [here, there]) {
        workers.done.length = 0;
        const watch = await api.watch(`${collection}?watch=true`, { accept });
        const first = (await watch.nextBytes()).toString();
        await api.patch(`${collection}/${name}`, 'application/merge-patch+json', patch);
        const second = (await watch.nextBytes()).toString();
        await api.patch(`${collection}/${name}`, 'application/merge-patch+json', { metadata: { labels: null } });
        watch.stop();
        await watch.ended;
        seen.push([first, second].map((text) => text.replace(UIDS, 'uid')));
      }
      assert.deepEqual(seen[1], seen[0]);
      if (form !== undefined || collection === old) assert.ok(workers.done.includes('render event'), `${accept}`);
    }
  }
});

test('CRDs have their conditions and their kinds are published as ever', async () => {
  workers.done.length = 0;
  for (const api of [here, there]) {
    await api.post(DEFINITIONS, definition('^a'));
    await served(api);
  }
  assert.ok(workers.done.includes('computeConditions'));
  const documents = [here, there].map((api) =>
    createOpenApi({
      endpoints: () => api.resources.all(),
      mediaTypes: MEDIA_TYPES,
      version: '1.34',
      enums: true,
      beside: new Map(),
      workers: api.resources.workers,
      now: () => new Date(0),
    }),
  );
  const versions = { v2: '/openapi/v2', v3: '/openapi/v3/apis/example.test/v1' };
  for (const [form, path] of Object.entries(versions)) {
    for (const accept of ['application/json', `application/com.github.proto-openapi.spec.${form}@v1.0+protobuf`]) {
      const request = { method: 'GET', path, headers: { accept }, query: new URLSearchParams() };
      const [one, other] = await Promise.all(documents.map(async ({ handle }) => handle(request as never, path)));
      assert.equal(one?.status, 200);
      assert.deepEqual(other, one);
    }
  }
  for (const name of ['publish', 'encode-document']) assert.ok(workers.done.includes(name), name);
});

test('custom resources have the rules of their definition, of each version its own', async () => {
  for (const api of [here, there]) {
    assert.equal((await api.post(DEFINITIONS, definition('^a'))).status, 201);
    await served(api);
  }
  const thing = (name: string, spec: object): object => ({
    apiVersion: 'example.test/v1',
    kind: 'Thing',
    metadata: { name },
    spec,
  });
  const made = await both((api) => api.post(THINGS, thing('t', { lo: 1, note: 'ab', nobody: 'knows' })), ['prepare']);
  assert.deepEqual([made.status, made.body.spec], [201, { hi: 9, lo: 1, note: 'ab' }]);
  assert.equal((await both((api) => api.post(THINGS, thing('u', { lo: 10 })))).status, 422);
  assert.equal((await both((api) => api.post(THINGS, thing('u', { lo: 'x', note: 'b' })))).status, 422);
  const version = made.body.metadata.resourceVersion ?? '';
  const patch = { metadata: { resourceVersion: version }, spec: { note: 'b' } };
  const refused = await both((api) => api.patch(`${THINGS}/t`, 'application/merge-patch+json', patch), ['prepare']);
  assert.equal(refused.status, 422);
  const old = { ...thing('o', { lo: 1, note: 'any' }), apiVersion: 'example.test/v1beta1' };
  assert.equal((await both((api) => api.post(OLD_THINGS, old), ['prepare'])).status, 201);
  for (const api of [here, there]) {
    const { body } = await api.get(`${DEFINITIONS}/things.example.test`);
    const newer = {
      ...definition('^b'),
      metadata: { name: body.metadata.name, resourceVersion: body.metadata.resourceVersion },
    };
    assert.equal((await api.put(`${DEFINITIONS}/things.example.test`, newer)).status, 200);
    await pollUntil(
      async () => (await api.post(`${THINGS}?dryRun=All`, thing('w', { lo: 1, note: 'b' }))).status === 201,
    );
  }
  assert.equal((await both((api) => api.post(THINGS, thing('w', { lo: 1, note: 'b' })), ['prepare'])).status, 201);
});

test('what a webhook wants changed is applied to an object, refused and reported as ever', async () => {
  for (const api of [here, there]) {
    assert.equal((await api.post(DEFINITIONS, definition('^a'))).status, 201);
    await served(api);
  }
  const podKind = { group: '', version: 'v1', kind: 'Pod' };
  const podResource = { group: '', version: 'v1', resource: 'pods' };
  const thingKind = { group: 'example.test', version: 'v1', kind: 'Thing' };
  const thingResource = { group: 'example.test', version: 'v1', resource: 'things' };
  const made = { kind: 'Pod', apiVersion: 'v1', ...pod() };
  const thing = { kind: 'Thing', apiVersion: 'example.test/v1', metadata: { name: 't' }, spec: { lo: 1 } };
  for (const [resource, kind, object, patch] of [
    [podResource, podKind, made, [{ op: 'add', path: '/spec/volumes', value: [{ name: 'v', emptyDir: {} }] }]],
    [podResource, podKind, made, [{ op: 'add', path: '/metadata/annotations', value: {} }]],
    [podResource, podKind, made, [{ op: 'remove', path: '/spec/nothing' }]],
    [podResource, podKind, made, [{ op: 'replace', path: '/spec', value: 3 }]],
    [podResource, podKind, made, [{ op: 'replace', path: '/kind', value: 'Node' }]],
    [thingResource, thingKind, thing, [{ op: 'add', path: '/spec/unknown', value: { a: [1.5, null] } }]],
    [thingResource, thingKind, thing, [{ op: 'remove', path: '/spec' }]],
  ] as const) {
    const [one, other] = [servedResources(here.resources), servedResources(there.resources)];
    const resultOf = async (make: () => Promise<PatchMade | undefined> | PatchMade): Promise<object> => {
      try {
        const result = await make();
        assert.ok(result);
        return { ...result, unpruned: needsPruning(result.object) };
      } catch (error) {
        assert.ok(error instanceof StatusError, String(error));
        return { code: error.code, reason: error.reason, message: error.message };
      }
    };
    workers.done.length = 0;
    const fromThere = await resultOf(() =>
      Promise.resolve(other.patch?.({ resource, kind }, object, Buffer.from(JSON.stringify(patch)), assert.fail)),
    );
    const fromHere = await resultOf(() =>
      patchedObject(object as unknown as JsonObject, patch, (tree) => one.toStored(resource, kind, tree)),
    );
    assert.deepEqual(fromThere, fromHere);
    assert.deepEqual(workers.done, ['patch']);
  }
});

test('what needs the server is not done on a worker', () => {
  const world = new WorkerContext({
    features: [],
    compatibility: { major: 1, minor: 33 },
    kindOptions: { allowPrivileged: true, eventTtlSeconds: 3600 },
  });
  const kind = { group: 'certificates.k8s.io', plural: 'nothings' };
  assert.throws(() => world.do('prepare', { kind, object: Buffer.from('{}') }), RunInline);
  assert.throws(() => world.do('dance', {}), /nobody knows how to dance/);
});

async function served(api: TestApi): Promise<void> {
  await pollUntil(async () => (await api.get(THINGS)).status === 200);
}

const DEPLOYMENT = {
  metadata: { name: 'd' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};

const WRONG_PATCHES: readonly (readonly [string, object | string])[] = [
  ['application/merge-patch+json', '{"spec":'],
  ['application/merge-patch+json', { spec: { replicas: 'x' } }],
  ['application/merge-patch+json', { metadata: { name: 'e' } }],
  ['application/merge-patch+json', { spec: { selector: { matchLabels: { a: 'c' } } } }],
  ['application/strategic-merge-patch+json', '[]'],
  ['application/strategic-merge-patch+json', { spec: { template: 3 } }],
  ['application/json-patch+json', [{ op: 'test', path: '/spec/replicas', value: 100 }]],
  ['application/json-patch+json', [{ op: 'no', path: '/spec' }]],
  ['application/apply-patch+yaml', 'a: ['],
  ['application/apply-patch+yaml', '[]'],
  ['application/apply-patch+yaml', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: 3 }],
];

const definition = (pattern: string): { metadata: object; spec: object } => ({
  metadata: { name: 'things.example.test' },
  spec: {
    group: 'example.test',
    scope: 'Namespaced',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    versions: ['v1', 'v1beta1'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      subresources: { status: {}, scale: { specReplicasPath: '.spec.lo', statusReplicasPath: '.status.lo' } },
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: {
              type: 'object',
              properties: {
                lo: { type: 'integer' },
                hi: { type: 'integer', default: 9 },
                note: { type: 'string', ...(name === 'v1' && { pattern }) },
              },
              'x-kubernetes-validations': [{ rule: 'self.lo <= self.hi', message: 'lo is over hi' }],
            },
          },
        },
      },
    })),
  },
});
