// What a node of an expression is planned as, and what plans it.
import type { Attribute } from './attribute.js';
import type { Evaluate } from './frame.js';
import type { Locals } from './locals.js';
import type { Expr } from '../syntax/expression.js';
import type { Value } from '../value.js';

/** A planned node: how to evaluate it, and what else is known of it. */
export interface Step {
  readonly evaluate: Evaluate;
  /** Set when the value is known already. */
  readonly constant?: { readonly value: Value };
  /** Set when further qualifiers may be added. */
  readonly attribute?: Attribute;
}

export interface Planner {
  readonly locals: Locals;
  step(e: Expr): Step;
}
