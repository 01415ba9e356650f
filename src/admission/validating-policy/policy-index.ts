// The policies there are, with their bindings. A policy without a binding does nothing, nor a binding without a policy.
import type { CompiledPolicy, PolicyCompiler } from '../../cel/compiled-policy.js';
import type { KubeObject } from '../../machinery/object.js';
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicyBindingSpec,
  ValidatingAdmissionPolicySpec,
} from '../../schema/generated/admissionregistration.v1.js';
import { type Criteria, criteriaOf } from './match.js';

export interface BoundPolicy {
  readonly name: string;
  readonly spec: Readonly<ValidatingAdmissionPolicySpec>;
  /** Absent when the policy says nothing of what it is for. */
  readonly criteria?: Criteria;
  readonly bindings: readonly PolicyBinding[];
  /** Compiled on first use, and once for each generation of the policy. */
  compiled(): CompiledPolicy;
}

export interface PolicyBinding {
  readonly name: string;
  readonly spec: Readonly<ValidatingAdmissionPolicyBindingSpec>;
  /** Absent when the binding leaves it to the policy. */
  readonly criteria?: Criteria;
}

type KnownPolicy = Omit<BoundPolicy, 'bindings'> & { readonly identity: string };

export class PolicyIndex {
  private readonly policies = new Map<string, KnownPolicy>();
  private readonly bindings = new Map<string, PolicyBinding>();
  private inForce: readonly BoundPolicy[] | undefined;

  constructor(private readonly compiler: PolicyCompiler) {}

  /** Those that may decide about a request, by name. */
  get bound(): readonly BoundPolicy[] {
    return (this.inForce ??= this.bind());
  }

  putPolicy(object: Readonly<KubeObject>): void {
    const { metadata, spec } = object as Readonly<ValidatingAdmissionPolicy>;
    const { name = '', uid = '', generation = 0 } = metadata;
    const identity = `${uid}/${generation}`;
    // A new status changes nothing here.
    if (this.policies.get(name)?.identity === identity) return;
    let compiled: CompiledPolicy | undefined;
    this.policies.set(name, {
      name,
      identity,
      spec,
      ...(spec.matchConstraints && { criteria: criteriaOf(spec.matchConstraints) }),
      compiled: () => (compiled ??= this.compiler.compilePolicy(sourceOf(spec))),
    });
    this.inForce = undefined;
  }

  removePolicy(name: string): void {
    if (this.policies.delete(name)) this.inForce = undefined;
  }

  putBinding(object: Readonly<KubeObject>): void {
    const { metadata, spec } = object as Readonly<ValidatingAdmissionPolicyBinding>;
    const { name = '' } = metadata;
    const criteria = spec.matchResources && { criteria: criteriaOf(spec.matchResources) };
    this.bindings.set(name, { name, spec, ...criteria });
    this.inForce = undefined;
  }

  removeBinding(name: string): void {
    if (this.bindings.delete(name)) this.inForce = undefined;
  }

  private bind(): readonly BoundPolicy[] {
    const byPolicy = new Map<string, PolicyBinding[]>();
    for (const binding of this.bindings.values()) {
      const { policyName = '' } = binding.spec;
      const others = byPolicy.get(policyName);
      if (others === undefined) byPolicy.set(policyName, [binding]);
      else others.push(binding);
    }
    return [...this.policies.values()].toSorted(byName).flatMap((policy) => {
      const bindings = byPolicy.get(policy.name);
      return bindings === undefined ? [] : [{ ...policy, bindings: bindings.toSorted(byName) }];
    });
  }
}

const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);

const sourceOf = (spec: Readonly<ValidatingAdmissionPolicySpec>) => ({
  params: spec.paramKind !== undefined,
  variables: spec.variables ?? [],
  matchConditions: (spec.matchConditions ?? []).map(({ expression }) => expression),
  validations: (spec.validations ?? []).map(({ expression }) => expression),
  messages: (spec.validations ?? []).map(({ messageExpression = '' }) => messageExpression),
  auditAnnotations: (spec.auditAnnotations ?? []).map(({ valueExpression }) => valueExpression),
});
