import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonSets } from '../../apis/apps/daemonset/definition.js';
import { deployments } from '../../apis/apps/deployment/definition.js';
import { horizontalPodAutoscalers } from '../../apis/autoscaling/horizontal-pod-autoscaler.js';
import { cronJobs } from '../../apis/batch/cronjob/definition.js';
import { ingresses } from '../../apis/networking/ingress/definition.js';
import { podDisruptionBudgets } from '../../apis/policy/pod-disruption-budget.js';
import { configMaps } from '../../apis/core/configmap/definition.js';
import type { KubeObject } from '../../machinery/object.js';
import type { KindDefinition } from '../../registry/kind.js';
import { encodeJson } from '../../schema/json/encode.js';
import { typeOf } from '../../schema/catalogue.js';
import { servedResources } from './served-resources.js';
import { TestApi } from '../testing/test-api.js';

const KIND = { group: '', version: 'v1', kind: 'ConfigMap' };
const RESOURCE = { group: '', version: 'v1', resource: 'configmaps' };

test('what a webhook is sent of a large object is encoded cooperatively, as that of a small one', async () => {
  const api = new TestApi({ kinds: [configMaps] });
  const served = servedResources(api.resources);
  const type = typeOf('', 'v1', 'ConfigMap');
  assert.ok(type);
  for (const count of [3, 50_000]) {
    const data = Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'é']));
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', labels: {} }, data } as KubeObject;
    const encoded = served.encode(RESOURCE, KIND, object);
    assert.equal(encoded instanceof Promise, count > 3);
    assert.equal(String(await encoded), encodeJson(type, object));
  }
  api.resources.close();
});

test('what a webhook made of an object is read as what it says it is, or fails with the reason', () => {
  const api = new TestApi({ kinds: [configMaps] });
  const served = servedResources(api.resources);
  const made = (change: object): unknown => {
    const tree = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { k: 'v' }, ...change };
    try {
      return served.toStored(RESOURCE, KIND, tree).kind;
    } catch (error) {
      return error instanceof Error ? error.message.replace(/ in scheme .*/, '') : error;
    }
  };
  assert.equal(made({ kind: null, apiVersion: '' }), 'ConfigMap');
  assert.equal(made({ kind: 'Secret' }), 'illegal base64 data at input byte 0');
  assert.match(String(made({ kind: 'Secret', data: {} })), /^converting \(v1\.Secret\) to /);
  assert.equal(made({ apiVersion: 'a/b/c' }), 'unexpected GroupVersion string: a/b/c');
  assert.equal(
    made({ kind: 5 }),
    "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string",
  );
  assert.equal(made({ kind: 'Foo' }), 'no kind "Foo" is registered for version "v1"');
  api.resources.close();
});

const POD = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const BUDGET = { spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } } };

interface Former {
  readonly definition: unknown;
  readonly version?: string;
  readonly object: object;
  /** Of which kube-apiserver has no type of this kind, or one with other members. */
  readonly refused: readonly string[];
  readonly read: readonly string[];
}

const FORMER: readonly Former[] = [
  {
    definition: deployments,
    object: { spec: { selector: { matchLabels: { a: 'b' } }, template: POD } },
    read: ['apps/v1beta1', 'apps/v1beta2', 'extensions/v1beta1'],
    refused: ['apps/v9', 'apps/v2', 'nope/v1', 'v1'],
  },
  {
    definition: daemonSets,
    object: { spec: { selector: { matchLabels: { a: 'b' } }, template: POD } },
    read: ['apps/v1beta2', 'extensions/v1beta1'],
    refused: ['apps/v1beta1'],
  },
  {
    definition: cronJobs,
    object: { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: POD } } } },
    read: ['batch/v1beta1'],
    refused: ['batch/v2alpha1'],
  },
  { definition: podDisruptionBudgets, object: BUDGET, read: ['policy/v1beta1'], refused: ['policy/v1alpha1'] },
  {
    definition: horizontalPodAutoscalers,
    version: 'v2',
    object: { spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' } } },
    read: ['autoscaling/v2beta2'],
    refused: ['autoscaling/v2beta1', 'autoscaling/v3'],
  },
  {
    definition: ingresses,
    object: { spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } },
    read: [],
    refused: ['extensions/v1beta1'],
  },
];

test('a webhook’s patch may name a version that is served no more where its members are those of today', () => {
  for (const { definition, version = 'v1', object, read, refused } of FORMER) {
    const { group, kind, plural } = definition as KindDefinition;
    const api = new TestApi({ kinds: [definition as KindDefinition] });
    const served = servedResources(api.resources);
    const own = group === '' ? version : `${group}/${version}`;
    const made = (apiVersion: string): unknown => {
      const tree = structuredClone({ kind, apiVersion, metadata: { name: 'a' }, ...object });
      return served.toStored({ group, version, resource: plural }, { group, version, kind }, tree);
    };
    for (const apiVersion of read) assert.deepEqual(made(apiVersion), made(own), `${kind} ${apiVersion}`);
    for (const apiVersion of refused) {
      const message = `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/api/legacyscheme/scheme.go:30"`;
      assert.throws(() => made(apiVersion), { message });
    }
    api.resources.close();
  }
});

test('a version that is served no more may have meant something else by its members', () => {
  const api = new TestApi({ kinds: [podDisruptionBudgets as unknown as KindDefinition] });
  const served = servedResources(api.resources);
  const [group, version, kind] = ['policy', 'v1', 'PodDisruptionBudget'];
  const selectorOf = (apiVersion: string, selector: object): unknown => {
    const tree = { kind, apiVersion, metadata: { name: 'a' }, spec: { minAvailable: 1, selector } };
    const resource = { group, version, resource: 'poddisruptionbudgets' };
    return (served.toStored(resource, { group, version, kind }, tree) as KubeObject & typeof BUDGET).spec.selector;
  };
  assert.deepEqual(selectorOf('policy/v1', {}), {}, 'all pods');
  const none = { key: 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match', operator: 'Exists' };
  assert.deepEqual(selectorOf('policy/v1beta1', {}), { matchExpressions: [none] });
  api.resources.close();
});

test('a group of which no version is served counts as nobody’s', () => {
  const isBuiltIn = (runtimeConfig: Record<string, string>): boolean => {
    const api = new TestApi({ kinds: [configMaps], runtimeConfig });
    const known = api.resources.isBuiltIn('');
    api.resources.close();
    return known;
  };
  assert.deepEqual([isBuiltIn({}), isBuiltIn({ '/v1': 'false' })], [true, false]);
});
