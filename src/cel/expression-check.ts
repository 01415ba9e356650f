// The seam between objects that hold expressions and the engine that compiles them. Kinds validate everything else
// about an expression themselves and ask a checker, where they were given one, whether it compiles.
import type { FieldErrors, FieldPath } from '../machinery/field-error.js';
import { invalid } from '../machinery/field-error.js';

export interface ExpressionChecker {
  /** Why the expression does not compile in its environment; undefined when it does. */
  check(expression: string, environment: ExpressionEnvironment): string | undefined;
}

export type ExpressionEnvironment = PolicyEnvironment | SchemaEnvironment | DeviceEnvironment;

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
  /** The policy's variables that come before the expression. */
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  /** The expression was in the stored object, so a newer server's functions are allowed. */
  readonly stored: boolean;
}

/** Rules of a custom resource's schema: they see `self`, of the type the schema describes. */
export interface SchemaEnvironment {
  readonly use: 'schema-rule' | 'schema-message';
  /** The schema node the rule stands on, as JSON. */
  readonly schema: object;
  /** The rule may also see `oldSelf` when there is none. */
  readonly optionalOldSelf: boolean;
  readonly stored: boolean;
}

/** Selectors of devices: they see `device`, with its driver, attributes and capacity. */
export interface DeviceEnvironment {
  readonly use: 'device-selector';
  /** `device.allowMultipleAllocations` is declared. */
  readonly consumableCapacity: boolean;
  readonly stored: boolean;
}

/** The checker's verdict as errors at a path; none without a checker. */
export function checkExpression(
  checker: ExpressionChecker | undefined,
  expression: string,
  environment: ExpressionEnvironment,
  path: FieldPath,
): FieldErrors {
  const why = checker?.check(expression, environment);
  return why === undefined ? [] : [invalid(path, expression, why)];
}
