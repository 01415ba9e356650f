import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { GroupVersionKind, JsonObject, KubeObject } from '../../machinery/object.js';
import { StatusError } from '../../machinery/status.js';
import { typeOf } from '../../schema/catalogue.js';
import type { StructType, Unstructured } from '../../schema/type.js';
import type { MutatingAdmissionPolicySpec, Mutation } from '../../schema/generated/admissionregistration.v1beta1.js';
import { DecodeError, decodeTree } from '../../schema/json/decode.js';
import { createChain } from '../chain.js';
import { compileMutatingPolicy, type MutatingPolicies } from '../mutating-policy/compile.js';
import { mutationMetrics } from '../mutating-policy/metrics.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';
import { conditionMetrics } from '../condition-metrics.js';
import { testAttributes, type TestWrite } from '../test-attributes.js';
import { policyMetrics } from '../validating-policy/metrics.js';
import { PolicyIndex } from '../validating-policy/policy-index.js';
import { compiler, EVERYTHING } from '../validating-policy/testing.js';
import { mutatingAdmissionPolicy, type MutatingPolicyParts } from './mutating-admission-policy.js';

const NAMESPACE = { metadata: { name: 'ns', labels: { env: 'prod' } } };

const applied = (expression: string): Mutation => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
});
const patched = (expression: string): Mutation => ({ patchType: 'JSONPatch', jsonPatch: { expression } });

const find = ({ group, version, kind }: GroupVersionKind) => typeOf(group, version, kind);
const SERVED: MutatingPolicyParts['served'] = {
  equivalentsOf: () => [],
  convert: () => undefined,
  inVersion: (_resource, object) => object,
  encode: (_resource, _kind, object) => JSON.stringify(object),
  typeOf: (kind) => (kind.kind === 'Scale' ? undefined : find(kind)),
  toStored(_resource, kind, tree, strict = false) {
    const type = find(kind);
    assert.ok(type);
    const { object, strictErrors } = decodeTree(type, tree, { strict });
    if (strictErrors.length > 0) throw new DecodeError(strictErrors.join());
    return object as unknown as KubeObject;
  },
};

type Spec = Partial<MutatingAdmissionPolicySpec>;

function pluginWith(policies: Readonly<Record<string, Spec>>, parts: Partial<MutatingPolicyParts> = {}) {
  const index: PolicyIndex<MutatingAdmissionPolicySpec, object> = new PolicyIndex((spec) =>
    compileMutatingPolicy(compiler, spec),
  );
  for (const [name, spec] of Object.entries(policies)) {
    const metadata = { name, uid: name, generation: 1 };
    index.putPolicy({ metadata, spec: { failurePolicy: 'Fail', matchConstraints: EVERYTHING, ...spec } } as KubeObject);
    index.putBinding({ metadata: { name: `${name}-0` }, spec: { policyName: name } } as KubeObject);
  }
  return mutatingAdmissionPolicy({
    source: { ready: true, whenReady: async () => true, bound: index.bound } as MutatingPolicies,
    served: SERVED,
    authorizer: { authorize: () => ({ decision: 'no-opinion', reason: '' }) },
    resourceOf: () => undefined,
    ...parts,
  });
}

const configMap = (data: object, more: Partial<TestWrite> = {}): AdmissionAttributes =>
  testAttributes({
    resource: 'configmaps',
    kind: 'ConfigMap',
    object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'm' }, data },
    world: { namespaces: [NAMESPACE] },
    ...more,
  });

const dataOf = ({ object }: AdmissionAttributes): unknown => (object as unknown as JsonObject)['data'];

async function admit(plugin: AdmissionPlugin, attributes: AdmissionAttributes): Promise<StatusError | undefined> {
  try {
    await createChain([plugin]).admit(attributes);
    return undefined;
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
}

describe('MutatingAdmissionPolicy', () => {
  it('costs nothing without policies, and never looks at a DELETE', () => {
    assert.equal(createChain([pluginWith({})]).admit(configMap({})), undefined);
    assert.equal(pluginWith({}).handles('DELETE'), false);
  });

  it('applies mutations in order, each on what the one before made', async () => {
    const write = configMap({ a: '1' });
    const mutations = [
      applied('Object{data: {"n": "1"}}'),
      patched('[JSONPatch{op: "replace", path: "/data/n", value: object.data.n + "2"}]'),
      applied('Object{data: {"n": object.data.n + string(namespaceObject.metadata.labels.env)}}'),
    ];
    assert.equal(await admit(pluginWith({ p: { mutations } }), write), undefined);
    assert.deepEqual(dataOf(write), { a: '1', n: '12prod' });
  });

  it('refuses with what went wrong, unless the policy lets itself be ignored: then its other mutations count', async () => {
    const mutations = [
      applied('Object{data: {"first": "done"}}'),
      applied('Object{data: {"second": string(object.data.none)}}'),
      applied('Object{data: {"third": "done"}}'),
    ];
    const refused = await admit(pluginWith({ p: { mutations } }), configMap({ a: '1' }));
    const message = `policy 'p' with binding 'p-0' denied request: expression '${mutations[1]?.applyConfiguration?.expression}' resulted in error: no such key: none`;
    assert.deepEqual([refused?.code, refused?.reason, refused?.message], [403, 'Invalid', message]);
    assert.deepEqual(refused?.details?.causes, [{ message }]);
    const write = configMap({ a: '1' });
    assert.equal(await admit(pluginWith({ p: { mutations, failurePolicy: 'Ignore' } }), write), undefined);
    assert.deepEqual(dataOf(write), { a: '1', first: 'done', third: 'done' });
  });

  it('leaves the object alone when the test in a patch fails', async () => {
    const write = configMap({ a: '1' });
    const mutations = [
      patched(
        '[JSONPatch{op: "add", path: "/data/b", value: "x"}, JSONPatch{op: "test", path: "/data/a", value: "2"}]',
      ),
    ];
    assert.equal(await admit(pluginWith({ p: { mutations } }), write), undefined);
    assert.deepEqual(dataOf(write), { a: '1' });
  });

  it('refuses a patch whose result is no object of the kind, whatever the failure policy', async () => {
    const mutations = [patched('[JSONPatch{op: "add", path: "/colour", value: "red"}]')];
    const refused = await admit(pluginWith({ p: { mutations, failurePolicy: 'Ignore' } }), configMap({}));
    assert.deepEqual([refused?.code, refused?.message], [500, 'Internal error occurred: unknown field "colour"']);
  });

  it('says what an apply configuration may not do', async () => {
    const refusalOf = async (expression: string): Promise<string | undefined> => {
      const object = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p' }, spec: { containers: [{ name: 'c' }] } };
      const write = testAttributes({ resource: 'pods', kind: 'Pod', object, world: { namespaces: [NAMESPACE] } });
      const refused = await admit(pluginWith({ p: { mutations: [applied(expression)] } }), write);
      return refused?.message.replace("policy 'p' with binding 'p-0' denied request: ", '');
    };
    assert.equal(
      await refusalOf('Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", args: ["a"]}]}}'),
      'error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.containers[0].args',
    );
    assert.equal(
      await refusalOf('Object{spec: Object.spec{containers: [Object.spec.volumes{name: "c"}]}}'),
      'type mismatch: unexpected type name "Object.spec.volumes", expected "Object.spec.containers", which matches field name path from root Object type',
    );
    assert.equal(
      await refusalOf('Object{spec: Object.spec{colour: "red"}}'),
      'error applying patch: failed to convert patch object to typed object: .spec.colour: field not declared in schema',
    );
    assert.equal(
      await refusalOf('Object{metadata: Object.metadata{labels: {1: "a"}}}'),
      'invalid return type: *dynamic.ObjectVal',
    );
    assert.equal(
      await refusalOf('Object{metadata: Object.metadata{labels: {"a": {"b": "c"}}}}'),
      'error applying patch: failed to convert patch object to typed object: .metadata.labels.a: expected map, got &{map[b:c]}',
    );
    assert.equal(
      await refusalOf('Object{metadata: Object.metadata{finalizers: [["a"]]}}'),
      'error applying patch: failed to convert patch object to typed object: .metadata.finalizers[0]: expected list, got &{[a]}',
    );
    const untyped = 'error applying patch: failed to convert patch object to typed object: ';
    assert.equal(
      await refusalOf('Object{metadata: Object.metadata{labels: {"a": null}}}'),
      `${untyped}.metadata.labels.a: expected string, got &value.valueUnstructured{Value:0}`,
    );
    assert.equal(
      await refusalOf('Object{spec: Object.spec{activeDeadlineSeconds: object.?nope.orValue(null)}}'),
      `${untyped}.spec.activeDeadlineSeconds: expected numeric (int or float), got structpb.NullValue`,
    );
    assert.equal(
      await refusalOf('Object{spec: Object.spec{hostNetwork: null, nodeSelector: null}}'),
      `${untyped}errors:\n  .spec.hostNetwork: expected boolean, got &{NULL_VALUE}\n  .spec.nodeSelector: expected map, got &{NULL_VALUE}`,
    );
    assert.match((await refusalOf('Object{spec: Object.spec{hostname: duration("1s")}}')) ?? '', /unsupported value/);
  });

  it('runs a policy again that requests it, also for its own change, but only once', async () => {
    const grow = (name: string) =>
      applied(`Object{data: {"${name}": ("${name}" in object.data ? object.data.${name} : "") + "x"}}`);
    const write = configMap({ a: '1' });
    const plugin = pluginWith({
      never: { reinvocationPolicy: 'Never', mutations: [grow('never')] },
      needed: { reinvocationPolicy: 'IfNeeded', mutations: [grow('needed')] },
    });
    assert.equal(await admit(plugin, write), undefined);
    assert.deepEqual(dataOf(write), { a: '1', needed: 'xx', never: 'x' });
  });

  it('does not begin with a policy in the second round', async () => {
    const late = {
      reinvocationPolicy: 'IfNeeded' as const,
      matchConditions: [{ name: 'made', expression: '"made" in object.data' }],
      mutations: [applied('Object{data: {"late": "yes"}}')],
    };
    const write = configMap({ a: '1' });
    await admit(pluginWith({ a: late, b: { mutations: [applied('Object{data: {"made": "yes"}}')] } }), write);
    assert.deepEqual(dataOf(write), { a: '1', made: 'yes' });
  });

  it('writes through what a subresource shows, and applies nothing to a kind without a schema', async () => {
    const scaled = (): AdmissionAttributes => ({
      ...configMap({}),
      view: {
        kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
        of: (object) =>
          ({
            kind: 'Scale',
            apiVersion: 'autoscaling/v1',
            metadata: object.metadata,
            spec: { replicas: 1 },
          }) as KubeObject,
        write(object, view) {
          object.metadata.labels = {
            replicas: String((view as unknown as { spec: { replicas: number } }).spec.replicas),
          };
        },
      },
    });
    const write = scaled();
    const mutations = [patched('[JSONPatch{op: "replace", path: "/spec/replicas", value: object.spec.replicas + 1}]')];
    assert.equal(await admit(pluginWith({ p: { mutations } }), write), undefined);
    assert.deepEqual(write.object?.metadata.labels, { replicas: '2' });
    const refused = await admit(pluginWith({ p: { mutations: [applied('Object{}')] } }), scaled());
    assert.match(refused?.message ?? '', /no corresponding type for autoscaling\/v1, Kind=Scale$/);
    const custom = { ...(typeOf('', 'v1', 'ConfigMap') as StructType), unstructured: {} as Unstructured };
    const foreign = { ...SERVED, typeOf: (kind: GroupVersionKind) => (kind.kind === 'ConfigMap' ? custom : undefined) };
    const unconverted = await admit(pluginWith({ p: { mutations } }, { served: foreign }), scaled());
    assert.match(unconverted?.message ?? '', /request to convert CR to an invalid group\/version: autoscaling\/v1$/);
  });

  it('stops a mutation that costs too much', async () => {
    const registry = new MetricRegistry();
    const recorder = { ...policyMetrics(registry, conditionMetrics(registry)), ...mutationMetrics(registry) };
    const numbers = `[${Array.from({ length: 200 }, (_, i) => i).join()}]`;
    const expensive = `${numbers}.map(a, ${numbers}.map(b, ${numbers}.map(c, a + b + c)))`;
    const mutations = [applied(`Object{data: {"n": string(size(${expensive}))}}`)];
    const refused = await admit(pluginWith({ p: { mutations } }, { recorder }), configMap({}));
    assert.match(refused?.message ?? '', /operation cancelled: actual cost limit exceeded$/);
    assert.match(
      registry.text(),
      /apiserver_mutating_admission_policy_check_total\{error_type="invalid_error",policy="p",policy_binding="p-0"\} 1/,
    );
  });
});
