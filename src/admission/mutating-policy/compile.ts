import type { CompiledPolicy, MutationSource, PolicyCompiler } from '../../cel/compiled-policy.js';
import type {
  MutatingAdmissionPolicyBindingSpec,
  MutatingAdmissionPolicySpec,
  Mutation,
} from '../../schema/generated/admissionregistration.v1beta1.js';
import type { PolicySource } from '../validating-policy/policy-informers.js';
import type { BoundPolicy, PolicyBinding } from '../validating-policy/policy-index.js';

export type MutatingPolicies = PolicySource<MutatingAdmissionPolicySpec, MutatingAdmissionPolicyBindingSpec>;
export type MutatingPolicy = BoundPolicy<MutatingAdmissionPolicySpec, MutatingAdmissionPolicyBindingSpec>;
export type MutatingBinding = PolicyBinding<MutatingAdmissionPolicyBindingSpec>;

export const compileMutatingPolicy = (
  compiler: PolicyCompiler,
  spec: Readonly<MutatingAdmissionPolicySpec>,
): CompiledPolicy =>
  compiler.compilePolicy({
    owner: 'mutating-policy',
    params: spec.paramKind !== undefined,
    variables: spec.variables ?? [],
    matchConditions: (spec.matchConditions ?? []).map(({ expression }) => expression),
    validations: [],
    messages: [],
    auditAnnotations: [],
    mutations: (spec.mutations ?? []).map(mutationSource),
  });

const mutationSource = ({ patchType, applyConfiguration, jsonPatch }: Mutation): MutationSource =>
  patchType === 'JSONPatch'
    ? { use: 'json-patch', expression: jsonPatch?.expression ?? '' }
    : { use: 'apply-configuration', expression: applyConfiguration?.expression ?? '' };
