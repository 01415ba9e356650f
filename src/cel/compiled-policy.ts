// The seam between admission, which decides what a policy's expressions mean, and the engine that runs them.
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import type { UserInfo } from '../machinery/user.js';
import type { Authorize } from './kubernetes/authorizer.js';

export interface PolicyCompiler {
  /** Never fails: an expression that does not compile yields its error when it is evaluated. */
  compilePolicy(source: PolicySource): CompiledPolicy;
}

/** A policy that the engine evaluates on this thread: nothing is awaited but the evaluation. */
export interface PolicyEngine {
  compilePolicy(source: PolicySource): ImmediatePolicy;
}

/** The expressions of a policy, in groups that are evaluated together. */
export interface PolicySource {
  readonly owner: 'validating-policy' | 'mutating-policy' | 'webhook';
  /** `params` is declared. */
  readonly params: boolean;
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  readonly matchConditions: readonly string[];
  readonly validations: readonly string[];
  /** One for each validation; those without have an empty text. */
  readonly messages: readonly string[];
  readonly auditAnnotations: readonly string[];
  readonly mutations?: readonly MutationSource[];
}

export interface MutationSource {
  readonly use: 'apply-configuration' | 'json-patch';
  readonly expression: string;
}

export type PolicyGroup = 'matchConditions' | 'validations' | 'messages' | 'auditAnnotations';

export interface CompiledPolicy {
  /** Runs one group after the other expression by expression; variables are worked out anew for each group. */
  evaluate(group: PolicyGroup, input: PolicyInput, costBudget: number): MaybePromise<GroupEvaluation>;
  /** The results of mutations. Each has the whole budget, and evaluates its variables anew. */
  mutate(index: number, input: PolicyInput, costBudget: number): MaybePromise<Mutation>;
}

/** `interrupted` is polled: when it returns true, Interrupted is thrown. */
export interface ImmediatePolicy extends CompiledPolicy {
  evaluate(group: PolicyGroup, input: PolicyInput, costBudget: number, interrupted?: () => boolean): GroupEvaluation;
  mutate(index: number, input: PolicyInput, costBudget: number, interrupted?: () => boolean): Mutation;
}

/** Plain JSON, owned by the caller. */
export type Mutation =
  | {
      readonly kind: 'apply-configuration';
      readonly configuration: Record<string, unknown>;
      /** The expression itself put a null somewhere. Nulls copied from objects do not count. */
      readonly makesNull?: boolean;
    }
  | { readonly kind: 'json-patch'; readonly operations: readonly Record<string, unknown>[] }
  | { readonly kind: 'error'; readonly error: string };

/** What expressions see, as JSON; null where there is none. */
export interface PolicyInput {
  readonly object: object | null;
  readonly oldObject: object | null;
  readonly request: object;
  readonly namespaceObject: object | null;
  readonly params: object | null;
  /** Whom and what `authorizer` is about; messages and annotations have none. */
  readonly authorizer?: {
    readonly user: UserInfo;
    readonly ask: Authorize;
    readonly resource: {
      readonly apiGroup: string;
      readonly resource: string;
      readonly subresource: string;
      readonly namespace: string;
      readonly name: string;
    };
  };
}

export type GroupEvaluation =
  | { readonly kind: 'done'; readonly results: readonly ExpressionResult[]; readonly remainingCost: number }
  /** The budget is used up: nothing the group has found so far counts. */
  | { readonly kind: 'out-of-budget'; readonly error: string };

export interface ExpressionResult {
  readonly seconds: number;
  readonly error?: string;
  /** Absent with an error, and where there was no expression. A value that no policy can use has its type here. */
  readonly value?: boolean | string | null | { readonly type: string };
}
