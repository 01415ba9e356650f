// Policies to try on writes, without a server.
import { kubernetesExpressions } from '../../cel/environments/kubernetes-expressions.js';
import type { GroupVersionKind, KubeObject } from '../../machinery/object.js';
import type {
  MatchResources,
  ValidatingAdmissionPolicyBindingSpec,
  ValidatingAdmissionPolicySpec,
} from '../../schema/generated/admissionregistration.v1.js';
import type { AdmissionPlugin } from '../plugin.js';
import { validatingAdmissionPolicy, type ValidatingPolicyParts } from '../plugins/validating-admission-policy.js';
import { compileValidatingPolicy } from './compile.js';
import { PolicyIndex } from './policy-index.js';

export const compiler = kubernetesExpressions({
  compatibility: { major: 1, minor: 34 },
  features: { enabled: () => true },
});

export interface TestPolicy {
  readonly name?: string;
  readonly spec?: Partial<ValidatingAdmissionPolicySpec>;
  /** What each binding says beside the policy's name; one that denies when absent. */
  readonly bindings?: readonly object[];
}

export const EVERYTHING: MatchResources = {
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  resourceRules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*', '*/*'] }],
};

export const policyObject = ({ name = 'policy', spec = {} }: TestPolicy, generation = 1): KubeObject =>
  ({
    metadata: { name, uid: name, generation },
    spec: { failurePolicy: 'Fail', matchConstraints: EVERYTHING, ...spec },
  }) as KubeObject;

export const bindingObject = (name: string, policyName: string, spec: object): KubeObject =>
  ({ metadata: { name }, spec: { policyName, validationActions: ['Deny'], ...spec } }) as KubeObject;

export type TestIndex = PolicyIndex<ValidatingAdmissionPolicySpec, ValidatingAdmissionPolicyBindingSpec>;

export function indexOf(...policies: readonly TestPolicy[]): TestIndex {
  const index: TestIndex = new PolicyIndex((spec) => compileValidatingPolicy(compiler, spec));
  for (const policy of policies) {
    const { name = 'policy', bindings = [{}] } = policy;
    index.putPolicy(policyObject(policy));
    for (const [i, binding] of bindings.entries()) index.putBinding(bindingObject(`${name}-${i}`, name, binding));
  }
  return index;
}

export function pluginFor(index: TestIndex, parts: Partial<ValidatingPolicyParts> = {}): AdmissionPlugin {
  const kinds: Readonly<Record<string, { readonly resource: string; readonly namespaced: boolean }>> = {
    ConfigMap: { resource: 'configmaps', namespaced: true },
    Node: { resource: 'nodes', namespaced: false },
  };
  return validatingAdmissionPolicy({
    source: {
      ready: true,
      whenReady: async () => true,
      get bound() {
        return index.bound;
      },
    },
    served: {
      equivalentsOf: () => [],
      convert: () => undefined,
      inVersion: (_resource, object) => object,
      encode: (_resource, _kind, object) => JSON.stringify(object),
      toStored: (_resource, _kind, tree) => tree as KubeObject,
      typeOf: () => undefined,
    },
    authorizer: { authorize: () => ({ decision: 'no-opinion', reason: '' }) },
    resourceOf: ({ kind }: GroupVersionKind) => kinds[kind],
    ...parts,
  });
}
