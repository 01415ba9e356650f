// The seam between objects that hold expressions and the engine that compiles them. Kinds validate everything else
// about an expression themselves and use a checker, where they have one, for whether it compiles.
import { type FieldErrors, type FieldPath, forbidden, internal, invalid } from '../machinery/field-error.js';
import type { DeclaredType } from './environments/declared-type.js';
import type { CompileRule } from './environments/schema-rules.js';

export interface ExpressionChecker {
  /** Why the expression may not be used in its environment; undefined when it may. */
  check(expression: string, environment: ExpressionEnvironment): ExpressionFault | undefined;
  /** Compiles rules on a node of a custom resource's schema, whose values have this type. */
  rulesOn(type: DeclaredType): CompileRule;
  /** Observes how long the rules of one object took. */
  evaluated?(seconds: number): void;
}

/** The `cost.rulesWeight` of kinds whose rules compile expressions. */
export const EXPRESSIONS_WEIGHT = 8;

/** What is wrong: with the expression, with what it costs, or when its constant parts are worked out. */
export interface ExpressionFault {
  readonly kind: 'invalid' | 'forbidden' | 'internal';
  readonly detail: string;
}

export type ExpressionEnvironment = PolicyEnvironment | DeviceEnvironment;

/** Expressions of admission policies and webhooks: they see `object`, `oldObject`, `request` and what is said here. */
export interface PolicyEnvironment {
  readonly use:
    | 'match-condition'
    | 'validation'
    | 'message'
    | 'audit-annotation'
    | 'variable'
    | 'apply-configuration'
    | 'json-patch';
  /** `params` is declared. */
  readonly params: boolean;
  /** `authorizer` is declared. */
  readonly authorizer: boolean;
  /** `variables` is declared, whether or not a variable comes before the expression. */
  readonly composed: boolean;
  /** The policy's variables that come before the expression; the same list throughout a policy. */
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  /** The expression was in the stored object, so a newer server's functions are allowed. */
  readonly stored: boolean;
}

/** Selectors of devices: they see `device`, with its driver, attributes and capacity. */
export interface DeviceEnvironment {
  readonly use: 'device-selector';
  /** `device.allowMultipleAllocations` is declared. */
  readonly consumableCapacity: boolean;
  readonly stored: boolean;
}

export interface CheckedExpression {
  readonly expression: string;
  readonly environment: ExpressionEnvironment;
  readonly path: FieldPath;
  /** The text that errors show, when not the expression. */
  readonly shown?: string;
}

/** The checker's verdict as errors at a path, about the text as it was written; none without a checker. */
export function checkExpression(
  checker: ExpressionChecker | undefined,
  { expression, environment, path, shown = expression }: CheckedExpression,
): FieldErrors {
  const fault = checker?.check(expression, environment);
  if (fault === undefined) return [];
  switch (fault.kind) {
    case 'invalid':
      return [invalid(path, shown, fault.detail)];
    case 'forbidden':
      return [forbidden(path, fault.detail)];
    case 'internal':
      return [internal(path, fault.detail)];
  }
}
