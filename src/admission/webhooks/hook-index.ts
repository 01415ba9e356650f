// The webhooks of all configurations of one kind, in the order they are called.
import type { CompiledPolicy, PolicyCompiler } from '../../cel/compiled-policy.js';
import type { KubeObject } from '../../machinery/object.js';
import type { MutatingWebhook, MutatingWebhookConfiguration } from '../../schema/generated/admissionregistration.v1.js';
import { type Criteria, criteriaOf } from '../matching/match.js';

export interface Hook {
  /** Tells hooks apart that have one name in one configuration. */
  readonly id: string;
  readonly configuration: string;
  readonly name: string;
  /** A validating webhook has the same members but for `reinvocationPolicy`. */
  readonly spec: Readonly<MutatingWebhook>;
  readonly criteria: Criteria;
  /** Absent when the hook has no match conditions. Compiled on first use. */
  readonly conditions?: () => CompiledPolicy;
}

export class HookIndex {
  private readonly configurations = new Map<string, readonly Hook[]>();
  private ordered: readonly Hook[] | undefined;

  constructor(private readonly compiler: PolicyCompiler) {}

  get hooks(): readonly Hook[] {
    return (this.ordered ??= this.order());
  }

  put(object: Readonly<KubeObject>): void {
    const { metadata, webhooks = [] } = object as Readonly<MutatingWebhookConfiguration>;
    const { name = '' } = metadata;
    const counts = new Map<string, number>();
    const hooks = webhooks.map((spec) => {
      const count = counts.get(spec.name) ?? 0;
      counts.set(spec.name, count + 1);
      return this.hookOf(name, spec, count);
    });
    this.configurations.set(name, hooks);
    this.ordered = undefined;
  }

  remove(name: string): void {
    if (this.configurations.delete(name)) this.ordered = undefined;
  }

  private hookOf(configuration: string, spec: Readonly<MutatingWebhook>, count: number): Hook {
    const { name, rules = [], matchConditions = [] } = spec;
    const conditions = matchConditions.map(({ expression }) => expression);
    let compiled: CompiledPolicy | undefined;
    return {
      id: `${configuration}/${name}/${count}`,
      configuration,
      name,
      spec,
      // What lies in the store from older days has not all of its defaults.
      criteria: criteriaOf({
        resourceRules: rules,
        matchPolicy: spec.matchPolicy ?? 'Equivalent',
        namespaceSelector: spec.namespaceSelector ?? {},
        objectSelector: spec.objectSelector ?? {},
      }),
      ...(conditions.length > 0 && {
        conditions: () =>
          (compiled ??= this.compiler.compilePolicy({ ...NO_EXPRESSIONS, matchConditions: conditions })),
      }),
    };
  }

  private order(): readonly Hook[] {
    const names = [...this.configurations.keys()].sort();
    const hooks = names.flatMap((name) => this.configurations.get(name) ?? []);
    // A hook without rules is never called.
    return hooks.filter(({ spec }) => (spec.rules ?? []).length > 0);
  }
}

const NO_EXPRESSIONS = {
  owner: 'webhook',
  params: false,
  variables: [],
  validations: [],
  messages: [],
  auditAnnotations: [],
} as const;
