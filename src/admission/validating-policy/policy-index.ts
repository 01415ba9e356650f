// The policies there are, with their bindings. A policy without a binding does nothing, nor a binding without a policy.
import type { CompiledPolicy } from '../../cel/compiled-policy.js';
import type { KubeObject } from '../../machinery/object.js';
import type { MatchResources, ParamKind, ParamRef } from '../../schema/generated/admissionregistration.v1.js';
import { type Criteria, criteriaOf } from '../matching/match.js';

/** What validating and mutating policies have in common. */
export interface PolicySpec {
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
  readonly failurePolicy?: string;
}

export interface BindingSpec {
  readonly policyName?: string;
  readonly paramRef?: ParamRef;
  readonly matchResources?: MatchResources;
}

export interface BoundPolicy<Spec extends PolicySpec = PolicySpec, Bound extends BindingSpec = BindingSpec> {
  readonly name: string;
  readonly spec: Readonly<Spec>;
  /** Absent when the policy says nothing of what it is for. */
  readonly criteria?: Criteria;
  readonly bindings: readonly PolicyBinding<Bound>[];
  /** Compiled on first use, and once for each generation of the policy. */
  compiled(): CompiledPolicy;
}

export interface PolicyBinding<Bound extends BindingSpec = BindingSpec> {
  readonly name: string;
  readonly spec: Readonly<Bound>;
  /** Absent when the binding leaves it to the policy. */
  readonly criteria?: Criteria;
}

type KnownPolicy<Spec extends PolicySpec> = Omit<BoundPolicy<Spec>, 'bindings'> & { readonly identity: string };

export class PolicyIndex<Spec extends PolicySpec, Bound extends BindingSpec> {
  private readonly policies = new Map<string, KnownPolicy<Spec>>();
  private readonly bindings = new Map<string, PolicyBinding<Bound>>();
  private inForce: readonly BoundPolicy<Spec, Bound>[] | undefined;

  constructor(private readonly compile: (spec: Readonly<Spec>) => CompiledPolicy) {}

  /** Those that may decide about a request, by name. */
  get bound(): readonly BoundPolicy<Spec, Bound>[] {
    return (this.inForce ??= this.bind());
  }

  putPolicy(object: Readonly<KubeObject>): void {
    const { metadata, spec } = object as Readonly<KubeObject> & { readonly spec: Readonly<Spec> };
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
      compiled: () => (compiled ??= this.compile(spec)),
    });
    this.inForce = undefined;
  }

  removePolicy(name: string): void {
    if (this.policies.delete(name)) this.inForce = undefined;
  }

  putBinding(object: Readonly<KubeObject>): void {
    const { metadata, spec } = object as Readonly<KubeObject> & { readonly spec: Readonly<Bound> };
    const { name = '' } = metadata;
    const criteria = spec.matchResources && { criteria: criteriaOf(spec.matchResources) };
    this.bindings.set(name, { name, spec, ...criteria });
    this.inForce = undefined;
  }

  removeBinding(name: string): void {
    if (this.bindings.delete(name)) this.inForce = undefined;
  }

  private bind(): readonly BoundPolicy<Spec, Bound>[] {
    const byPolicy = new Map<string, PolicyBinding<Bound>[]>();
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
