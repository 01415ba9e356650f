import type { CompiledPolicy, PolicyCompiler } from '../../cel/compiled-policy.js';
import type {
  ValidatingAdmissionPolicyBindingSpec,
  ValidatingAdmissionPolicySpec,
} from '../../schema/generated/admissionregistration.v1.js';
import type { PolicySource } from './policy-informers.js';
import type { BoundPolicy, PolicyBinding } from './policy-index.js';

export type ValidatingPolicies = PolicySource<ValidatingAdmissionPolicySpec, ValidatingAdmissionPolicyBindingSpec>;
export type ValidatingPolicy = BoundPolicy<ValidatingAdmissionPolicySpec, ValidatingAdmissionPolicyBindingSpec>;
export type ValidatingBinding = PolicyBinding<ValidatingAdmissionPolicyBindingSpec>;

export const compileValidatingPolicy = (
  compiler: PolicyCompiler,
  spec: Readonly<ValidatingAdmissionPolicySpec>,
): CompiledPolicy =>
  compiler.compilePolicy({
    owner: 'validating-policy',
    params: spec.paramKind !== undefined,
    variables: spec.variables ?? [],
    matchConditions: (spec.matchConditions ?? []).map(({ expression }) => expression),
    validations: (spec.validations ?? []).map(({ expression }) => expression),
    messages: (spec.validations ?? []).map(({ messageExpression = '' }) => messageExpression),
    auditAnnotations: (spec.auditAnnotations ?? []).map(({ valueExpression }) => valueExpression),
  });
